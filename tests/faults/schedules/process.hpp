// One process of the reaper: the real service over the real OpenStack clients, on an io_context of
// its own. Destroying it is kill -9.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "clients/openstack/openstack.hpp"
#include "fakes/fake_journal.hpp"
#include "faults/schedules/broker.hpp"
#include "faults/schedules/network.hpp"
#include "reaper/daemon/service.hpp"

namespace reaper::faults {

class Process {
public:
    Process(const SchedulePlan& plan, const Reloaded& configured, Timeline& timeline,
            Network& network, Broker& broker, test::FakeJournal& journal, Switch& pause,
            Switch& breaker, cloudsim::Site& site, Metrics* metrics = nullptr);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// Runs one handler; false if none is ready.
    bool poll_one();
    /// Why it ended by itself; none while it runs.
    const std::optional<std::string>& ended() const { return ended_; }
    void stop() { service_->stop(); }
    std::shared_ptr<ProxyHandler> gateway() { return service_->gateway(); }
    /// Runs with it, and ends with it.
    void spawn(Task<void> task);
    /// SIGHUP.
    void reload(const SchedulePlan& plan, const Reloaded& configured);

private:
    Timeline& timeline_;
    std::unique_ptr<boost::asio::io_context> io_;
    OpenStack cloud_;
    std::unique_ptr<MessageSource> messages_;
    std::unique_ptr<EventSource> events_;
    std::shared_ptr<Service> service_;
    std::optional<std::string> ended_;
};

}  // namespace reaper::faults
