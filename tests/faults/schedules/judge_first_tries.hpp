// The judgement on first tries: a regular request that asks through the gateway, and for which
// there is a way all the time that it waits, gets its hosts. What may excuse it is listed here, in
// the words of the plan and of the cloud; the reaper's word counts only where a safeguard refused.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "faults/schedules/calm.hpp"
#include "faults/schedules/checker.hpp"

namespace reaper::faults {

class FirstTries final : public cloudsim::Listener {
public:
    /// All of it must outlive this.
    FirstTries(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site,
               const Truth& truth, const Gateway& gateway, Checker& checker,
               std::function<bool()> breaker_is_open, Tally& tally);

    /// To be called whenever the truth is recorded.
    void look();

    void on_search(const cloudsim::SearchEvent& event) override;
    void on_schedule(const cloudsim::ScheduleEvent& event) override;
    void on_refusal(const cloudsim::RefusalEvent& event) override;
    void on_effect(const cloudsim::Effect& effect) override;

private:
    /// A request that looks for hosts.
    struct Wait {
        TimePoint since{};
        bool needs_help = false;  ///< there was no room for it when it began
        bool larger_asked = false;
        std::string excuse{};  ///< why it need not be helped; empty: there was a way so far
    };

    std::string why_not_judged(const Demand& demand, const cloudsim::Placing& placing) const;
    bool has_twins(const cloudsim::Flavor& flavor) const;
    std::string why_hindered(const Wait& wait, const std::string& request) const;
    static bool counts_on_others(const RequestRecord& record);
    std::string why_refused(const std::string& request) const;
    bool may_have_reserved_room(const Demand& demand) const;
    bool may_be_misled(const Demand& demand) const;
    bool may_be_a_larger_one(const Demand& demand) const;
    bool has_way(const Demand& demand, bool by_deletions) const;
    int slots_on(const Demand& demand, const cloudsim::Host& host, bool by_deletions) const;
    bool is_steady(const cloudsim::Host& host) const;
    bool was_of_no_use(const cloudsim::Host& host) const;
    bool may_die(const cloudsim::Server& server) const;
    void refused(const std::string& request);

    const SchedulePlan& plan_;
    const Timeline& timeline_;
    cloudsim::Site& site_;
    const Truth& truth_;
    const Gateway& gateway_;
    Checker& checker_;
    std::function<bool()> breaker_is_open_;
    Tally& tally_;
    Calm calm_;
    std::map<std::string, Wait> waits_;  ///< by request
};

}  // namespace reaper::faults
