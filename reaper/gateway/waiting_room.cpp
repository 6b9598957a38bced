#include "reaper/gateway/waiting_room.hpp"

#include <algorithm>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string text_of(const HostId& host, const std::string& name) {
    return "host " + printable(name.empty() ? host.str() : name, 64);
}

std::string text_of(const ProjectId& project, const std::string& name) {
    return "project " + project_text(project, name);
}

std::string late_text(int late, const std::string& whose) {
    return counted(late, "request") + " in a row " + whose + " had no outcome in time";
}

std::string late_text(const HostId& host, int late, const std::string& name) {
    return late_text(late, "onto " + text_of(host, name));
}

std::string late_text(const ProjectId& project, int late, const std::string& name) {
    return late_text(late, "of " + text_of(project, name));
}

std::string all_late_text() {
    return late_text(WaitingRoom::most_late, "of different projects and hosts");
}

bool related(const WaitingCall& a, const WaitingCall& b) {
    return (!a.project.empty() && a.project == b.project) ||
           std::any_of(a.hosts.begin(), a.hosts.end(),
                       [&](const auto& host) { return b.hosts.contains(host.first); });
}

template <class Key>
void add(std::map<Key, int>& held, const Key& key, int places) {
    int& count = held[key];
    count += places;
    if (count == 0) held.erase(key);
}

template <class Key>
int held_by(const std::map<Key, int>& held, const Key& key) {
    const auto at = held.find(key);
    return at == held.end() ? 0 : at->second;
}

}  // namespace

// ---- places ----

WaitingRoom::Place::Place(WaitingRoom& room, WaitingCall call)
    : room_(room), call_(std::move(call)) {
    room_.take(call_, 1);
}

WaitingRoom::Place::~Place() {
    room_.take(call_, -1);
}

void WaitingRoom::Place::waits_for(std::map<HostId, std::string> hosts) {
    room_.take(call_, -1);
    call_.hosts = std::move(hosts);
    room_.take(call_, 1);
}

void WaitingRoom::take(const WaitingCall& call, int places) {
    held_ += places;
    if (!call.project.empty()) add(held_of_, call.project, places);
    for (const auto& [host, name] : call.hosts) add(held_on_, host, places);
}

std::optional<std::string> WaitingRoom::why_full(const WaitingCall& call, int most) const {
    const int free = most - held_;
    if (free <= 0) return std::to_string(held_) + " calls wait already (gateway.max_held)";
    const auto share = [&](int held, const std::string& whose) {
        return std::to_string(held) + " of the " + std::to_string(held_) +
               " calls that wait already are " + whose + ", and " + counted(free, "place") +
               " left for others (gateway.max_held)";
    };
    const int own = held_by(held_of_, call.project);
    if (own >= free) return share(own, "of " + text_of(call.project, call.project_name));
    for (const auto& [host, name] : call.hosts)
        if (const int there = held_by(held_on_, host); there >= free)
            return share(there, "onto " + text_of(host, name));
    return std::nullopt;
}

// ---- late calls ----

std::optional<std::string> WaitingRoom::why_all_paused(Duration now) const {
    if (now >= all_paused_until_) return std::nullopt;
    return all_late_text();
}

std::optional<std::string> WaitingRoom::why_paused(const WaitingCall& call, Duration now) const {
    if (auto all = why_all_paused(now)) return all;
    for (const auto& [host, name] : call.hosts)
        if (const auto at = hosts_.find(host); at != hosts_.end() && at->second.paused(now))
            return late_text(host, at->second.late, name);
    const auto at = projects_.find(call.project);
    if (at == projects_.end() || !at->second.paused(now)) return std::nullopt;
    return late_text(call.project, at->second.late, call.project_name);
}

std::map<HostId, std::string> WaitingRoom::paused_hosts(Duration now) const {
    std::map<HostId, std::string> paused;
    for (const auto& [host, run] : hosts_)
        if (run.paused(now)) paused.emplace(host, late_text(host, run.late, run.name));
    return paused;
}

std::vector<std::string> WaitingRoom::pauses(Duration now) const {
    std::vector<std::string> all;
    if (auto whole = why_all_paused(now)) all.push_back(std::move(*whole));
    const auto add_paused = [&](const auto& runs) {
        for (const auto& [key, run] : runs)
            if (run.paused(now)) all.push_back(late_text(key, run.late, run.name));
    };
    add_paused(hosts_);
    add_paused(projects_);
    return all;
}

/// True: it is paused from now on.
bool WaitingRoom::count(Run& run, Duration now) {
    ++run.late;
    run.last = now;
    if (run.late < most_late) return false;
    run.paused_until = now + pause_for;
    return true;
}

std::optional<std::string> WaitingRoom::late(const WaitingCall& call, Duration now) {
    forget_old(now);
    std::optional<std::string> began;
    if (!blames_host(call, now, began) && !blames_project(call, now, began))
        note_unrelated(call, now, began);
    return began;
}

bool WaitingRoom::blames_host(const WaitingCall& call, Duration now,
                              std::optional<std::string>& began) {
    bool blames = false;
    for (const auto& [host, name] : call.hosts) {
        Run& run = hosts_[host];
        const bool before = run.paused(now);
        run.name = name;
        if (!count(run, now)) continue;
        blames = true;
        clear_of(host);
        if (!before) began = late_text(host, run.late, name);
    }
    return blames;
}

bool WaitingRoom::blames_project(const WaitingCall& call, Duration now,
                                 std::optional<std::string>& began) {
    if (call.project.empty()) return false;
    Run& run = projects_[call.project];
    const bool before = run.paused(now);
    run.name = call.project_name;
    for (const auto& [host, name] : call.hosts) run.hosts.insert(host);
    if (!count(run, now)) return false;
    std::erase_if(unrelated_, [&](const auto& each) { return each.first.project == call.project; });
    if (!before) began = late_text(call.project, run.late, call.project_name);
    return true;
}

void WaitingRoom::note_unrelated(const WaitingCall& call, Duration now,
                                 std::optional<std::string>& began) {
    if (std::any_of(unrelated_.begin(), unrelated_.end(),
                    [&](const auto& each) { return related(each.first, call); }))
        return;
    unrelated_.emplace_back(call, now);
    if (unrelated_.size() < most_late) return;
    unrelated_.clear();
    all_paused_until_ = now + pause_for;
    began = all_late_text();
}

/// It is the host's fault: that speaks neither against who waited for it, nor against all.
void WaitingRoom::clear_of(const HostId& host) {
    std::erase_if(projects_, [&](const auto& each) { return each.second.hosts.contains(host); });
    std::erase_if(unrelated_, [&](const auto& each) { return each.first.hosts.contains(host); });
}

void WaitingRoom::served(const WaitingCall& call) {
    projects_.erase(call.project);
    for (const auto& [host, name] : call.hosts) hosts_.erase(host);
    unrelated_.clear();
    all_paused_until_ = {};
}

void WaitingRoom::forget_old(Duration now) {
    const auto old = [&](Duration last) { return now - last > remembered_for; };
    std::erase_if(projects_, [&](const auto& each) { return old(each.second.last); });
    std::erase_if(hosts_, [&](const auto& each) { return old(each.second.last); });
    std::erase_if(unrelated_, [&](const auto& each) { return old(each.second); });
}

}  // namespace reaper
