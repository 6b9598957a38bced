// What really was, as the cloud itself knows it: the room of each host at each time, which requests
// wait for room, which projects are revocable. The checker's memory; nothing in it is the reaper's
// word.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/schedules/timeline.hpp"
#include "reaper/model/resources.hpp"
#include "tests/cloudsim/api/site.hpp"

namespace reaper::faults {

using cloudsim::Uuid;

/// A request that Nova refused for want of room, or that looks for it through the gateway.
struct Demand {
    std::string id;       ///< req-...
    std::string project;  ///< id
    Resources slot;
    int slots = 0;
    std::set<Uuid> servers;
    TimePoint refused_at{};
    cloudsim::Placing placing;  ///< what the scheduler was asked
    bool asks_class = false;    ///< the one that makes servers revocable
    /// How many of its servers might land on a host, whatever room there is, since when. Of host
    /// "": 1, if its affinity group has a server somewhere.
    using Limits = std::map<std::string, std::vector<std::pair<TimePoint, std::size_t>>>;
    Limits limits;
    /// As far as Nova's API tells: it leaves out of a group who is deleted softly, and the filter
    /// for anti-affinity counts him. It may hide hints.
    Limits told;
    std::set<std::string> never;  ///< hosts that no change of servers makes a place
    bool hints_hidden = false;    ///< Nova's API does not show them
    bool unshelves = false;       ///< Nova sends no message of it, its record of actions tells
    bool refused = false;         ///< else nova-scheduler looks for hosts, or found them
    /// Since when it no longer waits: all of its servers are gone, or run.
    std::optional<TimePoint> over_since;

    /// A later one of the same project and shape, or of the very servers.
    /// Does where it may land change with other servers?
    bool joins() const {
        return placing.group != nullptr || !placing.same_host.empty() ||
               !placing.different_host.empty();
    }
    /// Before the refusal, as at the refusal.
    std::size_t limit_at(const std::string& host, TimePoint at) const;
    std::size_t told_at(const std::string& host, TimePoint at) const;
    /// The most that it was at any time of [from, to].
    static std::size_t limit_in(const Limits& limits, const std::string& host, TimePoint from,
                                TimePoint to);

    bool room_may_go_to(const Demand& later) const {
        return (later.project == project && later.slot == slot) ||
               std::includes(later.servers.begin(), later.servers.end(), servers.begin(),
                             servers.end());
    }
};

/// Who holds what on a host.
struct Holder {
    Uuid consumer;
    Resources held;
    std::string project;
    std::optional<TimePoint> leaving_since;  ///< Nova is deleting it, for any reason
    /// Since when Nova shows it on this host, in whole seconds; none: it is on its way here.
    std::optional<TimePoint> placed_at;
    bool released = false;  ///< its room is kept for another, and Nova shows it as DELETED
    friend bool operator==(const Holder&, const Holder&) = default;
};

/// A host, from `at` until the next state.
struct HostState {
    TimePoint at{};
    bool usable = true;  ///< up and enabled
    Resources free;
    std::vector<Holder> holders;  ///< by consumer
    /// What is kept, by the server that held it, or by a stand-in; it is among `free`.
    std::map<Uuid, Resources> kept;

    const Holder* holder(const Uuid& consumer) const;
    bool same(const HostState& other) const {
        return usable == other.usable && free == other.free && holders == other.holders &&
               kept == other.kept;
    }
};

class Truth final : public cloudsim::Listener {
public:
    Truth(const Timeline& timeline, cloudsim::Site& site) : timeline_(timeline), site_(site) {}

    /// To be called after everything that may have changed the cloud.
    void record();
    /// Told of each call of it.
    void on_record(std::function<void()> told) { told_ = std::move(told); }

    const std::map<std::string, Demand>& demands() const { return demands_; }
    const Demand* demand(const std::string& request) const;
    /// The states of a host that were true at some time of [from, to], oldest first.
    std::vector<const HostState*> states(const std::string& host, TimePoint from,
                                         TimePoint to) const;
    const HostState* state_at(const std::string& host, TimePoint at) const;
    /// How many of the servers held room on other hosts, which they did not at `since`.
    int placed_besides(const std::string& host, const std::set<Uuid>& servers, TimePoint since,
                       TimePoint at) const;
    /// How many of the servers hold room on a host that they did not hold there at `since`.
    int placed_since(const std::set<Uuid>& servers, TimePoint since) const;
    /// Is the project revocable, and since when?
    std::optional<TimePoint> revocable_since(const std::string& project) const;
    std::string host_of_provider(const Uuid& provider) const;

    void on_refusal(const cloudsim::RefusalEvent& event) override;
    void on_search(const cloudsim::SearchEvent& event) override;

private:
    Demand& note(const cloudsim::Placing& placing, const cloudsim::ContextPtr& by);
    void record_host(const cloudsim::Host& host);
    void record_projects();
    void record_demands();
    void record_limits(Demand& demand);

    const Timeline& timeline_;
    cloudsim::Site& site_;
    std::map<std::string, Demand> demands_;
    std::map<std::string, std::vector<HostState>> history_;
    std::map<std::string, TimePoint> revocable_since_;
    std::map<Uuid, TimePoint> leaving_since_;
    std::function<void()> told_;
};

/// The consumer that keeps a server's room (reaper/model/escrow_consumer.hpp), and whose it keeps.
Uuid escrow_consumer_of(const Uuid& server);
std::optional<Uuid> kept_of(const Uuid& consumer);
/// What a flavor asks of a host.
Resources slot_of(const cloudsim::Flavor& flavor, bool from_volume);
/// How many slots fit into the room.
int fit(const Resources& room, const Resources& slot);

}  // namespace reaper::faults
