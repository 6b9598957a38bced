// What happens in the simulated cloud, told to those who want to know: the notifier (as Nova's
// notifications) and the witness (what was really done).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/cloudsim/core/nova.hpp"

namespace reaper::cloudsim {

/// `instance.*`
struct ServerEvent {
    std::string_view name;  ///< `create.start`, `delete.end`, `update`, ...
    const Server& server;
    const ContextPtr& by;
    std::string publisher;  ///< `nova-compute:host-3`
    VmState old_state;      ///< for `update`
    TaskState old_task;
    const Flavor* new_flavor = nullptr;  ///< for `resize_prep`
    bool deleted = false;                ///< at the end of a deletion
};

/// What the scheduler was asked, for one request of one or several servers.
struct Placing {
    std::vector<Uuid> servers;
    std::shared_ptr<const Flavor> flavor;
    const Image* image = nullptr;
    NameId project = 0;
    NameId user = 0;
    std::string zone;                 ///< empty if none was asked for
    std::string forced;               ///< `az:host`: no filters
    std::string host;                 ///< `host` of 2.74: with filters
    Host* ignored = nullptr;          ///< the old host of a resize
    std::optional<std::string> cell;  ///< that a server is in which moves
    const ServerGroup* group = nullptr;
    std::vector<Uuid> same_host;  ///< hints
    std::vector<Uuid> different_host;

    std::size_t count() const { return servers.size(); }
};

struct ScheduleEvent {
    bool end = false;
    const Placing& placing;
    const ContextPtr& by;
};

/// It looks for hosts, through the door.
struct SearchEvent {
    const Placing& placing;
    const ContextPtr& by;
};

/// No host was found.
struct RefusalEvent {
    std::string_view method;  ///< `build_instances` or `migrate_server`
    Uuid server;              ///< the one that this message is about
    const Placing& placing;
    std::string_view state;  ///< `error`, or `active` for a resize
    bool had_candidates = false;
    const ContextPtr& by;
    bool bare = false;  ///< the request spec has the server's id alone (live migration)
};

struct ServiceEvent {
    const Host& host;
    Time last_seen{};
    const ContextPtr& by;
};

struct AggregateEvent {
    std::string_view name;  ///< `create.end`, `add_host.start`, ...
    const Aggregate& aggregate;
    const ContextPtr& by;
};

/// A change that really happened, whatever was asked.
struct Effect {
    std::string_view what;  ///< `created`, `deleted`, `room freed`, `room taken`, `refused`, ...
    Uuid server;
    std::string host;
    std::string project;  ///< id
};

class Listener {
public:
    virtual ~Listener() = default;
    virtual void on_server(const ServerEvent&) {}
    virtual void on_schedule(const ScheduleEvent&) {}
    virtual void on_refusal(const RefusalEvent&) {}
    virtual void on_search(const SearchEvent&) {}
    virtual void on_service(const ServiceEvent&) {}
    virtual void on_aggregate(const AggregateEvent&) {}
    virtual void on_effect(const Effect&) {}
};

}  // namespace reaper::cloudsim
