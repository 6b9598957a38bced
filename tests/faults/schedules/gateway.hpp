// nova-scheduler's way to Placement, where the reaper's gateway stands in it: haproxy asks the
// reaper that lives, and Placement itself while there is none. A call that a killed reaper had
// breaks off.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults/schedules/process.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/trace.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "tests/cloudsim/api/site.hpp"

namespace reaper::faults {

/// The state of a request's calls so far.
struct GatewayTrail {
    bool broken = false;           ///< one went by another gateway, was left, failed or broke off
    std::size_t most_at_once = 0;  ///< calls that waited, with one of its own
    std::optional<TimePoint> answered_at;  ///< the last one by the reaper
};

/// A call that waits for the reaper.
struct GatewayWait {
    std::string request;
    std::string method;
};

struct GatewayCounted {
    std::uint64_t calls = 0;  ///< through the reaper
    std::uint64_t left_searches = 0;
    std::uint64_t left_claims = 0;
    std::uint64_t passed_by = 0;
};

/// Told of what the reaper let nova-scheduler have: it asked at `at`.
struct GatewayWatch {
    std::function<void(const std::string& request, const cloudsim::Candidates&, TimePoint at)> told;
    std::function<void(const std::string& request, const cloudsim::Uuid& server, TimePoint at)>
        claimed;
    std::function<void()> claims;  ///< a claim is on its way to the reaper
};

class Gateway final : public cloudsim::PlacementDoor {
public:
    /// `changed` is called after a call that did not go through the reaper.
    Gateway(Timeline& timeline, cloudsim::Site& site, Network& network, Trace& trace,
            std::uint64_t seed, std::function<void()> changed);

    void watch(GatewayWatch watch) { watch_ = std::move(watch); }
    /// The process that is asked from now on; null: none, and calls break off that the one before,
    /// which still lives, has.
    void ask_of(Process* process);
    /// So many of a hundred searches and claims are left by nova-scheduler before their answer,
    /// from now on.
    void leave(int percent) { leaves_percent_ = percent; }
    /// So many of a hundred calls go by the gateway of a reaper that waits to take over, and lets
    /// all of them pass.
    void pass_by(int percent) { passes_by_percent_ = percent; }
    const GatewayCounted& counted() const noexcept { return counts_; }

    /// Did nova-scheduler wait for the reaper's answer for this request, just before or now?
    bool waits_for(const std::string& request) const;
    /// ... and since when does it; none: it does not.
    std::optional<TimePoint> asked_since(const std::string& request) const;
    /// All calls that wait for the reaper now.
    std::vector<GatewayWait> waits() const;
    /// When the last call was answered that had waited for `waited`; none: none did.
    std::optional<TimePoint> late_at(Duration waited) const;
    /// None: it did not call the gateway.
    const GatewayTrail* trail(const std::string& request) const;

    void search(const cloudsim::CandidateQuery& query, std::string request, Found found) override;
    void claim(const cloudsim::Claim& claim, std::string request, Claimed claimed) override;
    void give_back(const cloudsim::Uuid& consumer, std::string request) override;

private:
    struct Pending;
    /// Status 0: it broke off.
    using Answered = std::function<void(int status, const std::string& body, const Pending& call)>;
    struct Pending {
        std::string request;
        std::string method;
        TimePoint at{};
        Answered answered;
        std::shared_ptr<ProxyCall> call{};  ///< of the reaper; none: it was not asked
        bool as_reaper_says = false;        ///< the same, or it was asked and did not want it
    };

    void ask(HttpRequest call, const std::string& request, Answered answered);
    void ask_reaper(const std::shared_ptr<ProxyHandler>& handler, std::uint64_t number,
                    HttpRequest call);
    void ask_placement(std::uint64_t number, HttpRequest call);
    void leave(std::uint64_t number, const std::function<void()>& gone);
    void finish(std::uint64_t number, int status, std::string body);
    std::string token();

    Timeline& timeline_;
    cloudsim::Site& site_;
    Network& network_;
    Trace& trace_;
    Chance chance_;
    std::function<void()> changed_;
    GatewayWatch watch_;
    Process* process_ = nullptr;
    std::map<std::uint64_t, Pending> pending_;
    std::map<std::string, GatewayTrail> trails_;        ///< by request
    std::vector<std::pair<TimePoint, Duration>> slow_;  ///< when answered, after how long
    std::uint64_t last_ = 0;
    GatewayCounted counts_;
    int leaves_percent_ = 0;
    int passes_by_percent_ = 0;
};

}  // namespace reaper::faults
