// The parts that sell unused vCPUs, and take them back, put together.
#pragma once

#include <memory>
#include <vector>

#include "reaper/controllers/oversubscription/host_corrections.hpp"
#include "reaper/controllers/oversubscription/metrics_reader.hpp"
#include "reaper/controllers/oversubscription/qos_loop.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/runtime/periodic.hpp"
#include "reaper/triggers/correction.hpp"

namespace reaper {

class OversubscriptionParts {
public:
    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        const MessageSource& messages;
        Metrics* metrics;  ///< null: nothing is measured
        CacheRefresher& refresher;
        const Ledger& ledger;
        const LiveSettings& settings;
        RequestSink& sink;
        std::function<std::uint64_t()> serving;  ///< as of RoomPublisher
        std::function<bool()> journal_is_ours;
        std::function<bool()> paused;
        const bool& stopping;
    };
    explicit OversubscriptionParts(Dependencies dependencies);
    OversubscriptionParts& operator=(OversubscriptionParts&&) =
        delete;  // its parts know each other

    /// They do nothing while nothing is to be sold.
    std::vector<PeriodicTask> tasks();
    void on_clock_step(Duration by);
    /// For servers that have to go for any reason.
    HostCorrections& corrections() { return corrections_; }
    /// What a correction has yet to free, as the part that ordered it says now. An error: it can't.
    Result<CorrectionNeed> needed(const Request& request) const;
    const RoomPublisher& publisher() const { return publisher_; }
    const QosLoop& qos() const { return qos_; }
    const MetricsReader* reader() const { return reader_.get(); }  ///< null: nothing is measured

private:
    ResultTask<void> read_metrics();
    std::function<Duration()> interval(Duration (*of)(const config::Oversubscription&)) const;

    Dependencies dependencies_;
    CorrectionTrigger trigger_;
    HostCorrections corrections_;
    std::unique_ptr<MetricsReader> reader_;
    RoomPublisher publisher_;
    QosLoop qos_;
    std::uint64_t read_in_ = 0;  ///< as of `serving`, when metrics were read last
};

}  // namespace reaper
