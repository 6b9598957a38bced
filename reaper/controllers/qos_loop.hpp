// Watches how busy the hosts are on which revocable servers run, and has some of those evicted
// where regular servers suffer (reaper/oversubscription/qos_controller.hpp).
//
// Only while this reaper serves, and is not paused. After a start, the corrections of the journal
// are known, so that nobody goes for a load that is about to fall. What is decided is in the log
// (qos_log.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "reaper/controllers/host_corrections.hpp"
#include "reaper/controllers/metrics_reader.hpp"
#include "reaper/controllers/qos_log.hpp"
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

private:
    using Policy = std::shared_ptr<const OversubscriptionPolicy>;

    ResultTask<std::map<HostId, HostLoad>> loads(const OversubscriptionPolicy& policy,
                                                 std::vector<HostId> hosts);
    ResultTask<void> know_corrections();
    void note_past(const RequestRecord& record);
    Task<void> look_at(HostId id, const HostLoad& load, Policy policy);

    Dependencies dependencies_;
    std::uint64_t epoch_ = 0;
    std::map<HostId, QosState> states_;
    QosLog log_;
};

}  // namespace reaper
