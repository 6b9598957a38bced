// What the admin API shows of the daemon, and asks it for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/api/daemon.hpp"
#include "reaper/api/owners.hpp"
#include "reaper/api/settled_query.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/ports/reapers.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/triggers/operator.hpp"

namespace reaper::api {

struct Health;  // health.hpp
class EventHub;

/// What watches the daemon.
class Monitoring {
public:
    virtual ~Monitoring() = default;
    virtual Health health() const = 0;
    /// The page for Prometheus.
    virtual Task<std::string> metrics() = 0;
};

/// One of those that listen to the same queue.
struct KnownReaper {
    std::string machine;
    std::string journal;  ///< path: which of several on one machine
    bool here = false;
    bool serves = false;
    /// Of those with one journal in a database: what it tells of each.
    std::optional<JournalReaper> told{};
};

/// All of it must outlive the answers. What may be left out is answered with 503.
struct Backend {
    Daemon& daemon;
    JournalReader& journal;
    RecordFeed& feed;
    Monitoring* monitoring = nullptr;
    Compute* compute = nullptr;    ///< knows flavors
    Identity* identity = nullptr;  ///< knows the names of projects
    Clock* clock = nullptr;
    /// Connects to the cloud when a query names what the journal does not know; called where
    /// `compute` and `identity` are null. Empty: there is no cloud.
    std::function<WhoKnows()> connect{};
    /// Another journal, whose victims are listed with those of `journal`; null: there is none.
    JournalReader* also = nullptr;
    /// Reports why that one can't be read; set with it.
    std::function<void(const Error&)> also_unread{};
    Switch* pause = nullptr;
    Switch* breaker = nullptr;
    EventHub* events = nullptr;
    /// This one, and the one that serves if it is another; an error: that is not known.
    std::function<ResultTask<std::vector<KnownReaper>>()> reapers{};
    /// While it stands by: whom to ask instead, which a 503 then says, except to owners. May be
    /// empty.
    std::function<std::optional<std::string>()> standby{};
    std::string program_version{};
    /// Whether usage is being counted: that is done for one at a time. Never null.
    std::shared_ptr<bool> counts_usage = std::make_shared<bool>(false);
    /// Never null.
    std::shared_ptr<OwnersQuestions> owners = std::make_shared<OwnersQuestions>();
    /// Never null.
    std::shared_ptr<RecentlySettled> settled = std::make_shared<RecentlySettled>();
};

}  // namespace reaper::api
