#include "reaper/controllers/safeguards/server_labels.hpp"

#include <utility>

#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

const std::string key = "res-type";

constexpr std::size_t max_in_a_check = 50;
constexpr std::size_t max_served = 10'000;
constexpr int max_failures = 5;
/// From the last failure of so many until it is tried again.
constexpr Duration given_up_for = std::chrono::hours{1};
/// A server that is still being built then will not be.
constexpr Duration served_for = std::chrono::hours{1};

bool settled_down(const Server& server) {
    return !server.host.empty() && server.task_state.empty() &&
           (server.status == "ACTIVE" || server.status == "SHUTOFF");
}

/// By the cache.
bool is_labelled(const Server& server) {
    const auto there = server.metadata.find(key);
    return there != server.metadata.end() &&
           there->second == (server.revocable() ? "revocable" : "regular");
}

}  // namespace

void ServerLabels::served(const ServerId& server) {
    if (served_.size() >= max_served || dependencies_.settings.labels.servers != "served") return;
    served_.try_emplace(server, dependencies_.cloud.clock.steady() + served_for);
}

void ServerLabels::placed(const ServerId& server) {
    if (served_.size() >= max_served || dependencies_.settings.labels.servers == "none") return;
    served_.insert_or_assign(server, dependencies_.cloud.clock.steady() + served_for);
}

ResultTask<void> ServerLabels::restore(JournalReader& journal) {
    const TimePoint since = dependencies_.cloud.clock.now() - served_for;
    const auto records = co_await journal.freed_rooms_since(since);
    if (!records) co_return records.error();
    for (const RequestRecord& record : *records)
        for (const RoomTaker& taker : record.freed_room->takers) served(taker.server);
    co_return Result<void>{};
}

ResultTask<void> ServerLabels::check() {
    auto servers = due();
    if (servers.empty()) co_return Result<void>{};
    // One policy for all of them: what is known of tags answers its questions, not another's.
    const auto policy = dependencies_.settings.policy;
    TaggerInputs tagger_inputs = policy->tagger_inputs();
    auto tag_data = co_await read_tag_data(dependencies_.cloud, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    for (auto& id : servers) {
        if (dependencies_.stopping) break;
        const Labeled labeled = co_await label(id, policy->taggers, *tag_data);
        settle(id, labeled);
    }
    co_return Result<void>{};
}

/// Those that are worth a call now.
std::vector<ServerId> ServerLabels::due() {
    std::vector<ServerId> servers;
    if (dependencies_.settings.labels.servers == "none") return servers;
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(served_, [&](const auto& entry) { return entry.second < now; });
    for (const auto& [id, until] : served_)
        if (servers.size() < max_in_a_check) servers.push_back(id);
    // Of the others, a label that is there has to be right.
    const bool all = dependencies_.settings.labels.servers == "all";
    std::set<ServerId> still_there;
    for (const Host* host : dependencies_.refresher.cache().hosts())
        for (const auto& server : host->servers) {
            const auto given_up = given_up_.find(server.id);
            if (given_up != given_up_.end()) still_there.insert(server.id);
            if (given_up != given_up_.end() && given_up->second > now) continue;
            if (done_.contains(server.id)) {
                still_there.insert(server.id);
            } else if (servers.size() < max_in_a_check && settled_down(server) &&
                       (all || server.metadata.contains(key)) && !is_labelled(server)) {
                servers.push_back(server.id);
            }
        }
    std::erase_if(done_, [&](const ServerId& id) { return !still_there.contains(id); });
    std::erase_if(given_up_, [&](const auto& entry) {
        const bool gone = !still_there.contains(entry.first);
        if (gone) failures_.erase(entry.first);
        return gone;
    });
    return servers;
}

/// As it is now, not as the cache has it.
Task<ServerLabels::Labeled> ServerLabels::label(ServerId id, const Taggers& taggers,
                                                const TagData& tag_data) {
    auto record = co_await dependencies_.cloud.compute.server(id);
    if (!record) {
        log_about({.server = id.str()}, spdlog::level::debug, "server {} can't be labeled now: {}",
                  id.str(), record.error().what);
        co_return Labeled::failed;
    }
    if (!*record) co_return Labeled::done;
    Server server = std::move((*record)->server);
    if (!settled_down(server)) co_return Labeled::later;
    auto allocations = co_await dependencies_.cloud.placement.allocations(id);
    if (!allocations) co_return Labeled::failed;
    server.allocations = std::move(*allocations);
    const bool revocable = why_revocable(server, taggers, tag_data).has_value();
    const std::string type = revocable ? "revocable" : "regular";
    const auto there = server.metadata.find(key);
    if (there == server.metadata.end()) co_return co_await label_as(std::move(id), type);
    if (there->second == type) co_return Labeled::done;
    // What its user wrote said where it might go, or it is of an earlier place.
    log_about({.server = id.str()}, spdlog::level::info,
              "server {} runs as {}; its metadata said {}={}", id.str(), type, key,
              printable(there->second, 64));
    co_return co_await label_as(std::move(id), type);
}

Task<ServerLabels::Labeled> ServerLabels::label_as(ServerId id, std::string type) {
    std::string name = key;
    auto set = co_await dependencies_.cloud.compute.set_metadata(id, std::move(name), type);
    if (!set) {
        const auto failed = failures_.find(id);
        const bool told = failed != failures_.end() && failed->second >= max_failures;
        log_about({.server = id.str()}, told ? spdlog::level::debug : spdlog::level::warn,
                  "server {} could not be labeled {}: {}", id.str(), type, set.error().what);
        co_return Labeled::failed;
    }
    if (*set)
        log_about({.server = id.str()}, spdlog::level::info, "server {} is labeled {}={}", id.str(),
                  key, type);
    co_return Labeled::done;
}

void ServerLabels::settle(const ServerId& id, Labeled labeled) {
    if (labeled == Labeled::later) return;
    if (labeled == Labeled::failed) {
        const int failures = ++failures_[id];
        if (failures < max_failures) return;
        if (failures == max_failures)
            log_about({.server = id.str()}, spdlog::level::warn,
                      "server {} is not labeled: it failed {} times", id.str(), max_failures);
        given_up_[id] = dependencies_.cloud.clock.steady() + given_up_for;
    } else {
        given_up_.erase(id);
        done_.insert(id);
    }
    // Of a server that is tried again, how often it failed is kept.
    if (!given_up_.contains(id)) failures_.erase(id);
    served_.erase(id);
}

void ServerLabels::ask_refused_again() {
    for (auto& each : given_up_) each.second = Duration{};
}

}  // namespace reaper
