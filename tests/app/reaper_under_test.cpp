#include "app/reaper_under_test.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <stdexcept>

namespace reaper::test {

ReaperUnderTest::ReaperUnderTest() {
    config::Plugin project;
    project.name = "project";
    settings.policy.taggers.push_back(project);
    settings.policy.strategy.name = "strict";
}

ReaperUnderTest::~ReaperUnderTest() {
    crash();
}

LiveSettings ReaperUnderTest::live_settings() const {
    LiveSettings live;
    live.policy = compile_policy(settings.policy).value();
    live.cull = settings.cull;
    live.trigger = settings.trigger;
    live.cache = settings.cache;
    live.labels = settings.labels;
    live.gateway = settings.gateway;
    live.reservations = settings.reservations;
    live.oversubscription = compile_oversubscription(settings.oversubscription).value();
    live.dry_run = dry_run;
    return live;
}

void ReaperUnderTest::start() {
    begin();
    run_until([&] { return status.ready; });
}

void ReaperUnderTest::begin(bool stands_by) {
    io_ = std::make_unique<boost::asio::io_context>();
    messages = std::make_unique<FakeMessages>();
    events = std::make_unique<FakeEvents>();
    const ServicePorts ports{cloud.ports(),
                             *observed,
                             *messages,
                             with_events ? events.get() : nullptr,
                             pause,
                             breaker,
                             metrics,
                             observer,
                             [this] { return clock_ahead; },
                             shared_journal,
                             [this] { return others_stand_by; },
                             tell_others};
    service_ = make_service(ports, live_settings(),
                            [this](ServiceStatus now) { status = std::move(now); });
    monitor.watch([this] { return service_ ? service_->state() : std::nullopt; });
    ended.reset();
    if (stands_by) return boost::asio::co_spawn(*io_, service_->prepare(), boost::asio::detached);
    boost::asio::co_spawn(*io_, service_->run(),
                          [this](std::exception_ptr error, Result<void> result) {
                              if (error) std::rethrow_exception(error);
                              ended = std::move(result);
                          });
}

void ReaperUnderTest::crash() {
    service_.reset();
    clock.forget_sleepers();
    io_.reset();
    messages.reset();
    events.reset();
    status = {};
}

void ReaperUnderTest::run_until(const std::function<bool()>& done) {
    if (!clock.run_until(*io_, done)) throw std::runtime_error("it never happened");
}

void ReaperUnderTest::pass(Duration time) {
    const Duration then = clock.steady();
    run_until([&] { return clock.steady() - then >= time; });
}

const Outcome& ReaperUnderTest::outcome_of(const std::string& request) {
    const RequestId id{request};
    run_until([&] {
        const auto found = journal.records.find(id);
        return found != journal.records.end() && found->second.outcome.has_value();
    });
    return *journal.records.at(id).outcome;
}

void ReaperUnderTest::stop_and_join() {
    service_->stop();
    run_until([&] { return ended.has_value(); });
}

bool ReaperUnderTest::all_acknowledged(std::uint64_t last) const {
    return messages->acknowledged.size() == last;
}

}  // namespace reaper::test
