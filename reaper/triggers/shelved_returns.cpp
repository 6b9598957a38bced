#include "reaper/triggers/shelved_returns.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/safeguards/short_lives.hpp"

namespace reaper {
namespace {

constexpr Duration first_pause = std::chrono::minutes{2};
constexpr Duration longest_pause = std::chrono::hours{1};
/// Evictions of a server within this time let it rest, of so many at most.
constexpr Duration rest_counts = std::chrono::hours{24};
constexpr int evictions_at_most = 10;
/// Records of actions that are read in one look, and servers whose room is looked for.
constexpr int asked_at_once = 100;
constexpr int tried_at_once = 20;

/// A reaper stopped before it was offloaded: it holds its room.
bool on_its_host(const ServerRecord& record) {
    return record.server.status == "SHELVED";
}

bool waits(const ServerRecord& record) {
    return record.server.task_state.empty() && (record.server.host.empty() || on_its_host(record));
}

FailureNotice return_of(const Server& server, TimePoint now) {
    FailureNotice notice;
    notice.event = FailureEvent::unshelve_server;
    notice.request_id = RequestId{"return/" + server.id.str()};
    notice.server = notice.spec_server = server.id;
    notice.project = server.project;
    notice.sent_at = now;
    return notice;
}

/// After its first eviction it need not wait.
Duration rest_after(int evictions) {
    if (evictions < 2) return {};
    return std::min(first_pause * (1 << (evictions - 1)), longest_pause);
}

}  // namespace

std::optional<TimePoint> shelved_by(const std::string& user,
                                    const std::vector<ActionRecord>& actions) {
    const auto shelved = std::ranges::find(actions, "shelve", &ActionRecord::name);
    const bool ours = shelved != actions.end() && shelved->user == user && !user.empty();
    return ours ? std::optional{shelved->started} : std::nullopt;
}

ResultTask<void> ShelvedReturns::look() {
    const int per_hour = dependencies_.per_hour();
    const Duration steady = dependencies_.cloud.clock.steady();
    const std::chrono::duration<double, std::ratio<3600>> hours =
        steady - std::exchange(counted_at_, steady);
    may_return_ = std::min(may_return_ + hours.count() * per_hour, std::max(per_hour / 60.0, 1.0));
    if (per_hour <= 0 || may_return_ < 1 || !dependencies_.may_act()) co_return Result<void>{};
    std::set<std::string> shelved{"SHELVED", "SHELVED_OFFLOADED"};
    auto listed = co_await dependencies_.cloud.compute.servers_in(std::move(shelved), std::nullopt);
    if (!listed) co_return listed.error();
    learn_shapes(*listed);
    auto learned = co_await learn(*listed);
    if (!learned) co_return learned.error();
    int begun = 0;
    int tried = 0;
    for (const ServerRecord* const next : in_order(*listed)) {
        if (may_return_ < 1 || ++tried > tried_at_once || !dependencies_.may_act()) break;
        ServerRecord record = *next;
        auto asked = co_await bring_back(std::move(record), begun);
        if (!asked) co_return asked.error();
        if (!*asked) continue;
        ++begun;
        may_return_ -= 1;
    }
    co_return Result<void>{};
}

/// Those that left the list came back; those that wait again found no host.
void ShelvedReturns::learn_shapes(const std::vector<ServerRecord>& listed) {
    std::map<ServerId, const ServerRecord*> there;
    for (const ServerRecord& record : listed) there.emplace(record.server.id, &record);
    std::set<std::string> failed, tried;
    for (auto known = known_.begin(); known != known_.end();) {
        const auto at = there.find(known->first);
        Shelved& server = known->second;
        if (at == there.end()) {
            if (server.asked) shapes_.erase(server.shape);
            known = known_.erase(known);
            continue;
        }
        tried.insert(server.shape);
        if (server.asked && waits(*at->second)) {
            server.asked = false;
            failed.insert(server.shape);
        }
        ++known;
    }
    std::erase_if(shapes_, [&](const auto& shape) { return !tried.contains(shape.first); });
    for (const std::string& each : failed) {
        Shape& shape = shapes_[each];
        shape.pause = std::clamp(2 * shape.pause, first_pause, longest_pause);
        shape.retry_at = dependencies_.cloud.clock.steady() + shape.pause;
    }
}

bool ShelvedReturns::may_try(const std::string& shape, const std::set<HostId>& hosts) const {
    const auto known = shapes_.find(shape);
    return known == shapes_.end() || known->second.retry_at <= dependencies_.cloud.clock.steady() ||
           !std::ranges::includes(known->second.hosts, hosts);
}

/// Which of them a reaper shelved.
ResultTask<void> ShelvedReturns::learn(const std::vector<ServerRecord>& listed) {
    const Duration now = dependencies_.cloud.clock.steady();
    int asked = 0;
    for (const ServerRecord& record : listed) {
        const auto known = known_.find(record.server.id);
        // Where another shelved it, a reaper may have done so since.
        if (known != known_.end() && (known->second.last || known->second.retry_at > now)) continue;
        if (!waits(record)) continue;
        if (++asked > asked_at_once || !dependencies_.may_act()) break;
        ServerId server = record.server.id;
        const auto last = co_await shelved_by_us(std::move(server));
        if (last)
            known_[record.server.id] = {*last, {}, *last ? Duration{} : now + longest_pause};
        else  // one must not hide the others
            spdlog::warn("{}; it is looked at again", last.error().what);
    }
    co_return Result<void>{};
}

ResultTask<std::optional<ShelvedReturns::Shelving>> ShelvedReturns::shelved_by_us(ServerId server) {
    const std::optional<Shelving> none;
    JournalQuery query;
    query.server = server.str();
    query.limit = evictions_at_most;
    auto victims = co_await dependencies_.journal.find_victims(std::move(query));
    if (!victims) co_return victims.error();
    std::erase_if(*victims, [&](const VictimEntry& each) { return each.server != server; });
    if (victims->empty()) {
        const auto chosen = co_await dependencies_.journal.chosen(server.str(), 1);
        if (!chosen) co_return chosen.error();
        if (chosen->empty()) co_return none;
    }
    const auto user = co_await dependencies_.cloud.identity.own_user();
    if (!user) co_return user.error();
    const auto actions = co_await dependencies_.cloud.compute.actions(server);
    if (!actions) co_return actions.error();
    const auto at = shelved_by(*user, *actions);
    if (!at) co_return none;
    bool ours = false;
    int lately = 0;
    for (const VictimEntry& each : *victims) {
        const Duration before = *at - each.at;
        ours = ours || std::chrono::abs(before) <= same_shelving;
        if (before <= rest_counts) ++lately;
    }
    if (!ours) {
        const auto late = co_await was_sent(std::move(server), *at);
        if (!late) co_return late.error();
        if (!*late) co_return none;
    }
    co_return Shelving{*at, *at + rest_after(lately)};
}

/// Nova may hear a call after it was given up, and its victim skipped.
ResultTask<bool> ShelvedReturns::was_sent(ServerId server, TimePoint at) {
    const auto chosen = co_await dependencies_.journal.chosen(server.str(), evictions_at_most);
    if (!chosen) co_return chosen.error();
    for (const ChosenServer& each : *chosen) {
        const auto record = co_await dependencies_.journal.record(each.request);
        if (!record) co_return record.error();
        if (!*record) continue;
        for (const StepEntry& sent : (*record)->steps)
            if (sent.server == server && sent.step == Step::shelve_sent &&
                std::chrono::abs(at - sent.at) <= same_shelving)
                co_return true;
    }
    co_return false;
}

bool ShelvedReturns::asked_for(const ServerId& server) const {
    const auto known = known_.find(server);
    return known != known_.end() && known->second.pause > Duration::zero();
}

/// Those that may be tried now: of each project the first, then of each the second, and so on.
std::vector<const ServerRecord*> ShelvedReturns::in_order(
    const std::vector<ServerRecord>& listed) const {
    using Place = std::tuple<int, TimePoint, ServerId>;
    std::map<ProjectId, std::map<std::pair<TimePoint, ServerId>, const ServerRecord*>> by_project;
    const Duration now = dependencies_.cloud.clock.steady();
    for (const ServerRecord& record : listed) {
        const auto known = known_.find(record.server.id);
        if (known == known_.end() || !known->second.last || known->second.retry_at > now) continue;
        const Shelving& last = *known->second.last;
        if (waits(record) && last.rests_until <= dependencies_.cloud.clock.now())
            by_project[record.server.project][{last.at, record.server.id}] = &record;
    }
    std::map<Place, const ServerRecord*> order;
    for (const auto& [project, servers] : by_project) {
        int turn = 0;
        for (const auto& [place, record] : servers)
            order[{turn++, place.first, place.second}] = record;
    }
    std::vector<const ServerRecord*> all;
    for (const auto& [place, record] : order) all.push_back(record);
    return all;
}

ResultTask<bool> ShelvedReturns::bring_back(ServerRecord record, int begun) {
    FailureNotice notice = return_of(record.server, dependencies_.cloud.clock.now());
    Shelved& known = known_[record.server.id];
    known.retry_at = dependencies_.cloud.clock.steady() + first_pause;
    auto completed = co_await complete_request(dependencies_.cloud, std::move(notice), std::nullopt,
                                               dependencies_.scheduler());
    if (!completed) co_return completed.error();
    auto* const request = std::get_if<Request>(&*completed);
    if (request == nullptr) co_return false;
    // Those of this look may take it.
    request->slots = 1 + begun;
    const std::set<HostId> hosts = dependencies_.hosts_for(*request);
    const bool elsewhere = !on_its_host(record);
    std::string shape = record.server.project.str() + ' ' + request_shape(*request);
    if (elsewhere && (hosts.empty() || !may_try(shape, hosts))) co_return false;
    // It may have come back and have been shelved again while no look listed it.
    const auto last = co_await shelved_by_us(record.server.id);
    if (!last) co_return last.error();
    if (*last != known.last) {
        known_.erase(record.server.id);
        co_return false;
    }
    if (!dependencies_.may_act()) co_return false;
    known.pause = std::clamp(2 * known.pause, first_pause, longest_pause);
    known.retry_at = dependencies_.cloud.clock.steady() + known.pause;
    if (elsewhere) {
        Shape& of_shape = shapes_[shape];
        of_shape.hosts = hosts;
        of_shape.retry_at = dependencies_.cloud.clock.steady() + of_shape.pause;
        known.shape = std::move(shape);
        known.asked = true;
    }
    co_return co_await unshelve(std::move(record), known.last->at);
}

ResultTask<bool> ShelvedReturns::unshelve(ServerRecord record, TimePoint shelved_at) {
    const std::string label =
        record.server.id.str() + " (" + printable(record.server.name, 64) + ")";
    JournalEvent event{"server-unshelved",
                       "Nova is asked to unshelve server " + label + ", shelved at " +
                           iso_time(shelved_at) + ": there is room for it",
                       dependencies_.cloud.clock.now()};
    const LogFields about{.server = record.server.id.str(), .server_name = record.server.name};
    log_about(about, spdlog::level::info, "{}", event.reason);
    auto noted = co_await dependencies_.journal.note_event(std::move(event));
    if (!noted) co_return noted.error();
    const auto asked = co_await dependencies_.cloud.compute.unshelve_server(record.server.id);
    if (!asked)
        log_about(about, spdlog::level::warn, "server {} could not be unshelved: {}", label,
                  asked.error().what);
    co_return asked&&* asked;
}

}  // namespace reaper
