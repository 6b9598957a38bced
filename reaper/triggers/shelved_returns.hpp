// Brings back the servers that the reaper shelved, when there is room that no request waits for.
//
// The journal knows which they are, and Nova's record of actions that no later call shelved them:
// operators may work as the same user. One that its owner shelved stays, and one that an owner
// brings back is theirs. Of those that wait, each project has its turn; in a project, those go
// first that were shelved first. One that found no host is tried again later, at most once an hour
// in the end; so are those of its project and shape, unless there is room on another host. One that
// was evicted several times within a day waits longer each time, so that it does not go and come
// with the load of a host.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/notice_settings.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {

/// Between what the journal has of a shelving and what Nova and Glance have of it, by their clocks.
constexpr Duration same_shelving = std::chrono::minutes{10};

/// When `user` shelved the server, by its record of actions (the newest first); none if another
/// user did, or none is recorded.
std::optional<TimePoint> shelved_by(const std::string& user,
                                    const std::vector<ActionRecord>& actions);

class ShelvedReturns {
public:
    /// Between two looks.
    static constexpr Duration step{30'000};

    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        std::function<int()> per_hour;  ///< 0: none comes back
        /// This reaper serves, is not paused, knows the cloud, and no request is under way.
        std::function<bool()> may_act;
        std::function<SchedulerRules()> scheduler;
        /// The hosts with room for the request, without a deletion; none if it is not enough for
        /// all of its slots.
        std::function<std::set<HostId>(const Request&)> hosts_for;
    };
    explicit ShelvedReturns(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look. An error: which servers are shelved is not known.
    ResultTask<void> look();
    /// Was Nova asked to unshelve it, which is still shelved?
    bool asked_for(const ServerId& server) const;

private:
    struct Shelving {
        TimePoint at{};
        TimePoint rests_until{};
        friend bool operator==(const Shelving&, const Shelving&) = default;
    };
    /// Of a project's servers that fail or fit alike.
    struct Shape {
        std::set<HostId> hosts;  ///< with room when Nova was asked for one
        Duration pause{};        ///< after the last that found no host; steady
        Duration retry_at{};     ///< steady
    };
    struct Shelved {
        std::optional<Shelving> last;  ///< none: no reaper shelved it
        Duration pause{};              ///< after the last try; steady
        Duration retry_at{};           ///< steady; of one that no reaper shelved: asked again
        std::string shape{};           ///< once Nova was asked for it
        bool asked = false;            ///< ... and it is not known if it comes back
    };
    /// None: it was another who shelved it last.
    ResultTask<std::optional<Shelving>> shelved_by_us(ServerId server);
    ResultTask<bool> was_sent(ServerId server, TimePoint at);
    ResultTask<void> learn(const std::vector<ServerRecord>& listed);
    void learn_shapes(const std::vector<ServerRecord>& listed);
    /// May Nova be asked for it, as the room is on these hosts?
    bool may_try(const std::string& shape, const std::set<HostId>& hosts) const;
    std::vector<const ServerRecord*> in_order(const std::vector<ServerRecord>& listed) const;
    /// These two: whether Nova was asked to.
    ResultTask<bool> bring_back(ServerRecord record, int begun);
    ResultTask<bool> unshelve(ServerRecord record, TimePoint shelved_at);

    Dependencies dependencies_;
    std::map<ServerId, Shelved> known_;
    std::map<std::string, Shape> shapes_;
    double may_return_ = 1;  ///< servers, by `per_hour`
    Duration counted_at_{};  ///< steady
};

}  // namespace reaper
