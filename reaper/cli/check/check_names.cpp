// Checks of what the configuration names, and of what the user may see.
#include <algorithm>
#include <map>

#include "reaper/cli/check/cloud_check.hpp"
#include "reaper/cloud_reader/cloud_directory.hpp"
#include "reaper/cloud_reader/lock_holders.hpp"
#include "reaper/cloud_reader/sight.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

/// Of so many, at most, Nova is asked who locked them.
constexpr std::size_t locks_asked = 200;

/// How many servers carry each word of one kind: a tag, or a key of the metadata.
using Carriers = std::map<std::string, std::size_t>;

void tell_mark(const CloudCheck& check, const std::string& key, const std::string& word,
               const Carriers& carriers) {
    const std::string what = key + " " + in_quotes(word);
    const auto exact = carriers.find(word);
    const std::size_t count = exact == carriers.end() ? 0 : exact->second;
    for (const auto& [other, number] : carriers)
        if (other != word && to_lower(other) == to_lower(word))
            check.warn(what, "does not protect the " + reaper::counted(number, "server") +
                                 " with " + in_quotes(other) + ": names are case-sensitive");
    check.ok(what, reaper::counted(count, "server") + (count == 1 ? " carries it" : " carry it"));
}

}  // namespace

Task<void> check_names(const CloudCheck& check) {
    auto names = names_in(check.policy);
    auto directory = co_await read_directory(check.cloud, std::move(names));
    if (!directory) {
        check.fail("protect.projects",
                   "could not be looked up: " + directory.error().what +
                       "; no server is deleted until it is known who is protected");
        co_return;
    }
    for (auto& finding : resolve(check.policy, *directory).findings) {
        if (finding.level == NameFinding::Level::found)
            check.ok(finding.what, finding.detail);
        else if (finding.level == NameFinding::Level::doubtful)
            check.warn(finding.what, finding.detail);
        else
            check.fail(finding.what, finding.detail);
    }
}

Task<void> check_sight(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    std::vector<ListedServer> listed;
    for (const ServerRecord& record : servers)
        listed.push_back({record.server.id, record.server.project});
    const std::string what = "servers of other projects";
    ProjectId ours = check.ours;
    auto sight = co_await try_sight(check.cloud.compute, std::move(listed), std::move(ours));
    if (!sight)
        check.fail(what, sight.error().what);
    else if (sight->kind == Sight::Kind::blocked)
        check.fail(what, sight->detail + "; no server is deleted while it is so");
    else if (sight->kind == Sight::Kind::untold)
        check.warn(what, sight->detail + " whether they are seen one by one, as the list has them");
    else
        check.ok(what, "seen one by one, as the list has them (" + printable(sight->detail) + ")",
                 ServiceRule{"nova", "context_is_admin"});
}

namespace {

/// Who locked what: an administrator's lock keeps a server, its owner's does not.
Task<void> check_locks(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    std::vector<Server> locked;
    for (const ServerRecord& record : servers)
        if (record.server.locked && locked.size() < locks_asked) locked.push_back(record.server);
    if (locked.empty()) co_return;
    std::size_t untold = 0;
    std::size_t administrators = 0;
    for (const Server& server : locked) {
        Server asked = server;
        const auto holder = co_await ask_lock_holder(check.cloud, std::move(asked));
        untold += !holder || *holder == LockHolder::unknown;
        administrators += holder && *holder == LockHolder::administrator;
    }
    const std::string detail = counted(locked.size(), "server", "servers") + ", " +
                               std::to_string(administrators) + " by an administrator";
    if (untold == 0) {
        check.ok("locked servers", detail);
        co_return;
    }
    check.warn("locked servers", detail + "; of " + std::to_string(untold) +
                                     " Nova does not tell who locked them (its record of actions): "
                                     "they are taken to be administrators' locks, and stay");
}

}  // namespace

Task<void> check_protected(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    const ProtectSettings& protect = check.policy.safeguards.protect;
    if (!protect.owners) co_return co_await check_locks(check, servers);
    check.warn("protect.owners",
               "true: whoever owns a revocable server can refuse its eviction, by a lock, a tag or "
               "metadata");
    Carriers tags;
    Carriers keys;
    for (const ServerRecord& record : servers) {
        for (const auto& tag : record.server.tags.get()) ++tags[tag];
        for (const auto& [key, value] : record.server.metadata.get()) ++keys[key];
    }
    for (const auto& tag : protect.tags) tell_mark(check, "protect.tags", tag, tags);
    for (const auto& key : protect.metadata) tell_mark(check, "protect.metadata", key, keys);
}

}  // namespace reaper::cli
