// nova-scheduler's way to Placement, where the reaper's gateway stands in it: haproxy asks the
// reaper that lives, and Placement itself while there is none. A call that a killed reaper had
// breaks off.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "faults/schedules/process.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/trace.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "tests/cloudsim/api/site.hpp"

namespace reaper::faults {

class Gateway final : public cloudsim::PlacementDoor {
public:
    Gateway(Timeline& timeline, cloudsim::Site& site, Network& network, Trace& trace,
            std::uint64_t seed);

    /// The process that is asked from now on; null: none.
    void ask_of(Process* process);
    /// So many of a hundred searches are left by nova-scheduler before their answer, from now on.
    void leave(int percent) { leaves_percent_ = percent; }
    std::uint64_t left() const noexcept { return left_; }
    /// So many of a hundred calls go by the gateway of a reaper that waits to take over, and lets
    /// all of them pass.
    void pass_by(int percent) { passes_by_percent_ = percent; }
    std::uint64_t passed_by() const noexcept { return passed_by_; }
    /// Did nova-scheduler wait for the reaper's answer for this request, a moment ago or now?
    bool waits_for(const std::string& request) const;
    /// Calls through the reaper so far.
    std::uint64_t calls() const noexcept { return calls_; }

    void search(const cloudsim::CandidateQuery& query, std::string request, Found found) override;
    void claim(const cloudsim::Claim& claim, std::string request, Claimed claimed) override;
    void give_back(const cloudsim::Uuid& consumer, std::string request) override;

private:
    /// Status 0: it broke off.
    using Answered = std::function<void(int status, const std::string& body)>;
    struct Pending {
        std::string request;
        Answered answered;
        bool through_reaper = false;
    };

    void ask(HttpRequest call, const std::string& request, Answered answered);
    void finish(std::uint64_t number, int status, std::string body);
    std::string token();

    Timeline& timeline_;
    cloudsim::Site& site_;
    Network& network_;
    Trace& trace_;
    Chance chance_;
    Process* process_ = nullptr;
    std::map<std::uint64_t, Pending> pending_;
    std::map<std::string, TimePoint> waited_;  ///< until when, by request
    std::uint64_t last_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t left_ = 0;
    int leaves_percent_ = 0;
    std::uint64_t passed_by_ = 0;
    int passes_by_percent_ = 0;
};

}  // namespace reaper::faults
