// What the daemon tells Prometheus and probes, over fakes: compared with what the journal has.
#include <boost/asio/co_spawn.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "app/full_house.hpp"
#include "app/metrics_page.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/controllers/safeguards/cloud_probe.hpp"
#include "tests/fakes/fake_metrics.hpp"

namespace reaper::test::monitoring_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class MonitoringTest : public FullHouse {
protected:
    void SetUp() override { with_events = true; }

    HttpResponse ask(const std::string& target, api::Access access = api::Access::watch,
                     const std::string& method = "GET", const std::string& body = "") {
        std::optional<HttpResponse> answer;
        const api::Backend backend{service(), *observed, feed, &monitor};
        HttpRequest request{method, target, {}, body};
        const api::Caller caller{access};
        boost::asio::co_spawn(io(), api::answer(backend, caller, std::move(request)),
                              [&](std::exception_ptr error, HttpResponse said) {
                                  if (error) std::rethrow_exception(error);
                                  answer = std::move(said);
                              });
        run_until([&] { return answer.has_value(); });
        return *answer;
    }
    MetricsPage page() {
        const HttpResponse said = ask("/metrics");
        EXPECT_EQ(said.status, 200);
        EXPECT_EQ(said.content_type, "text/plain; version=0.0.4; charset=utf-8");
        return MetricsPage{said.body};
    }
    /// Of a probe: its status, and the names of the checks that are not ok, then of the notes.
    struct Probe {
        int status = 0;
        std::vector<std::string> failing;
        std::vector<std::string> notes;
        std::string body;
    };
    Probe probe(const std::string& target) {
        const HttpResponse said = ask(target);
        Probe probe{said.status, {}, {}, said.body};
        const json body = json::parse(said.body);
        EXPECT_EQ(body.at("status"), said.status == 200 ? "ok" : "failing");
        for (const auto& check : body.at("checks"))
            if (!check.at("ok")) probe.failing.push_back(check.at("name"));
        for (const auto& note : body.at("notes")) probe.notes.push_back(note.at("name"));
        return probe;
    }
    DaemonStatus service_status() { return service().status(); }
    void start_and_read_the_cloud() {
        start();
        run_until([&] { return service().view().has_value(); });
    }
    void cull() {
        full_host();
        requester();
        start();
        messages->deliver(body_of(failure()));
        ASSERT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    }
};

TEST_F(MonitoringTest, AfterACullThePageSaysWhatTheJournalSays) {
    cull();
    const MetricsPage after = page();
    EXPECT_EQ(after[R"(reaper_requests_total{outcome="freed",source="nova-failure"})"], 1);
    EXPECT_EQ(after.sum("reaper_requests_total"), 1);
    const RequestRecord& record = journal.records.at(RequestId{"req-1"});
    EXPECT_EQ(after.sum("reaper_victims_total"), static_cast<double>(victims_of(record).size()));
    EXPECT_EQ(
        after[R"(reaper_victims_total{source="nova-failure",strategy="strict",tagger="project"})"],
        1);
    EXPECT_EQ(after[R"(reaper_planned_victims_total{strategy="strict",tagger="project"})"], 1);
    EXPECT_EQ(after[R"(reaper_decisions_total{decision="plan"})"], 1);
    EXPECT_EQ(after.sum("reaper_victim_steps_total"), static_cast<double>(record.steps.size()));
    EXPECT_EQ(after[R"(reaper_victim_steps_total{step="gone"})"], 1);
    EXPECT_EQ(after[R"(reaper_request_room_seconds_count{source="nova-failure"})"], 1);
    const double took =
        std::chrono::duration<double>(record.outcome->at - record.request.sent_at).count();
    EXPECT_NEAR(after[R"(reaper_request_room_seconds_sum{source="nova-failure"})"], took, 1e-6);
    EXPECT_EQ(after[R"(reaper_request_lag_seconds_count{source="nova-failure"})"], 1);
    EXPECT_EQ(after.sum("reaper_refusals_total"), 0);
    EXPECT_GE(after["reaper_journal_writes_total"], 4);
    EXPECT_EQ(after["reaper_journal_write_failures_total"], 0);
    EXPECT_EQ(after["reaper_journal_writes_total"],
              after["reaper_journal_write_duration_seconds_count"]);
}

TEST_F(MonitoringTest, WhoTookTheRoomIsCountedAndHowLongThatTook) {
    cull();
    EXPECT_EQ(page()[R"(reaper_freed_rooms_total{result="taken"})"], 0);
    boots(uuid_of("requester-1"), "host1");
    run_until([&] { return journal.records.at(RequestId{"req-1"}).freed_room.has_value(); });
    ASSERT_EQ(journal.records.at(RequestId{"req-1"}).freed_room->kind, FreedRoomResultKind::taken);
    const MetricsPage after = page();
    EXPECT_EQ(after[R"(reaper_freed_rooms_total{result="taken"})"], 1);
    EXPECT_EQ(after.sum("reaper_freed_rooms_total"), 1);
    EXPECT_EQ(after[R"(reaper_request_taken_seconds_count{source="nova-failure"})"], 1);
    EXPECT_GE(after[R"(reaper_request_taken_seconds_sum{source="nova-failure"})"],
              after[R"(reaper_request_room_seconds_sum{source="nova-failure"})"]);
    EXPECT_EQ(monitor.journal().known(), 0U) << "nothing is kept of what is over";
}

TEST_F(MonitoringTest, ARefusalIsCountedByItsSafeguard) {
    settings.policy.safeguards.limits.victims_per_window = 1;
    full_host();
    requester("r1");
    requester("r2");
    start();
    for (const auto& [request, server] : {std::pair{"req-1", "r1"}, std::pair{"req-2", "r2"}}) {
        NovaFailure one = failure();
        one.request_id = request;
        one.server = one.spec_server = server;
        messages->deliver(body_of(one));
    }
    outcome_of("req-1");
    outcome_of("req-2");
    const MetricsPage after = page();
    EXPECT_EQ(after[R"(reaper_refusals_total{reason="limit-window"})"], 1);
    EXPECT_EQ(after[R"(reaper_requests_total{outcome="not-enough",source="nova-failure"})"], 1);
    EXPECT_EQ(after[R"(reaper_budget_victims_left{limit="limit-window"})"], 0);
}

TEST_F(MonitoringTest, WhatHasNotHappenedYetIsZeroAndNotAbsent) {
    full_host();
    start();
    const MetricsPage first = page();
    for (const char* const series :
         {R"(reaper_requests_total{outcome="freed",source="gateway"})",
          R"(reaper_refusals_total{reason="limit-window"})",
          R"(reaper_freed_rooms_total{result="wasted"})",
          R"(reaper_victim_steps_total{step="failed"})",
          R"(reaper_api_requests_total{code="401",method="POST",service="keystone"})",
          R"(reaper_api_requests_total{code="403",method="DELETE",service="nova"})",
          R"(reaper_api_requests_total{code="403",method="PUT",service="placement"})",
          R"(reaper_api_requests_total{code="403",method="GET",service="glance"})"})
        EXPECT_TRUE(first.has(series)) << series;
}

TEST_F(MonitoringTest, RoomIsSummedByLabelAndToldOfEachHost) {
    full_host();
    cloud.add_server("person", "host1", "regular", small);
    start();
    run_until([&] {
        const auto view = service().view();
        if (!view) return false;
        const auto hosts = view->cache.hosts();
        return std::none_of(hosts.begin(), hosts.end(),
                            [](const Host* host) { return host->estimated; });
    });
    const MetricsPage now = page();
    const std::string label = R"({host_label="any",resourcetype="VCPU"})";
    const ResourceClass vcpu{"VCPU"};
    const auto capacity = static_cast<double>(cloud.capacity_of("host1").get(vcpu));
    const auto each = static_cast<double>(small.get(vcpu));
    EXPECT_EQ(now["reaper_room_capacity" + label], capacity);
    EXPECT_EQ(now["reaper_room_revocable" + label], 4 * each);
    EXPECT_EQ(now["reaper_room_regular" + label], each);
    EXPECT_EQ(now[R"(reaper_servers{host_label="any",kind="revocable"})"], 4);
    EXPECT_EQ(now[R"(reaper_servers{host_label="any",kind="regular"})"], 1);
    EXPECT_EQ(now.sum("reaper_hosts"), 1);
    EXPECT_EQ(now[R"(reaper_hosts{host_label="any",status="up"})"], 1);
    EXPECT_EQ(now[R"(reaper_host_capacity{hostname="host1",resourcetype="VCPU"})"], capacity);
    EXPECT_EQ(now["reaper_cloud_cache_servers"], 5);
}

TEST_F(MonitoringTest, NamesFromTheCloudCantBreakThePage) {
    cloud.add_host("evil\"} 1\nreaper_ready 0\n# \xff\\", Resources{{"VCPU", 8}});
    start_and_read_the_cloud();
    const MetricsPage now = page();  // it throws on an invalid line
    EXPECT_EQ(now["reaper_ready"], 1);
    EXPECT_EQ(now.sum("reaper_host_capacity"), 8);
}

TEST_F(MonitoringTest, ManyHostsAreLookedAtInSlices) {
    for (int i = 0; i < 220; ++i)
        cloud.add_host("more-" + std::to_string(i), Resources{{"VCPU", 8}});
    start_and_read_the_cloud();
    EXPECT_EQ(page().sum("reaper_hosts"), 220);
    EXPECT_EQ(page().sum("reaper_room_free"), 220 * 8);
}

// ---- health ----

TEST_F(MonitoringTest, AllIsWell) {
    full_host();
    start_and_read_the_cloud();
    for (const char* const target : {"/healthz", "/readyz"}) {
        const Probe good = probe(target);
        EXPECT_EQ(good.status, 200) << good.body;
        EXPECT_TRUE(good.failing.empty() && good.notes.empty()) << good.body;
    }
    EXPECT_EQ(page()["reaper_live"], 1);
    EXPECT_EQ(page()["reaper_ready"], 1);
    EXPECT_EQ(page()["reaper_serving"], 1);
    EXPECT_EQ(page()[R"(reaper_build_info{version="0.0.test"})"], 1);
    EXPECT_EQ(page()["process_start_time_seconds"], 3600);
    EXPECT_GT(page()["process_resident_memory_bytes"], 1e6);
}

TEST_F(MonitoringTest, PausedIsReadyButTold) {
    full_host();
    pause.why = "paused by alice: upgrade";
    start_and_read_the_cloud();
    const Probe paused = probe("/readyz");
    EXPECT_EQ(paused.status, 200) << paused.body;
    EXPECT_EQ(paused.notes, std::vector<std::string>{"paused"});
    EXPECT_THAT(paused.body, HasSubstr("alice: upgrade"));
    EXPECT_EQ(page()["reaper_paused"], 1);
    EXPECT_EQ(page()["reaper_held_back"], 0);
    pause.why.reset();
    breaker.why = "paused by its circuit breaker: 5 culls in a row";
    EXPECT_EQ(probe("/readyz").notes, std::vector<std::string>{"breaker"});
    EXPECT_EQ(page()[R"(reaper_breaker_state{state="open"})"], 1);
    EXPECT_EQ(page().sum("reaper_breaker_state"), 1);
    EXPECT_EQ(page()["reaper_paused"], 0);
}

TEST_F(MonitoringTest, StandingByIsReadyButTold) {
    full_host();
    start_and_read_the_cloud();
    messages->serves = false;
    const Probe standby = probe("/readyz");
    EXPECT_EQ(standby.status, 200) << standby.body;
    EXPECT_EQ(standby.notes, std::vector<std::string>{"standby"});
    EXPECT_EQ(page()["reaper_serving"], 0);
}

TEST_F(MonitoringTest, ADryRunIsReadyButTold) {
    dry_run = true;
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::dry_run);
    EXPECT_EQ(probe("/readyz").notes, std::vector<std::string>{"dry-run"});
    const MetricsPage now = page();
    EXPECT_EQ(now["reaper_dry_run"], 1);
    EXPECT_EQ(now["reaper_serving"], 0) << "it has a queue of its own";
    EXPECT_EQ(now[R"(reaper_requests_total{outcome="dry-run",source="nova-failure"})"], 1);
    EXPECT_EQ(now.sum("reaper_planned_victims_total"), 1);
    EXPECT_EQ(now.sum("reaper_victims_total"), 0);
}

TEST_F(MonitoringTest, WithoutABrokerItIsNotReady) {
    full_host();
    start_and_read_the_cloud();
    messages->disconnect();
    const Probe cut = probe("/readyz");
    EXPECT_EQ(cut.status, 503);
    EXPECT_EQ(cut.failing, std::vector<std::string>{"broker"});
    EXPECT_EQ(probe("/healthz").status, 200) << "a restart would not help";
    EXPECT_EQ(page()["reaper_ready"], 0);
    EXPECT_EQ(page()["reaper_broker_connected"], 0);
}

TEST_F(MonitoringTest, WithAJournalThatTakesNothingItIsNotReady) {
    full_host();
    requester();
    start_and_read_the_cloud();
    bool broken = true;
    journal.fails = [&](const std::string&) { return broken; };
    messages->deliver(body_of(failure()));
    run_until([&] { return page()["reaper_journal_write_failures_total"] >= 1; });
    EXPECT_EQ(probe("/readyz").failing, std::vector<std::string>{"journal"});
    broken = false;
    outcome_of("req-1");
    EXPECT_EQ(probe("/readyz").status, 200);
    EXPECT_EQ(page()[R"(reaper_requests_total{outcome="freed",source="nova-failure"})"], 1)
        << "what failed is not counted";
}

TEST_F(MonitoringTest, WithAJournalThatIsGoneItIsNotReadyBeforeAnythingIsToBeWritten) {
    full_host();
    start_and_read_the_cloud();
    bool gone = true;
    journal.fails = [&](const std::string& what) { return gone && what == "holds"; };
    run_until([&] { return probe("/readyz").status == 503; });
    EXPECT_EQ(probe("/readyz").failing, std::vector<std::string>{"journal"});
    run_until([&] { return page()["reaper_journal_silence_seconds"] > 15; });
    EXPECT_THAT(service().status().no_help.value_or(""), HasSubstr("its file is gone"));
    run_until([&] { return !service().status().ready; });
    EXPECT_THAT(service().status().line, HasSubstr("waiting for the journal: its file is gone"));
    gone = false;
    run_until([&] { return probe("/readyz").status == 200; });
    run_until([&] { return service().status().ready; });
    EXPECT_LT(page()["reaper_journal_silence_seconds"], 5);
}

TEST_F(MonitoringTest, WithoutOneServiceItIsNotReadyThoughItAnsweredOnce) {
    full_host();
    start_and_read_the_cloud();
    const std::map<std::string, std::string> asked{
        {"nova", "server "}, {"placement", "allocations "}, {"keystone", "projects "}};
    for (const auto& [service, call] : asked) {
        cloud.on_call = [call = call](const std::string& made) -> std::optional<Error> {
            if (!made.starts_with(call)) return std::nullopt;
            return Error{Errc::server_error, "it says 503"};
        };
        run_until([&] { return !service_status().ready; });
        const Probe cut = probe("/readyz");
        EXPECT_THAT(cut.body, HasSubstr(service + " has not answered since"));
        EXPECT_THAT(cut.body, HasSubstr("it says 503"));
        EXPECT_EQ(probe("/healthz").status, 200) << "a restart would not help";
        EXPECT_THAT(service_status().line, HasSubstr("waiting for the cloud: " + service));
        EXPECT_THAT(service_status().no_help.value_or(""), HasSubstr(service));
        cloud.on_call = {};
        run_until([&] { return service_status().ready; });
        run_until([&] { return probe("/readyz").status == 200; });
        EXPECT_EQ(service_status().no_help, std::nullopt);
    }
}

TEST_F(MonitoringTest, OneQuestionWithoutAnAnswerIsNoOutage) {
    full_host();
    start_and_read_the_cloud();
    int failed = 0;
    cloud.on_call = [&](const std::string& made) -> std::optional<Error> {
        if (!made.starts_with("server ") || failed == 1) return std::nullopt;
        ++failed;
        return Error{Errc::timeout, "no answer"};
    };
    run_until([&] {
        EXPECT_EQ(probe("/readyz").status, 200);
        return failed == 1;
    });
    const Duration since = clock.steady();
    run_until([&] {
        EXPECT_EQ(probe("/readyz").status, 200);
        return clock.steady() - since > CloudProbe::valid_for * 2;
    });
}

TEST_F(MonitoringTest, WithAWrongClockItIsNotReady) {
    full_host();
    start_and_read_the_cloud();
    clock_ahead = Duration{60'000};
    EXPECT_EQ(probe("/readyz").status, 200);
    for (const auto& [by, word] : {std::pair{std::chrono::minutes{10}, "ahead of"},
                                   std::pair{std::chrono::minutes{-2}, "behind"}}) {
        clock_ahead = by;
        const Probe wrong = probe("/readyz");
        EXPECT_EQ(wrong.failing, std::vector<std::string>{"clock"});
        EXPECT_THAT(wrong.body, HasSubstr(word));
        run_until([&] { return !service_status().ready; });
        EXPECT_THAT(service_status().line, HasSubstr("the clock of this machine is"));
        clock_ahead = Duration{0};
        run_until([&] { return service_status().ready; });
    }
}

TEST_F(MonitoringTest, OfTheServicesClocksTheNearestCounts) {
    EXPECT_EQ(monitor.api().clock_ahead(), std::nullopt);
    monitor.api().dated("nova", clock.now() - std::chrono::minutes{10}, clock.now());
    EXPECT_EQ(monitor.api().clock_ahead(), Duration{std::chrono::minutes{10}});
    monitor.api().dated("keystone", clock.now() + std::chrono::seconds{1}, clock.now());
    EXPECT_EQ(monitor.api().clock_ahead(), Duration{-1000});
}

TEST_F(MonitoringTest, AnUnreadCloudIsNotReady) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    start();
    const Probe unread = probe("/readyz");
    EXPECT_EQ(unread.failing, std::vector<std::string>{"cache"}) << unread.body;
    EXPECT_EQ(page()["reaper_cloud_cache_built"], 0);
}

TEST_F(MonitoringTest, ALoopThatStandsStillIsNotAlive) {
    full_host();
    start();
    clock.advance(std::chrono::minutes{2});
    const api::Health health = monitor.health();
    ASSERT_EQ(health.live.size(), 1U);
    EXPECT_FALSE(health.live.front().good);
    EXPECT_THAT(health.live.front().detail, HasSubstr("restart"));
}

TEST_F(MonitoringTest, BeforeTheStartItIsAliveAndNotReady) {
    const api::Health health = monitor.health();
    EXPECT_TRUE(health.live.front().good);
    EXPECT_FALSE(health.ready.front().good);
    EXPECT_EQ(health.ready.front().detail, "starting");
}

// ---- who may ask ----

TEST_F(MonitoringTest, WhoOnlyWatchesSeesNothingElse) {
    full_host();
    start();
    for (const char* const target : {"/v1", "/v1/reservations", "/v1/culling_candidates", "/"}) {
        const HttpResponse said = ask(target);
        EXPECT_EQ(said.status, 404) << target;
        EXPECT_THAT(said.body, HasSubstr("/metrics, /healthz and /readyz"));
    }
    EXPECT_EQ(ask("/v1/requests", api::Access::watch, "POST").status, 404);
    EXPECT_EQ(ask("/metrics", api::Access::watch, "POST").status, 405);
    EXPECT_EQ(ask("/metrics", api::Access::look).status, 200);
    EXPECT_EQ(ask("/v1", api::Access::look).status, 200);
}

// ---- the names ----

/// The metrics that a file names.
std::set<std::string> names_in(const std::string& path) {
    std::ifstream file{path};
    EXPECT_TRUE(file.is_open()) << path;
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    // In `...` of a table, in an expression; not part of a longer word or path.
    static const std::regex name{R"((?:^|[^a-z_/.-])((?:reaper|process)_[a-z_]+)(?![a-z_.]))"};
    std::set<std::string> found;
    for (std::sregex_iterator at{all.begin(), all.end(), name}, end; at != end; ++at)
        found.insert((*at)[1]);
    return found;
}

/// A recording that can stop.
class FakeRecording final : public DecisionObserver {
public:
    void on_decision(const DecisionSight&) override {}
    void keep_up(const CloudCache&) override {}
    Duration step() const override { return Duration{1000}; }
    bool keeps() const override { return going; }
    std::uint64_t losses() const override { return lost; }

    bool going = true;
    std::uint64_t lost = 0;
};

/// A daemon that has something to say of everything: limits, a gateway, a reservation, a cull.
class WholePageTest : public MonitoringTest {
protected:
    void SetUp() override {
        MonitoringTest::SetUp();
        settings.policy.safeguards.limits.victims_per_window = 10;
        settings.policy.safeguards.limits.victims_per_project = 10;
        settings.gateway.listen = "127.0.0.1:8780";
        settings.reservations.enabled = true;
        settings.oversubscription.enabled = true;
        settings.oversubscription.estimator = {"usage_slack", {}};
        metrics = &measured;
        observer = &recording;
        cloud.own_credential_expires = clock.now() + std::chrono::hours{24};
        monitor.watch_certificate("admin", [this] { return certificate_expires; });
        cloud.add_host("spare", Resources{{"VCPU", 1}});
        cull();
        run_until([&] { return measured.asked.size() > 6; });
        run_until([&] { return !service().reservations()->why_not_known(); });
        const HttpResponse said =
            ask("/v1/reserve", api::Access::act, "POST",
                R"({"reservations": [{"host": "spare", "role": "r", "resources": {"VCPU": 1}}]})");
        ASSERT_EQ(said.status, 202) << said.body;
        monitor.api().tried("nova", "GET", "200", std::chrono::milliseconds{5});
    }

    FakeMetrics measured{clock};
    FakeRecording recording;
    std::optional<TimePoint> certificate_expires = clock.now() + std::chrono::hours{48};
};

TEST_F(WholePageTest, WhatStopsOrExpiresIsReported) {
    const auto seconds = [&](TimePoint at) {
        return std::chrono::duration<double>(at.time_since_epoch()).count();
    };
    EXPECT_EQ(page()["reaper_recording"], 1);
    EXPECT_EQ(page()["reaper_recording_losses_total"], 0);
    recording.going = false;
    recording.lost = 2;
    const MetricsPage now = page();
    EXPECT_EQ(now["reaper_recording"], 0);
    EXPECT_EQ(now["reaper_recording_losses_total"], 2);
    EXPECT_EQ(now["reaper_credential_expiry_timestamp_seconds"],
              seconds(*cloud.own_credential_expires));
    const std::string certificate = R"(reaper_certificate_expiry_timestamp_seconds{port="admin"})";
    EXPECT_EQ(now[certificate], seconds(*certificate_expires));
    *certificate_expires += std::chrono::hours{1000};
    EXPECT_EQ(page()[certificate], seconds(*certificate_expires)) << "it was renewed";
    certificate_expires.reset();
    EXPECT_FALSE(page().has(certificate));
}

TEST_F(WholePageTest, AnExpiryThatMayBeSeenNowIsReportedWithinAnHourAndAtOnceAfterAReload) {
    const std::string name = "reaper_credential_expiry_timestamp_seconds";
    const auto some_time = [&] { pass(std::chrono::seconds{10}); };
    const auto first = cloud.own_credential_expires;
    cloud.own_credential_expires.reset();
    some_time();
    EXPECT_TRUE(page().has(name)) << "it is asked once an hour";
    service().reload(live_settings());
    some_time();
    EXPECT_FALSE(page().has(name)) << "the right to see it is gone";
    cloud.own_credential_expires = first;
    const TimePoint asked = clock.now();
    run_until([&] { return service().state()->credential_expires.has_value(); });
    EXPECT_TRUE(page().has(name));
    EXPECT_LE(clock.now() - asked, std::chrono::minutes{61});
}

TEST_F(WholePageTest, OversubscribedRoomIsReported) {
    const MetricsPage now = page();
    EXPECT_EQ(now["reaper_oversubscribed_published"], 0);
    EXPECT_GE(now["reaper_oversubscribed_hosts"], 1);
    EXPECT_EQ(now["reaper_oversubscribed_hosts_unknown"], now["reaper_oversubscribed_hosts"])
        << "nothing is measured";
    EXPECT_EQ(now["reaper_oversubscribed_hosts_left_alone"], 0);
    EXPECT_EQ(now["reaper_oversubscribed_hosts_too_busy"], 0);
    EXPECT_EQ(now["reaper_oversubscription_query_failures_total"], 0);
    EXPECT_LE(now["reaper_oversubscription_figures_age_seconds"], 30);
    measured.down = Error{Errc::unreachable, "prometheus: no answer"};
    const auto asked = measured.asked.size();
    run_until([&] { return measured.asked.size() > asked + 6; });
    EXPECT_GE(page()["reaper_oversubscription_query_failures_total"], 3);
}

TEST_F(WholePageTest, ReservedRoomIsReported) {
    const MetricsPage now = page();
    EXPECT_EQ(now["reaper_reservations"], 1);
    EXPECT_EQ(now[R"(reaper_reserved{resourcetype="VCPU"})"], 1);
    EXPECT_EQ(now[R"(reaper_reserved_held{resourcetype="VCPU"})"], 1);
    EXPECT_EQ(now[R"(reaper_reserved_lent{resourcetype="VCPU"})"], 0);
}

TEST_F(WholePageTest, CallsToTheCloudAreCountedByServiceMethodAndCode) {
    const MetricsPage now = page();
    EXPECT_EQ(now[R"(reaper_api_requests_total{code="200",method="GET",service="nova"})"], 1);
    EXPECT_EQ(now[R"(reaper_api_request_duration_seconds_count{method="GET",service="nova"})"], 1);
    EXPECT_EQ(now[R"(reaper_api_request_duration_seconds_sum{method="GET",service="nova"})"],
              0.005);
}

TEST_F(WholePageTest, EveryNameThatAlertsAndDashboardUseIsExposed) {
    const std::set<std::string> exposed = page().names();
    for (const char* const path : {"deploy/prometheus/alerts.yaml", "deploy/grafana/reaper.json"}) {
        const auto used = names_in(path);
        EXPECT_GT(used.size(), 15U) << path;
        for (const std::string& name : used) {
            const bool in_words = path == std::string_view{"deploy/prometheus/alerts.yaml"} &&
                                  exposed.contains(name + "_bucket");
            EXPECT_TRUE(exposed.contains(name) || in_words)
                << name << " of " << path << " is not exposed";
        }
    }
}

TEST_F(WholePageTest, TheManualHasEveryMetricAndNoOther) {
    const MetricsPage now = page();
    const std::set<std::string> told = names_in("deploy/docs/metrics.md");
    for (const auto& [name, type] : now.types) {
        EXPECT_TRUE(told.contains(name)) << name << " is not in deploy/docs/metrics.md";
        EXPECT_FALSE(now.helps.at(name).empty());
    }
    for (const std::string& name : told)
        EXPECT_TRUE(now.types.contains(name))
            << name << " of deploy/docs/metrics.md is not exposed";
}

}  // namespace
}  // namespace reaper::test::monitoring_test
