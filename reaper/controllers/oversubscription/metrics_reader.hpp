// Asks the monitoring system, and turns its answers into the input of estimators and QoS
// controllers.
//
// What is missing, stale, reported twice, no number, or measured by another clock is not known,
// with the reason; nothing is guessed. An answer that does not come costs nothing but freshness:
// what was read last stays, and grows old. What was measured before is asked for once, so that a
// restart need not wait for it: in pieces, so that no answer is large, however many hosts there
// are, and between two of them what is used now is measured on. Until all of it is there, room does
// not rise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/oversubscription/host_figures.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/measurement.hpp"
#include "reaper/oversubscription/qos_controller.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper {

// How the past is asked for: in pieces, so that no answer is large, however many series there are.
// Pure.

/// Between two values of the past.
inline constexpr Duration past_step = std::chrono::minutes{1};

/// A part of the past: both ends are asked for.
struct PastPiece {
    TimePoint from{};
    TimePoint to{};

    friend bool operator==(const PastPiece&, const PastPiece&) = default;
};

/// The past in pieces, the oldest first, of no more than 100,000 values each of so many series (or
/// one of each), and 3,000,000 together: of a longer past, its end.
std::vector<PastPiece> past_pieces(TimePoint from, TimePoint to, Duration step, std::size_t series);

/// All of a past that is too long to be read minute by minute: each value stands for the step that
/// ends with it. As many values at most.
struct OlderPast {
    Duration step{};
    std::vector<PastPiece> pieces;
};
OlderPast older_past(TimePoint from, TimePoint to, std::size_t series);

/// A query for the highest value within each step, of values a minute apart.
std::string highest_within(const std::string& query, Duration step);

// How much oversubscribed room was held on a host lately. A rate is a mean of the past, and
// includes the use of holders that are gone. So the most that was held since the rate began may
// have been theirs. Otherwise their use would count as that of others, and more servers would be
// evicted for it. Pure; the caller passes the time.

class HeldLately {
public:
    /// The amount that is held now. Times grow.
    void note(TimePoint now, Amount held);
    /// The most within `span` before now. While less than that is known: more than any host can
    /// hold.
    Amount most(TimePoint now, Duration span);

private:
    struct Held {
        TimePoint from{};
        TimePoint to{};
        Amount amount = 0;
    };
    std::deque<Held> held_;  // the oldest first
};

/// How far back a query looks at most: the sum of its ranges (`[2m]`, `[1h:1m]`).
Duration reach_of(std::string_view expression);

class MetricsReader {
public:
    /// References must outlive it.
    struct Dependencies {
        Metrics& metrics;
        Clock& clock;
        const CacheRefresher& refresher;  ///< whose hosts they are
        const LiveSettings& settings;
        /// False: it is no longer needed (a stop, another reaper serves). Null: it is needed.
        std::function<bool()> wanted{};
    };

    explicit MetricsReader(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// Asks for the use of the hosts; the first time for the past too. An error: it could not be
    /// asked, or the clocks differ.
    ResultTask<void> read_usage();
    /// What is known of it now.
    HostUsage usage_of(const HostId& host);
    /// Asks how busy the hosts are.
    ResultTask<std::map<HostId, HostLoad>> loads(LoadFigures wanted);
    /// Forgets everything: the next reading asks for the past again.
    void forget();
    /// Questions that failed since the start.
    std::uint64_t failures() const noexcept { return failures_; }
    /// Steady: when all questions were last answered; none: never yet.
    std::optional<Duration> answered_at() const noexcept { return answered_at_; }

private:
    struct Known {
        UsageHistory history;
        double cores = 0;
        HeldLately held{};
        std::string why_unknown{};
        std::vector<UsagePoint> meanwhile{};  ///< measured while the past is not there
    };
    using Policy = std::shared_ptr<const OversubscriptionPolicy>;
    using Answers = std::map<std::string, std::vector<Sample>>;  ///< by expression

    ResultTask<Answers> ask(std::vector<std::string> expressions);
    ResultTask<void> read_now(Policy policy, UsageWindows windows);
    ResultTask<void> read_past(Policy policy, UsageWindows windows);
    ResultTask<void> read_all_pieces(Policy policy, UsageWindows windows);
    void join_past();
    bool wanted() const { return !dependencies_.wanted || dependencies_.wanted(); }
    ResultTask<void> read_pieces(Policy policy, UsageWindows windows, std::string query,
                                 std::vector<PastPiece> pieces, Duration step);
    std::size_t series_of(const OversubscriptionPolicy& policy) const;
    void note_past(const OversubscriptionPolicy& policy, const std::vector<SampleSeries>& past);
    void note(const OversubscriptionPolicy& policy, const Answers& answers);
    Known& known_of(const HostId& host);
    std::map<HostId, Amount> held_lately(const OversubscriptionPolicy& policy,
                                         const std::vector<const Host*>& hosts);
    std::vector<const Host*> covered(const OversubscriptionPolicy& policy) const;

    Dependencies dependencies_;
    std::uint64_t failures_ = 0;
    std::optional<Duration> answered_at_;
    std::optional<UsageWindows> windows_;  ///< of what is known; none: nothing is
    bool past_known_ = false;              ///< it is part of what is known, or given up
    int past_tries_ = 0;                   ///< to read the past, that failed
    Duration read_at_{};                   ///< steady: when the use was asked for last
    std::map<HostId, UsageHistory> past_;  ///< as far as it is read
    std::string trouble_;                  ///< why the last reading failed; empty: it did not
    std::map<HostId, Known> known_;
};

}  // namespace reaper
