#include "reaper/cloud/reader/lock_holders.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/shelving.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {
namespace {

constexpr std::size_t locks_asked_at_a_time = 16;
/// An administrator may unlock it, and its owner lock it again, without our seeing it unlocked.
constexpr Duration remembered_for = std::chrono::minutes{10};
/// By default, Nova gives a guest a minute.
constexpr Duration stop_takes = std::chrono::seconds{90};

}  // namespace

LockHolder lock_holder(const ProjectId& owner, const std::vector<ActionRecord>& actions) {
    const auto last = std::ranges::find_if(actions, [](const ActionRecord& action) {
        return !action.failed && (action.name == "lock" || action.name == "unlock");
    });
    if (last == actions.end() || last->name != "lock") return LockHolder::unknown;
    return last->project == owner ? LockHolder::owner : LockHolder::administrator;
}

ResultTask<LockHolder> ask_lock_holder(CloudPorts ports, Server server) {
    if (!server.locked) co_return LockHolder::none;
    ServerId id = server.id;
    auto actions = co_await ports.compute.actions(std::move(id));
    if (actions) co_return lock_holder(server.project, *actions);
    if (actions.error().code == Errc::forbidden) co_return LockHolder::unknown;
    co_return actions.error();
}

std::optional<std::string> why_lock_counts(LockHolder holder) {
    if (holder == LockHolder::administrator) return "it is locked by an administrator";
    if (holder == LockHolder::unknown)
        return "it is locked, and Nova does not show by whom: it may be an administrator's lock";
    return std::nullopt;
}

bool is_being_stopped(const Server& server) {
    return server.task_state == "powering-off" ||
           (!server.task_state.empty() && is_being_shelved(server));
}

bool needs_actions(const Server& server) {
    return server.locked || is_being_stopped(server);
}

std::optional<std::string> why_stop_hangs(const ProjectId& owner,
                                          const std::vector<ActionRecord>& actions, TimePoint now) {
    const auto last = std::ranges::find_if(actions, [](const ActionRecord& action) {
        return action.name == "stop" || action.name == "shelve" || action.name == "shelveOffload";
    });
    if (last == actions.end() || last->project != owner || now - last->started <= stop_takes)
        return std::nullopt;
    return std::string{last->name == "stop" ? "its stop" : "its shelving"} + " has not ended for " +
           format_duration(now - last->started) + ", and Nova deletes it after that";
}

ResultTask<std::optional<std::string>> ask_why_stop_hangs(CloudPorts ports, Server server) {
    std::optional<std::string> none;
    if (!is_being_stopped(server)) co_return none;
    auto actions = co_await ports.compute.actions(std::move(server.id));
    if (actions) co_return why_stop_hangs(server.project, *actions, ports.clock.now());
    if (actions.error().code == Errc::forbidden) co_return none;
    co_return actions.error();
}

ResultTask<std::map<ServerId, std::string>> LockHolders::ask(std::vector<Server> servers) {
    std::map<ServerId, std::string> stay;
    std::erase_if(known_,
                  [this](const auto& each) { return each.second.until <= ports_.clock.steady(); });
    std::optional<Error> error;
    for (std::size_t from = 0; from < servers.size() && !error; from += locks_asked_at_a_time) {
        std::vector<Task<void>> questions;
        const std::size_t to = std::min(servers.size(), from + locks_asked_at_a_time);
        for (std::size_t i = from; i < to; ++i)
            questions.push_back(ask_one(std::move(servers[i]), stay, error));
        co_await run_all(std::move(questions));
    }
    if (error) co_return *error;
    co_return stay;
}

Task<void> LockHolders::ask_one(Server server, std::map<ServerId, std::string>& stay,
                                std::optional<Error>& error) {
    const ServerId id = server.id;
    Server stopped = server;
    const auto holder = co_await ask_lock_holder(ports_, std::move(server));
    const auto hangs = co_await ask_why_stop_hangs(ports_, std::move(stopped));
    if (!holder || !hangs) {
        if (!error) error = !holder ? holder.error() : hangs.error();
        co_return;
    }
    auto why = why_lock_counts(*holder);
    if (!why) why = *hangs;
    known_.insert_or_assign(id, Known{why, ports_.clock.steady() + remembered_for});
    if (why) stay.insert_or_assign(id, *why);
}

bool LockHolders::knows(const ServerId& server) const {
    const auto at = known_.find(server);
    return at != known_.end() && at->second.until > ports_.clock.steady();
}

std::map<ServerId, std::string> LockHolders::known() const {
    std::map<ServerId, std::string> stay;
    for (const auto& [id, known] : known_)
        if (known.why && known.until > ports_.clock.steady()) stay.emplace(id, *known.why);
    return stay;
}

}  // namespace reaper
