// The judgement on exclusive room: what is promised to a request is no place for another,
// and no other request takes it through the gateway.
#pragma once

#include <functional>
#include <string>

#include "faults/schedules/calm.hpp"
#include "faults/schedules/checker.hpp"

namespace reaper::faults {

class ExclusiveRoom {
public:
    /// All of it must outlive this.
    ExclusiveRoom(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site,
                  const Truth& truth, Checker& checker, Tally& tally);

    /// Nova-scheduler gets these hosts, which it asked for at `asked_at`.
    void told(const std::string& request, const cloudsim::Candidates& candidates,
              TimePoint asked_at);
    /// A server of the request has its claim, which was asked for at `asked_at`.
    void claimed(const std::string& request, const Uuid& server, TimePoint asked_at);

private:
    using Fits = std::function<bool(const HostState& state, TimePoint at)>;
    bool is_judged(const Demand* demand, TimePoint asked_at) const;
    bool may_be_offered(const Demand& demand, TimePoint asked_at) const;
    bool fitted_since(const std::string& host, TimePoint from, const Fits& fits) const;
    Resources withheld(const std::string& host, const std::string& request, TimePoint at) const;
    std::string arithmetic(const std::string& host, const std::string& request) const;
    Resources room_on(const cloudsim::Host& host, const HostState& state,
                      const std::string& request, TimePoint at, bool if_all_die) const;

    const SchedulePlan& plan_;
    const Timeline& timeline_;
    cloudsim::Site& site_;
    const Truth& truth_;
    Checker& checker_;
    Tally& tally_;
    Calm calm_;
};

}  // namespace reaper::faults
