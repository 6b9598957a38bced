// What the daemon reports for monitoring: all that it counts, and all that is looked up when it
// is asked for, as one page for Prometheus; and how it is.
//
// Events are counted where they pass anyway: what happens to requests in the journal, calls to the
// cloud in their transport. Everything else is looked up in the daemon at the time of the scrape.
// One thread.
#pragma once

#include <functional>
#include <map>
#include <prometheus/registry.h>
#include <string>

#include "reaper/api/health.hpp"
#include "reaper/monitoring/api_counters.hpp"
#include "reaper/monitoring/daemon_values.hpp"
#include "reaper/monitoring/exposition.hpp"
#include "reaper/monitoring/journal_counters.hpp"

namespace reaper::monitoring {

class Monitor final : public api::Monitoring {
public:
    struct About {
        std::string version;
        TimePoint started_at{};  ///< of the process
        bool per_host = false;   ///< the room of each host too
    };
    explicit Monitor(About about);
    Monitor& operator=(Monitor&&) = delete;  // counters know the registry's place

    /// For an observed journal.
    JournalCounters& journal() noexcept { return journal_; }
    ApiCounters& api() noexcept { return api_; }
    /// From now on it knows the daemon; what `look` leads to must outlive the last question.
    void watch(ObserveDaemon look);
    /// While it stands by, `how` says how it is; none: it does not. As above.
    using ObserveStandby = std::function<std::optional<api::Health>()>;
    void watch_standby(ObserveStandby how) { standby_ = std::move(how); }

    /// When the certificate expires that a port shows (`admin`, `gateway`) is asked for each page;
    /// none: it shows none now.
    using CertificateExpires = std::function<std::optional<TimePoint>()>;
    void watch_certificate(const std::string& port, CertificateExpires expires) {
        certificates_[port] = std::move(expires);
    }

    /// The page. Others run in between: a large cloud takes some milliseconds.
    Task<std::string> metrics() override;
    api::Health health() const override;

private:
    Task<void> add_room(Values& values);
    std::optional<DaemonState> state() const { return look_ ? look_() : std::nullopt; }
    std::string taggers_of(const HostId& host, const ServerId& server) const;

    const About about_;
    prometheus::Registry registry_;
    JournalCounters journal_{registry_};
    ApiCounters api_{registry_};
    ObserveDaemon look_;
    ObserveStandby standby_;
    std::map<std::string, CertificateExpires> certificates_;  ///< by port
};

}  // namespace reaper::monitoring
