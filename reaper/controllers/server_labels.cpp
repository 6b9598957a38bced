#include "reaper/controllers/server_labels.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/planner/eligibility.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {
namespace {

const std::string key = "res-type";

constexpr Duration between_passes{5000};
constexpr std::size_t most_in_a_pass = 50;
constexpr std::size_t most_served = 10'000;
constexpr int most_failures = 5;
/// A server that is still being built then will not be.
constexpr Duration served_for = std::chrono::hours{1};

bool settled_down(const Server& server) {
    return !server.host.empty() && server.task_state.empty() &&
           (server.status == "ACTIVE" || server.status == "SHUTOFF");
}

}  // namespace

void ServerMarks::served(const ServerId& server) {
    if (served_.size() >= most_served || parts_.options.mark.servers != "served") return;
    served_.try_emplace(server, parts_.cloud.clock.steady() + served_for);
}

Task<void> ServerMarks::run() {
    while (!parts_.stopping) {
        co_await pass();
        co_await sleep_unless(parts_.stopping, parts_.cloud.clock, between_passes);
    }
}

Task<void> ServerMarks::pass() {
    auto servers = due();
    if (servers.empty()) co_return;
    // One policy for the pass: what is known of tags answers its questions, not another's.
    const auto policy = parts_.options.policy;
    TagQuestions questions = policy->questions();
    auto facts = co_await read_tag_facts(parts_.cloud, std::move(questions));
    if (!facts) {
        spdlog::debug("servers can't be marked now: {}", facts.error().what);
        co_return;
    }
    for (auto& id : servers) {
        if (parts_.stopping) co_return;
        const Marked marked = co_await mark(id, policy->taggers, *facts);
        settle(id, marked);
    }
}

/// Those that are worth a call now.
std::vector<ServerId> ServerMarks::due() {
    std::vector<ServerId> servers;
    if (parts_.options.mark.servers == "none") return servers;
    const Duration now = parts_.cloud.clock.steady();
    std::erase_if(served_, [&](const auto& entry) { return entry.second < now; });
    for (const auto& [id, until] : served_)
        if (servers.size() < most_in_a_pass) servers.push_back(id);
    if (parts_.options.mark.servers != "all") return servers;
    std::set<ServerId> still_there;
    for (const Host* host : parts_.keeper.picture().hosts())
        for (const auto& server : host->servers) {
            if (done_.contains(server.id)) {
                still_there.insert(server.id);
            } else if (servers.size() < most_in_a_pass && settled_down(server) &&
                       !server.metadata.contains(key)) {
                servers.push_back(server.id);
            }
        }
    std::erase_if(done_, [&](const ServerId& id) { return !still_there.contains(id); });
    return servers;
}

/// As it is now, not as the picture has it.
Task<ServerMarks::Marked> ServerMarks::mark(ServerId id, const Taggers& taggers,
                                            const TagFacts& facts) {
    auto record = co_await parts_.cloud.compute.server(id);
    if (!record) {
        spdlog::debug("server {} can't be marked now: {}", id.str(), record.error().what);
        co_return Marked::failed;
    }
    if (!*record) co_return Marked::done;
    Server server = std::move((*record)->server);
    if (!settled_down(server)) co_return Marked::later;
    auto allocations = co_await parts_.cloud.placement.allocations(id);
    if (!allocations) co_return Marked::failed;
    server.allocations = std::move(*allocations);
    const bool revocable = why_revocable(server, taggers, facts).has_value();
    const std::string type = revocable ? "revocable" : "regular";
    const auto there = server.metadata.find(key);
    if (there == server.metadata.end()) co_return co_await mark_as(std::move(id), type);
    if (there->second != type)
        spdlog::info("server {} runs as {}; its metadata says {}={}, which is its user's and stays",
                     id.str(), type, key, printable(there->second, 64));
    co_return Marked::done;
}

Task<ServerMarks::Marked> ServerMarks::mark_as(ServerId id, std::string type) {
    std::string name = key;
    auto set = co_await parts_.cloud.compute.set_metadata(id, std::move(name), type);
    if (!set) {
        spdlog::warn("server {} could not be marked as {}: {}", id.str(), type, set.error().what);
        co_return Marked::failed;
    }
    if (*set) spdlog::info("server {} is marked {}={}", id.str(), key, type);
    co_return Marked::done;
}

void ServerMarks::settle(const ServerId& id, Marked marked) {
    if (marked == Marked::later) return;
    if (marked == Marked::failed && ++failures_[id] < most_failures) return;
    if (marked == Marked::failed)
        spdlog::warn("server {} is not marked: it failed {} times", id.str(), most_failures);
    failures_.erase(id);
    served_.erase(id);
    if (parts_.options.mark.servers == "all") done_.insert(id);
}

}  // namespace reaper
