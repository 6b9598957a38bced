// Asks the monitoring system, and makes of its answers what estimators and QoS controllers look at.
//
// What is missing, stale, told twice, no number, or told under another clock is not known, with the
// reason; nothing is guessed. An answer that does not come costs nothing but freshness: what was
// read last stays, and grows old. What was measured before is asked for once, so that a restart
// need not wait for it: in pieces, so that no answer is large, however many hosts there are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/controllers/held_lately.hpp"
#include "reaper/controllers/host_figures.hpp"
#include "reaper/controllers/server_figures.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/oversubscription/measurement.hpp"
#include "reaper/oversubscription/qos_controller.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper {

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

class MetricsReader {
public:
    /// References must outlive it.
    struct Dependencies {
        Metrics& metrics;
        Clock& clock;
        const CacheRefresher& refresher;  ///< whose hosts they are
        const LiveSettings& settings;
    };

    explicit MetricsReader(Dependencies dependencies) : dependencies_(dependencies) {}

    /// Asks for the use of the hosts. An error: it could not be asked, or the clocks differ.
    ResultTask<void> read_usage();
    /// What is known of it now.
    HostUsage usage_of(const HostId& host);
    /// Asks how busy the hosts are.
    ResultTask<std::map<HostId, HostLoad>> loads(LoadFigures wanted);
    /// Nothing is known any more: the next reading asks for the past again.
    void forget();

private:
    struct Known {
        UsageHistory history;
        double cores = 0;
        HeldLately held{};
        std::string why_unknown{};
    };
    using Policy = std::shared_ptr<const OversubscriptionPolicy>;
    using Answers = std::map<std::string, std::vector<Sample>>;  ///< by expression

    ResultTask<Answers> ask(std::vector<std::string> expressions);
    ResultTask<void> read_past(Policy policy, UsageWindows windows);
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
    std::optional<UsageWindows> windows_;  ///< of what is known; none: nothing is
    int past_tries_ = 0;                   ///< to read the past, that failed
    std::string trouble_;                  ///< why the last reading failed; empty: it did not
    std::map<HostId, Known> known_;
};

}  // namespace reaper
