// Watches how busy the hosts are on which revocable servers run, and has some of those evicted
// where regular servers suffer (reaper/oversubscription/qos_controller.hpp).
//
// Only while this reaper serves, and is not paused. The journal knows what was evicted from a host
// lately, for whatever reason and also before a restart, so that no server is evicted for a load
// that is about to fall. If a correction is under way when the figures are requested or when they
// arrive, they cause no eviction: they may be older than its effect. No eviction
// starts on a host that is too busy, nor before its load is known for the first time. Each decision
// is logged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/controllers/oversubscription/host_corrections.hpp"
#include "reaper/controllers/oversubscription/metrics_reader.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/evicted_servers.hpp"
#include "reaper/oversubscription/qos_controller.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

// Which hosts are too busy, as a QoS controller sees it: nothing new is to start there. A figure
// that goes up and down around its threshold is one that is above it, so a host is calm when none
// was above for a minute. What is not known changes nothing. Pure; the caller passes the time.

class BusyHosts {
public:
    enum class Change { none, too_busy, calm };
    struct Seen {
        Change change = Change::none;
        Duration lasted{};  ///< how long a host that is now calm was too busy
    };

    Seen look(const HostId& host, std::optional<bool> too_busy, TimePoint now);
    bool contains(const HostId& host) const { return hosts_.contains(host); }
    std::size_t size() const noexcept { return hosts_.size(); }
    template <class Unwatched>
    void forget_if(Unwatched unwatched) {
        std::erase_if(hosts_, [&](const auto& each) { return unwatched(each.first); });
    }
    void clear() { hosts_.clear(); }
    /// The wall clock was set forward by this duration (or back).
    void shift(Duration by);

private:
    struct Busy {
        TimePoint since{};
        std::optional<TimePoint> calm_since{};
    };
    std::map<HostId, Busy> hosts_;
};

// The log lines about busy hosts: when one becomes too busy, what is done about it, and when it is
// calm again. Nothing is logged again in each interval.

class QosLog {
public:
    void look(const Host& host, const QosVerdict& verdict, const BusyHosts::Seen& seen);
    void corrected(const Host& host, const HostCorrection& correction,
                   const OrderedCorrection& ordered, bool dry_run);
    /// Once for each reason, until a correction follows or the host is calm.
    void not_corrected(const Host& host, const HostCorrection& correction, std::string why);
    /// No revocable server is left there, and it is still busy: once, until it is calm.
    void left(const Host& host);
    template <class Unwatched>
    void forget_if(Unwatched unwatched) {
        std::erase_if(not_corrected_, [&](const auto& each) { return unwatched(each.first); });
        std::erase_if(left_, unwatched);
    }
    void clear();

private:
    std::map<HostId, std::string> not_corrected_;  ///< the last logged reason
    std::set<HostId> left_;
};

class QosLoop {
public:
    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        JournalReader& journal;
        CacheRefresher& refresher;
        MetricsReader* metrics;  ///< null: there is only what Nova reports
        HostCorrections& corrections;
        const LiveSettings& settings;
        std::function<std::uint64_t()> serving;  ///< as of RoomPublisher
        std::function<bool()> paused;
        /// Room is about to be sold there for the first time; null: nowhere.
        std::function<bool(const HostId&)> to_be_sold{};
    };
    explicit QosLoop(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look at all hosts. An error: nothing could be asked.
    ResultTask<void> look();
    void on_clock_step(Duration by);
    /// Also of a host about which nothing is known now.
    bool too_busy(const HostId& host) const { return busy_.contains(host); }
    std::size_t busy_hosts() const noexcept { return busy_.size(); }
    /// Of a correction of the host, under the current settings. An error: that is not known yet.
    Result<CorrectionNeed> needed(const HostId& host) const;
    /// A controller is to watch the host, and has not seen yet how busy it is.
    bool load_awaited(const HostId& host) const;

private:
    using Policy = std::shared_ptr<const OversubscriptionPolicy>;

    ResultTask<std::map<HostId, HostLoad>> loads(const OversubscriptionPolicy& policy,
                                                 std::vector<HostId> hosts);
    bool is_watched(const HostId& host, const OversubscriptionPolicy& policy) const;
    void forget();
    void forget_unwatched(const OversubscriptionPolicy& policy);
    ResultTask<void> know_evictions(ResourceClass room_class);
    void count_evictions();
    Task<void> look_at(HostId id, const HostLoad& load, Policy policy);
    QosVerdict judge(const Host& host, const HostLoad& load, const OversubscriptionPolicy& policy);
    Task<const Host*> read_host(HostId id);
    void interrupt();

    Dependencies dependencies_;
    std::uint64_t epoch_ = 0;
    std::map<HostId, QosState> states_;
    std::optional<TimePoint> known_until_;  ///< what ended before that is in `evicted_`
    std::map<RequestId, std::vector<EvictedServer>> evicted_;
    BusyHosts busy_;
    std::set<HostId> seen_;  ///< whose load was known since they are watched
    /// When the figures of this look were asked for; also of a former process.
    std::set<HostId> being_corrected_;
    QosLog log_;
};

}  // namespace reaper
