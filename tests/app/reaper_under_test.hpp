// A whole reaper over fakes: io_context, clock, cloud, journal, messages, service.
#pragma once

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <optional>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "fakes/fake_events.hpp"
#include "fakes/fake_journal.hpp"
#include "fakes/fake_messages.hpp"
#include "fakes/fake_switch.hpp"
#include "fakes/nova_messages.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/monitoring/monitor.hpp"
#include "reaper/requests/observed_journal.hpp"
#include "reaper/requests/record_feed.hpp"

namespace reaper::test {

/// The world outlives the process: `start` begins a process, `crash` ends one as kill -9 does.
class ReaperUnderTest : public ::testing::Test {
protected:
    ReaperUnderTest();
    ~ReaperUnderTest() override;

    void start();
    /// The same, without waiting until it is ready; or it stands by.
    void begin(bool stands_by = false);
    void crash();
    /// Lets time run until `done`; fails the test if it never is.
    void run_until(const std::function<bool()>& done);
    void pass(Duration time);
    /// Until the request has an outcome in the journal.
    const Outcome& outcome_of(const std::string& request);
    void stop_and_join();
    bool all_acknowledged(std::uint64_t last) const;
    LiveSettings live_settings() const;
    Service& service() { return *service_; }
    boost::asio::io_context& io() { return *io_; }

    FakeClock clock;
    FakeCloud cloud{clock};
    FakeJournal journal;
    monitoring::Monitor monitor{{"0.0.test", TimePoint{std::chrono::hours{1}}, true}};
    RecordFeed feed;
    const std::unique_ptr<Journal> observed =
        observed_journal(journal, {&monitor.journal(), &feed});
    FakeSwitch pause;
    FakeSwitch breaker;
    bool shared_journal = false;
    bool others_stand_by = true;
    std::function<void(ReaperState)> tell_others;
    std::unique_ptr<FakeMessages> messages;
    std::unique_ptr<FakeEvents> events;
    bool with_events = false;              ///< a flow of events, so that the cloud cache is used
    Metrics* metrics = nullptr;            ///< nothing is measured
    DecisionObserver* observer = nullptr;  ///< nothing is recorded
    std::optional<Duration> clock_ahead;   ///< by the answers of the services
    ServiceStatus status;
    config::Settings settings;
    bool dry_run = false;
    std::optional<Result<void>> ended;

private:
    std::unique_ptr<boost::asio::io_context> io_;
    std::shared_ptr<Service> service_;
};

}  // namespace reaper::test
