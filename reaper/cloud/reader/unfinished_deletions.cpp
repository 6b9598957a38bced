#include "reaper/cloud/reader/unfinished_deletions.hpp"

#include <algorithm>
#include <utility>

#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr std::size_t asked_at_a_time = 16;
/// Our clock and Nova's, at most.
constexpr Duration clocks_differ = std::chrono::minutes{10};

/// What may be done to a server that is deleted, and leaves it deleted.
bool leaves_it_deleted(const std::string& action) {
    return action == "lock" || action == "unlock";
}

}  // namespace

std::optional<bool> deleted_by(const std::string& user, const std::vector<ActionRecord>& actions) {
    std::optional<bool> found;
    for (const auto& action : actions) {
        if (action.failed || leaves_it_deleted(action.name)) continue;
        if (action.name != "delete") break;
        found = action.user == user && !user.empty();
    }
    return found;
}

ResultTask<std::optional<bool>> deleted_by_a_reaper(CloudPorts ports, ServerId server) {
    auto user = co_await ports.identity.own_user();
    if (!user) co_return user.error();
    auto actions = co_await ports.compute.actions(std::move(server));
    if (actions) co_return deleted_by(*user, *actions);
    if (actions.error().code == Errc::forbidden) co_return std::optional<bool>{};
    co_return actions.error();
}

bool restored_since_deleted_by(const std::string& user, const std::vector<ActionRecord>& actions) {
    bool restored = false;
    for (const auto& action : actions) {
        restored = restored || (action.name == "restore" && !action.failed);
        if (action.name == "delete" && action.user == user && !user.empty()) return restored;
    }
    return false;
}

ResultTask<bool> restored_since_a_reaper_deleted_it(CloudPorts ports, ServerId server) {
    auto user = co_await ports.identity.own_user();
    if (!user) co_return user.error();
    auto actions = co_await ports.compute.actions(std::move(server));
    if (!actions) co_return actions.error();
    co_return restored_since_deleted_by(*user, *actions);
}

ResultTask<std::vector<ServerRecord>> UnfinishedDeletions::list(bool from_scratch) {
    const TimePoint begun = ports_.clock.now();
    const std::uint64_t clock_steps = clock_steps_;
    std::optional<TimePoint> since;
    if (!from_scratch && listed_at_) since = *listed_at_ - clocks_differ;
    auto listed = co_await ports_.compute.soft_deleted(since);
    if (!listed) {
        const Errc code = listed.error().code;
        if (code != Errc::forbidden && code != Errc::rejected) co_return listed;
        warn(listed.error());
        co_return std::vector<ServerRecord>{};
    }
    if (std::exchange(warned_, false)) spdlog::info("Nova shows us soft-deleted servers again");
    if (!since) listed_.clear();
    std::set<ServerId> now;
    for (auto& record : *listed) {
        now.insert(record.server.id);
        listed_.insert_or_assign(record.server.id, std::move(record));
    }
    co_await look_at_ours(std::move(now));
    listed_at_ = begun;
    if (clock_steps != clock_steps_) listed_at_.reset();
    std::vector<ServerRecord> all;
    for (const auto& [id, record] : listed_) all.push_back(record);
    co_return all;
}

/// One that was restored is on no list of changes.
Task<void> UnfinishedDeletions::look_at_ours(std::set<ServerId> but) {
    std::vector<ServerId> ours;
    for (const auto& [id, record] : listed_)
        if (known_as_ours(id) && !but.contains(id)) ours.push_back(id);
    std::vector<Task<void>> looks;
    for (const ServerId& each : ours) looks.push_back(look_at(each));
    co_await run_all(std::move(looks), asked_at_a_time);
}

/// What can't be read, as in a cell that is down, stays as it was known: no server is forced
/// before it is looked at once more.
Task<void> UnfinishedDeletions::look_at(ServerId server) {
    auto record = co_await ports_.compute.server(server);
    if (!record) {
        spdlog::debug("{}", record.error().what);
    } else if (*record && (*record)->server.status == "UNKNOWN") {
        co_return;
    } else if (*record && (*record)->server.soft_deleted()) {
        listed_.insert_or_assign(server, std::move(**record));
    } else {
        listed_.erase(server);
        by_a_reaper_.erase(server);
    }
}

void UnfinishedDeletions::warn(const Error& refusal) {
    if (!std::exchange(warned_, true))
        spdlog::warn(
            "Nova does not show us soft-deleted servers: what another reaper left so is "
            "not finished: {}",
            refusal.what);
}

ResultTask<void> UnfinishedDeletions::learn(std::vector<ServerId> soft_deleted) {
    const std::set<ServerId> listed(soft_deleted.begin(), soft_deleted.end());
    std::erase_if(by_a_reaper_, [&](const auto& known) { return !listed.contains(known.first); });
    std::erase_if(soft_deleted, [&](const ServerId& id) { return knows(id); });
    if (soft_deleted.empty()) co_return Result<void>{};
    auto user = co_await ports_.identity.own_user();
    if (!user) co_return user.error();
    std::optional<Error> error;
    for (std::size_t from = 0; from < soft_deleted.size() && !error; from += asked_at_a_time) {
        std::vector<Task<void>> questions;
        const std::size_t to = std::min(soft_deleted.size(), from + asked_at_a_time);
        for (std::size_t i = from; i < to; ++i)
            questions.push_back(ask(soft_deleted[i], *user, error));
        co_await run_all(std::move(questions));
    }
    if (error) co_return *error;
    co_return Result<void>{};
}

/// What may not be asked stays unknown, and is asked again.
Task<void> UnfinishedDeletions::ask(ServerId server, const std::string& user,
                                    std::optional<Error>& error) {
    auto actions = co_await ports_.compute.actions(server);
    if (actions) {
        // Nova notes the action shortly after it shows the server as being deleted.
        if (const auto ours = deleted_by(user, *actions)) by_a_reaper_[server] = *ours;
    } else if (actions.error().code != Errc::forbidden && !error) {
        error = actions.error();
    }
}

bool UnfinishedDeletions::known_as_ours(const ServerId& server) const {
    const auto known = by_a_reaper_.find(server);
    return known != by_a_reaper_.end() && known->second;
}

}  // namespace reaper
