// Watches how busy the hosts are on which revocable servers run, and has some of those evicted
// where regular servers suffer (reaper/oversubscription/qos_controller.hpp).
//
// Only while this reaper serves, and is not paused. What was evicted from a host lately, for
// whatever reason and before a restart too, is the journal's to tell, so that nobody goes for a
// load that is about to fall. Nothing new is to start on a host while it is too busy. What is
// decided is in the log (qos_log.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "reaper/controllers/busy_hosts.hpp"
#include "reaper/controllers/host_corrections.hpp"
#include "reaper/controllers/metrics_reader.hpp"
#include "reaper/controllers/qos_log.hpp"
#include "reaper/oversubscription/evicted_servers.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

class QosLoop {
public:
    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        CacheRefresher& refresher;
        MetricsReader* metrics;  ///< null: there is only what Nova tells
        HostCorrections& corrections;
        const LiveSettings& settings;
        std::function<std::uint64_t()> serving;  ///< as of RoomPublisher
        std::function<bool()> paused;
    };
    explicit QosLoop(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look at all hosts. An error: nothing could be asked.
    ResultTask<void> look();
    void on_clock_step(Duration by);
    /// Also of a host of which nothing is known any more.
    bool too_busy(const HostId& host) const { return busy_.contains(host); }
    std::size_t busy_hosts() const noexcept { return busy_.size(); }

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
    Task<const Host*> read_host(HostId id);
    void interrupt();

    Dependencies dependencies_;
    std::uint64_t epoch_ = 0;
    std::map<HostId, QosState> states_;
    std::optional<TimePoint> known_until_;  ///< what ended before that is in `evicted_`
    std::map<RequestId, std::vector<EvictedServer>> evicted_;
    BusyHosts busy_;
    QosLog log_;
};

}  // namespace reaper
