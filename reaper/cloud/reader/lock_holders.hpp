// Which user holds the lock of a server.
//
// An administrator's lock keeps a server from being deleted; its owner's does not. Nova shows of a
// server only that it is locked. Its record of actions names the user and the project of the lock.
// Nova itself calls a lock the owner's if it was set in the server's own project. (Locking a locked
// server changes nothing, and Nova records no action.) Where it does not say, the lock is taken to
// be an administrator's.
//
// The same record says since when a server is being stopped or shelved. Meanwhile Nova keeps each
// deletion waiting for its guest, for as long as the image of its owner says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

enum class LockHolder {
    none,
    owner,
    administrator,
    unknown,  ///< Nova does not say
};

/// Of a locked server of this project. `actions`: what Nova remembers of it, the newest first.
LockHolder lock_holder(const ProjectId& owner, const std::vector<ActionRecord>& actions);

/// The same, asked now. What we may not ask is unknown.
ResultTask<LockHolder> ask_lock_holder(CloudPorts ports, Server server);

/// Why a server stays whose lock has this holder; none if it may go.
std::optional<std::string> why_lock_counts(LockHolder holder);

/// It is being stopped or shelved: Nova deletes it after that.
bool is_being_stopped(const Server& server);

/// Of one that is being stopped: why no plan may rest on its deletion; none if that may end soon,
/// or if its owner did not ask for it: the reaper stops and shelves servers too. `actions`: what
/// Nova remembers of it, the newest first.
std::optional<std::string> why_stop_hangs(const ProjectId& owner,
                                          const std::vector<ActionRecord>& actions, TimePoint now);

/// The same of any server, asked now; none where we may not ask.
ResultTask<std::optional<std::string>> ask_why_stop_hangs(CloudPorts ports, Server server);

/// Only Nova's record of actions says whether it may go.
bool needs_actions(const Server& server);

/// Remembers for a while which locks and stops count, so that no plan rests on their servers. Right
/// before a deletion it is asked again. The ports must outlive it.
class LockHolders {
public:
    explicit LockHolders(CloudPorts ports) : ports_(ports) {}

    /// Asks about these, which need it. Those that stay, each with the reason.
    ResultTask<std::map<ServerId, std::string>> ask(std::vector<Server> servers);
    /// Those that stay, as far as that is known.
    std::map<ServerId, std::string> known() const;
    /// It was asked lately.
    bool knows(const ServerId& server) const;

private:
    struct Known {
        std::optional<std::string> why;  ///< none: it may go
        Duration until{};                ///< steady
    };
    Task<void> ask_one(Server server, std::map<ServerId, std::string>& stay,
                       std::optional<Error>& error);

    CloudPorts ports_;
    std::map<ServerId, Known> known_;
};

}  // namespace reaper
