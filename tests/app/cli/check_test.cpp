#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

#include "app/cli/program.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::check_test {
namespace {

class FakeSession final : public CloudSession {
public:
    std::vector<std::string> roles{"admin", "member"};
    std::string newest_compute{"2.93"};
    std::optional<Error> refused;

    ResultTask<AuthInfo> authenticate() override {
        if (refused) co_return *refused;
        AuthInfo who;
        who.user_name = "reaper";
        who.project_name = "service";
        who.project_id = "our-own";
        who.roles = roles;
        co_return who;
    }
    ResultTask<EndpointInfo> endpoint(CloudService service) override {
        EndpointInfo info;
        info.url = "http://" + std::string(to_string(service));
        info.version = "1.39";
        info.service_version = service == CloudService::compute ? newest_compute : "1.39";
        co_return info;
    }
};

class CheckCloud : public testing::Test {
protected:
    void SetUp() override {
        policy_.taggers = {{"project", {}}};
        policy_.strategy = {"cost", {}};
        cloud_.add_host("h1", Resources{{"VCPU", 8}});
        cloud_.add_server("s1", "h1", "spot", Resources{{"VCPU", 1}});
        cloud_.add_server("s2", "h1", "regular", Resources{{"VCPU", 1}});
    }
    Task<bool> check(const Report& report) {
        co_await check_cloud(cloud_.ports(), session_, policy_, report);
        co_return true;
    }
    void run() {
        const Report report = [this](Finding finding) { findings_.push_back(std::move(finding)); };
        run_task(io_, check(report));
    }
    const Finding* find(const std::string& what) const {
        const auto found = std::find_if(findings_.begin(), findings_.end(),
                                        [&](const Finding& f) { return f.what == what; });
        return found == findings_.end() ? nullptr : &*found;
    }
    void expect(const std::string& what, Verdict verdict) const {
        const Finding* const finding = find(what);
        ASSERT_NE(finding, nullptr) << what;
        EXPECT_EQ(finding->verdict, verdict) << to_line(*finding, false);
    }

    config::Policy policy_;
    test::FakeClock clock_;
    test::FakeCloud cloud_{clock_};
    FakeSession session_;
    boost::asio::io_context io_{1};
    std::vector<Finding> findings_;
};

TEST_F(CheckCloud, TellsWhereRevocableDemandMayTakeFreedRoom) {
    run();
    expect("freed room", Verdict::ok);
    findings_.clear();
    cloud_.add_requester("waiting", "spot", Flavor{});
    cloud_.server_at("waiting").record.server.created = clock_.now();
    run();
    expect("freed room", Verdict::warn);
    EXPECT_NE(find("freed room")->detail.find("'resource'"), std::string::npos);
    findings_.clear();
    policy_.taggers = {{"resource", {}}};
    run();
    expect("freed room", Verdict::ok);
}

TEST_F(CheckCloud, TellsRevocableDemandByFlavorsToo) {
    policy_.taggers = {{"flavor", {{"key", std::string{"spot"}}, {"value", std::string{"yes"}}}}};
    Flavor flavor;
    cloud_.add_requester("waiting", "regular", flavor);
    cloud_.server_at("waiting").record.server.created = clock_.now();
    run();
    expect("freed room", Verdict::ok);
    findings_.clear();
    cloud_.server_at("waiting").record.flavor.extra_specs["spot"] = "yes";
    run();
    expect("freed room", Verdict::warn);
}

TEST_F(CheckCloud, AWorkingCloudHasNoFailure) {
    run();
    for (const Finding& finding : findings_)
        EXPECT_EQ(finding.verdict, finding.what == "right to delete" ? Verdict::info : Verdict::ok)
            << to_line(finding, false);
    EXPECT_GE(findings_.size(), 10U);
}

TEST(CheckLimits, TellsWhatMayBeDeletedAndWarnsWhereNothingBoundsIt) {
    std::vector<Finding> findings;
    const auto report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    SafeguardSettings safeguards;
    check_limits(safeguards, report);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].verdict, Verdict::ok);
    EXPECT_EQ(findings[0].detail,
              "one request: at most 100 victims and 25 % of all revocable servers (or 50); the "
              "requests of one project within 1h: at most 50 % of all revocable servers (or 50)");
    findings.clear();
    safeguards.limits = {
        .victims_per_request = 0, .share_per_request = 0, .share_per_requester = 0};
    safeguards.short_lived.allowance = 0;
    check_limits(safeguards, report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].verdict, Verdict::warn);
    EXPECT_EQ(findings[1].verdict, Verdict::warn);
    EXPECT_NE(findings[1].detail.find("short_lived.allowance is 0"), std::string::npos);
}

TEST(CheckDuties, TellsOfThoseThatAreOn) {
    std::vector<Finding> findings;
    const auto report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    DutySettings duties;
    check_duties(duties, report);
    EXPECT_TRUE(findings.empty());
    duties.watermark.marks = {{ResourceClass{"VCPU"}, 90, 80}};
    duties.life_span.after = std::chrono::hours{24};
    check_duties(duties, report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].detail,
              "VCPU above 90 % used: servers go until 80 %; not again before 30min");
    EXPECT_EQ(findings[1].detail, "servers end after 1d; 300 an hour at most");
    duties = {};
    duties.life_span.taggers = {{"project", std::chrono::hours{48}}, {"resource", {}}};
    duties.life_span.flavor_key = "reaper:life_span";
    check_duties(duties, report);
    ASSERT_EQ(findings.size(), 3U);
    EXPECT_EQ(
        findings[2].detail,
        "servers do not end, those of tagger project end after 2d, those of tagger resource do "
        "not end, where a flavor has reaper:life_span they end as it says; 300 an hour at most");
}

TEST_F(CheckCloud, NothingIsWritten) {
    run();
    EXPECT_EQ(cloud_.count("DELETE"), 0U);
    EXPECT_EQ(cloud_.count("forceDelete"), 0U);
}

TEST_F(CheckCloud, RefusedCredentialsEndTheQuestions) {
    session_.refused = Error{Errc::unauthorized, "keystone: the password is refused"};
    run();
    expect("keystone", Verdict::fail);
    expect("placement, nova", Verdict::fail);
    EXPECT_TRUE(cloud_.calls.empty());
}

TEST_F(CheckCloud, WithoutTheAdminRoleTheRightToDeleteIsNotCertain) {
    session_.roles = {"member"};
    run();
    expect("right to delete", Verdict::warn);
}

TEST_F(CheckCloud, NoTaggedProjectIsAFailureWithTheCommandThatFixesIt) {
    cloud_.tagged.clear();
    run();
    expect("projects tagged 'preemptible'", Verdict::fail);
    EXPECT_NE(find("projects tagged 'preemptible'")->detail.find("--tag preemptible"),
              std::string::npos);
}

TEST_F(CheckCloud, FlavorsThatMakeServersRevocableAreNamed) {
    policy_.taggers.push_back({"flavor", {}});
    run();
    expect("flavors with reaper:revocable=true", Verdict::warn);
    findings_.clear();
    cloud_.server_at("s2").record.flavor.name = "cheap";
    cloud_.server_at("s2").record.flavor.extra_specs = {{"reaper:revocable", "True"}};
    run();
    expect("flavors with reaper:revocable=true", Verdict::ok);
    EXPECT_EQ(find("flavors with reaper:revocable=true")->detail, "cheap, of 1 server");
}

TEST_F(CheckCloud, AMissingRightIsNamedAndTheOtherChecksGoOn) {
    cloud_.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::forbidden, "nova: 403, the admin role is missing"};
    };
    run();
    expect("servers of all projects", Verdict::fail);
    EXPECT_EQ(find("servers of all projects")->detail, "nova: 403, the admin role is missing");
    expect("hypervisors", Verdict::ok);
}

TEST_F(CheckCloud, AggregatesThatAreWatchedMustBeThere) {
    cloud_.host_aggregates = {{"u-1", "east", {"h1"}, {}}, {"u-2", "empty", {}, {}}};
    policy_.scheduler.watched_aggregates = {"east|U-2"};
    run();
    EXPECT_EQ(find("watched_aggregates")->detail, "'east': 1 host");
    findings_.clear();
    policy_.scheduler.watched_aggregates = {"u-2"};
    run();
    expect("watched_aggregates", Verdict::warn);
    findings_.clear();
    policy_.scheduler.watched_aggregates = {"nowhere"};
    run();
    expect("watched_aggregates", Verdict::fail);
    EXPECT_NE(find("watched_aggregates")->detail.find("'nowhere'"), std::string::npos);
}

/// Nova has the service of a host that it has not discovered, and no hypervisor.
TEST_F(CheckCloud, AHostThatIsNoHypervisorIsReported) {
    cloud_.add_host("h2", Resources{{"VCPU", 8}});
    cloud_.undiscovered.insert("h2");
    run();
    const auto told = std::find_if(findings_.begin(), findings_.end(), [](const Finding& finding) {
        return finding.verdict == Verdict::warn && finding.what == "compute services";
    });
    ASSERT_NE(told, findings_.end());
    EXPECT_EQ(told->detail.find("1 host is not among the hypervisors: h2; "), 0U) << told->detail;
}

TEST_F(CheckCloud, CellsThatShowAndAreNotToldAreAWarning) {
    run();
    expect("cells", Verdict::ok);
    findings_.clear();
    cloud_.numbers.services = {{"h1", 3}, {"h2", 3}};
    run();
    expect("cells", Verdict::warn);
    EXPECT_NE(find("cells")->detail.find("'h1' and 'h2' have the same number, 3"),
              std::string::npos)
        << find("cells")->detail;
}

TEST_F(CheckCloud, ConfiguredCellsAreComparedWithTheCloud) {
    cloud_.add_host("h2", Resources{{"VCPU", 8}});
    cloud_.host_aggregates = {{"u-1", "rack", {"h2"}, {}}};
    policy_.scheduler.cells = {{"a", {"h1"}, {}, false}, {"b", {}, {"rack"}, true}};
    cloud_.numbers.services = {{"h1", 3}, {"h2", 3}};
    run();
    expect("cells", Verdict::ok);
    EXPECT_EQ(find("cells")->detail, "'a': 1 host");
    EXPECT_FALSE(any_failed(findings_));

    const auto failure = [&](std::vector<Cell> cells) {
        policy_.scheduler.cells = std::move(cells);
        findings_.clear();
        run();
        for (const Finding& finding : findings_)
            if (finding.what == "cells" && finding.verdict == Verdict::fail) return finding.detail;
        return std::string{"no failure"};
    };
    EXPECT_NE(failure({{"a", {"h*"}, {}, false}}).find("'h1' and 'h2' can't both be in cell 'a'"),
              std::string::npos);
    EXPECT_NE(failure({{"a", {"h1"}, {}, false}}).find("1 host in no known cell"),
              std::string::npos);
    EXPECT_NE(failure({{"a", {"h1"}, {"nowhere"}, false}}).find("no aggregate 'nowhere'"),
              std::string::npos);
}

TEST_F(CheckCloud, EveryNameOfTheConfigurationIsLookedUp) {
    cloud_.project_names = {{"Default/gold", "77cb"}};
    cloud_.no_projects = {"gould", "lrage"};
    cloud_.flavors["f-large"].name = "large";
    policy_.safeguards.protect.projects = {"Default/gold"};
    policy_.strategy.parameters = {{"priorities", std::vector<std::string>{"large=5"}}};
    run();
    expect("protect.projects", Verdict::ok);
    expect("strategy.priorities", Verdict::ok);
    findings_.clear();
    policy_.safeguards.protect.projects = {"gould"};
    policy_.strategy.parameters = {{"priorities", std::vector<std::string>{"lrage=5"}},
                                   {"work_class", std::string{"VCPUS"}}};
    run();
    expect("protect.projects", Verdict::fail);
    EXPECT_NE(find("protect.projects")->detail.find("no server is deleted until it is found"),
              std::string::npos);
    expect("strategy.priorities", Verdict::fail);
    expect("strategy.work_class", Verdict::fail);
}

TEST_F(CheckCloud, AServerThatIsListedAndNotShownIsAFailure) {
    run();
    expect("servers of other projects", Verdict::ok);
    findings_.clear();
    cloud_.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("server s")) return std::nullopt;
        return Error{Errc::forbidden, "nova: 404, though listed: context_is_admin"};
    };
    run();
    expect("servers of other projects", Verdict::fail);
    EXPECT_NE(find("servers of other projects")->detail.find("context_is_admin"),
              std::string::npos);
}

TEST_F(CheckCloud, WhereOwnersMayRefuseItWarns) {
    run();
    EXPECT_EQ(find("protect.owners"), nullptr);
    findings_.clear();
    policy_.safeguards.protect.owners = true;
    run();
    expect("protect.owners", Verdict::warn);
    EXPECT_NE(find("protect.owners")->detail.find("can refuse"), std::string::npos);
}

TEST_F(CheckCloud, ItCountsLocksThatNovaDoesNotExplain) {
    cloud_.lock("s1", "spot");
    cloud_.lock("s2", "admin");
    run();
    expect("locked servers", Verdict::ok);
    EXPECT_EQ(find("locked servers")->detail, "2 servers, 1 by an administrator");
    findings_.clear();
    cloud_.histories.erase(ServerId{"s1"});
    run();
    expect("locked servers", Verdict::warn);
    EXPECT_NE(find("locked servers")->detail.find("of 1 Nova does not tell"), std::string::npos);
}

TEST_F(CheckCloud, MissingFlavorsAndAggregatesProtectNothingAndAreReported) {
    policy_.safeguards.protect.flavors = {"gold"};
    policy_.safeguards.protect.aggregates = {"quiet"};
    run();
    expect("protect.flavors", Verdict::fail);
    expect("protect.aggregates", Verdict::fail);
    findings_.clear();
    cloud_.flavors["f"].name = "gold";
    cloud_.host_aggregates = {{"u", "quiet", {"h1"}, {}}};
    run();
    expect("protect.flavors", Verdict::ok);
    expect("protect.aggregates", Verdict::ok);
}

TEST_F(CheckCloud, ATagInAnotherCaseProtectsNothingAndIsReported) {
    policy_.safeguards.protect.owners = true;
    cloud_.server_at("s1").record.server.tags = std::set<std::string>{"Reaper-Protected"};
    run();
    expect("protect.tags 'reaper-protected'", Verdict::warn);
    findings_.clear();
    cloud_.server_at("s1").record.server.tags = std::set<std::string>{"reaper-protected"};
    run();
    expect("protect.tags 'reaper-protected'", Verdict::ok);
    EXPECT_EQ(find("protect.tags 'reaper-protected'")->detail, "1 server carries it");
}

TEST_F(CheckCloud, ServersOfOneProjectAloneAreDoubtful) {
    cloud_.remove("s2");
    run();
    expect("servers of all projects", Verdict::warn);
}

TEST_F(CheckCloud, WhereReservationsAreKeptAndForWhom) {
    config::Reservations settings;
    const Report report = [this](Finding finding) { findings_.push_back(std::move(finding)); };
    const auto ask = [&] {
        findings_.clear();
        return run_task(io_, check_reservations(cloud_.ports(), settings, report));
    };
    EXPECT_TRUE(ask());
    EXPECT_TRUE(findings_.empty()) << "none are asked for";
    settings.enabled = true;
    EXPECT_TRUE(ask());
    expect("reservations", Verdict::ok);
    expect("roles", Verdict::warn);
    settings.roles = {{Role::parse("eng").value(), {"web", "wbe"}}};
    cloud_.no_projects = {"wbe"};
    EXPECT_FALSE(ask());
    expect("roles", Verdict::fail);
    EXPECT_NE(find("roles")->detail.find("role eng"), std::string::npos);
    cloud_.no_projects = {};
    EXPECT_TRUE(ask());
    expect("roles", Verdict::ok);
    cloud_.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("room ")) return std::nullopt;
        return Error{Errc::not_found, "no such provider"};
    };
    EXPECT_FALSE(ask());
    expect("reservations", Verdict::fail);
    EXPECT_NE(find("reservations")->detail.find("setup reservations --apply"), std::string::npos);
}

TEST(CheckBroker, TellsHowMuchMemoryMessagesMayTake) {
    const auto said = [](int prefetch) {
        config::Broker broker;
        if (prefetch > 0) broker.prefetch = prefetch;
        std::string detail;
        check_broker_use(broker, BrokerReport{}, [&](const Finding& finding) {
            if (finding.what == "broker.prefetch") detail = finding.detail;
        });
        return detail;
    };
    EXPECT_EQ(said(0), "");
    EXPECT_NE(said(1'000).find("1000 MiB of memory"), std::string::npos);
}

TEST(CheckBroker, TellsWhatIsMissing) {
    config::Broker broker;
    BrokerReport found;
    found.broker = "amqp://h:5672/";
    found.product = "RabbitMQ 4.0.5";
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_broker(broker, found, report);
    ASSERT_EQ(findings.size(), 5U);
    EXPECT_EQ(findings[0].verdict, Verdict::ok);
    EXPECT_EQ(findings[0].detail, "RabbitMQ 4.0.5 at amqp://h:5672/");
    EXPECT_EQ(findings[1].verdict, Verdict::fail) << "no exchange";
    EXPECT_EQ(findings[2].verdict, Verdict::ok) << "no queue yet";

    findings.clear();
    found.exchange_exists = true;
    found.queue = QueueReport{5, 0};
    found.dead_letter = QueueReport{2, 0};
    check_broker(broker, found, report);
    ASSERT_EQ(findings.size(), 6U);
    EXPECT_EQ(findings[2].verdict, Verdict::warn) << "messages and no consumer";
    EXPECT_EQ(findings[3].verdict, Verdict::warn) << "dead letters";

    findings.clear();
    found.queue = QueueReport{5, 0};  // the broker gives them to it soon
    found.serving = QueueReport{0, 1};
    check_broker(broker, found, report);
    EXPECT_EQ(findings[2].verdict, Verdict::ok);
    EXPECT_EQ(findings[2].detail, "5 messages wait, a reaper is connected");
}

/// Nova fills queues of its own, which getting-started.md bounds.
TEST(CheckBroker, AQueueOfNovaWithoutAConsumerIsReported) {
    BrokerReport found;
    found.novas_queues = {{"notifications.info", {90'000, 1}},
                          {"versioned_notifications.error", {999, 0}},
                          {"versioned_notifications.info", {1'001, 0}}};
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_broker(config::Broker(), found, report);
    ASSERT_EQ(findings.size(), 7U);
    EXPECT_EQ(findings[3].what, "queue 'versioned_notifications.error'");
    EXPECT_EQ(findings[3].verdict, Verdict::warn) << "no bound is visible";
    EXPECT_NE(findings[3].detail.find("list_operator_policies"), std::string::npos);
    EXPECT_EQ(findings[4].what, "queue 'versioned_notifications.info'");
    EXPECT_EQ(findings[4].verdict, Verdict::warn);
    // The same command as the manual's, but for the virtual host.
    std::string command = findings[4].detail.substr(findings[4].detail.find("rabbitmqctl"));
    command.replace(command.find("VHOST"), 5, "/");
    std::ifstream file("deploy/docs/getting-started.md");
    const std::string manual{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(manual.find("\n" + command + "\n"), std::string::npos) << command;

    // A full one shows the bound of its topic.
    findings.clear();
    found.novas_queues[2].report.messages = 1'000;
    check_broker(config::Broker(), found, report);
    ASSERT_EQ(findings.size(), 7U);
    EXPECT_EQ(findings[3].verdict, Verdict::ok) << findings[3].detail;
    EXPECT_EQ(findings[4].verdict, Verdict::ok) << findings[4].detail;
}

/// RabbitMQ since 4.2.6 shows only what the user has a right to.
TEST(CheckBroker, WhatTheBrokerDoesNotShowIsNoProblem) {
    config::Broker broker;
    BrokerReport found;
    found.exchange_hidden = true;
    for (const std::string& topic : broker.topics)
        for (const char* const priority : {".info", ".warn", ".error"})
            found.hidden_queues.push_back(topic + priority);
    std::vector<Finding> findings;
    check_broker(broker, found, [&](Finding finding) { findings.push_back(std::move(finding)); });
    ASSERT_EQ(findings.size(), 6U);
    EXPECT_EQ(findings[1].what, "exchange 'nova'");
    EXPECT_EQ(findings[1].verdict, Verdict::info);
    EXPECT_EQ(findings[3].what, "Nova's queues");
    EXPECT_EQ(findings[3].verdict, Verdict::info);
    EXPECT_NE(findings[3].detail.find("list_operator_policies"), std::string::npos);
    EXPECT_EQ(findings[5].verdict, Verdict::info) << "a topic that may be used or not";
}

/// A second policy of the same name would take the place of the first one.
TEST(CheckBroker, OnePolicyBoundsBothOfNovasTopics) {
    BrokerReport found;
    found.novas_queues = {{"notifications.info", {2'000, 0}},
                          {"versioned_notifications.info", {2'000, 0}},
                          {"other.info", {2'000, 0}}};
    std::vector<std::string> commands;
    check_broker(config::Broker(), found, [&](const Finding& finding) {
        const auto at = finding.detail.find("rabbitmqctl set_operator_policy");
        if (at != std::string::npos) commands.push_back(finding.detail.substr(at));
    });
    ASSERT_EQ(commands.size(), 3U);
    EXPECT_EQ(commands[0], commands[1]);
    EXPECT_NE(commands[2].find(" novas-other '^other"), std::string::npos) << commands[2];
}

TEST(CheckBroker, MissingRightsAndStrangeTopicsAreReported) {
    config::Broker broker;
    broker.topics = {"versioned_notification"};
    BrokerReport found;
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_broker_use(broker, found, report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].verdict, Verdict::ok);
    EXPECT_EQ(findings[1].verdict, Verdict::ok) << "a service publishes on it";

    findings.clear();
    found.missing_rights = {"the user lacks the right configure on queue 'q'"};
    found.unheard_topics = broker.topics;
    check_broker_use(broker, found, report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].verdict, Verdict::fail);
    EXPECT_EQ(findings[1].verdict, Verdict::warn) << "no service publishes yet";

    findings.clear();
    found.usual_topic_heard = true;
    check_broker_use(broker, found, report);
    EXPECT_EQ(findings[1].verdict, Verdict::fail);
    EXPECT_NE(findings[1].detail.find("versioned_notifications_topics"), std::string::npos);
}

TEST_F(CheckCloud, TheAssumedSchedulerSettingsAreReported) {
    cloud_.nova_release = NovaRelease::r2024_2;
    session_.newest_compute = "2.96";
    run();
    const auto details = [&] {
        std::string text;
        for (const Finding& finding : findings_)
            if (finding.what == "scheduler") text += to_line(finding, false);
        return text;
    };
    EXPECT_NE(details().find("ok   scheduler: Nova 2024.2, as its API has 2.96"), std::string::npos)
        << details();
    EXPECT_NE(details().find("own_aggregates off, tenant_filter off"), std::string::npos);
    EXPECT_NE(details().find("pcpu_fallback off"), std::string::npos);

    // What aggregates carry is hardly there for nothing.
    cloud_.host_aggregates = {{"u1", "theirs", {}, {{"filter_tenant_id_1", "p"}}},
                              {"u2", "fast", {}, {{"trait:CUSTOM_FAST", "required"}}}};
    findings_.clear();
    run();
    EXPECT_NE(details().find("warn scheduler: aggregate 'theirs' has filter_tenant_id"),
              std::string::npos)
        << details();
    EXPECT_NE(details().find("warn scheduler: aggregate 'fast' has trait:"), std::string::npos);
    policy_.scheduler.tenant_filter = policy_.scheduler.trait_isolation = true;
    policy_.scheduler.nova_release = "2025.1";
    findings_.clear();
    run();
    EXPECT_NE(details().find("warn scheduler: nova_release is 2025.1, but"), std::string::npos);
    session_.newest_compute = "2.100";
    findings_.clear();
    run();
    EXPECT_EQ(details().find("warn"), std::string::npos) << details();
    EXPECT_NE(details().find("Nova 2025.1, as configured"), std::string::npos);
}

TEST_F(CheckCloud, AFlavorThatAdmitsNoRoomIsReported) {
    const auto told = [&] {
        findings_.clear();
        run();
        std::string text;
        for (const Finding& finding : findings_)
            if (finding.what == "flavors") text += to_line(finding, false);
        return text;
    };
    Flavor flavor;
    flavor.name = "m1.none";
    flavor.extra_specs = {{"reaper:res_type", "~regular"}};
    cloud_.flavors = {{"1", flavor}};
    EXPECT_EQ(told(), "");
    cloud_.flavors.at("1").extra_specs = {{"reaper:res_type", "!=re*"}};
    const std::string line = told();
    EXPECT_NE(line.find("warn flavors: no server of 'm1.none' is helped"), std::string::npos)
        << line;
    EXPECT_NE(line.find("it leaves no kind of room"), std::string::npos) << line;
}

TEST(CheckJournal, AMissingDirectoryIsAFailure) {
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_journal({"/nonexistent/reaper/journal.db"}, report);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].verdict, Verdict::fail);
    EXPECT_NE(findings[0].detail.find("/nonexistent/reaper"), std::string::npos);
}

TEST(CheckJournal, AWritableDirectoryWillDo) {
    const test::TemporaryDirectory directory;
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_journal({directory.file("journal.db")}, report);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].verdict, Verdict::ok);
}

TEST(CheckJournal, AFileThatIsNoJournalIsAFailure) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.write("journal.db", "this is no database, by far");
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_journal({path}, report);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].verdict, Verdict::fail);
}

TEST(CheckList, LinesKeepControlCharactersOut) {
    EXPECT_EQ(to_line({Verdict::fail, "nova", "bad\x1b[2Jname"}, false),
              "FAIL nova: bad\\x1b[2Jname\n");
    EXPECT_EQ(to_line({Verdict::ok, "nova", "fine"}, false), "ok   nova: fine\n");
    EXPECT_EQ(to_line({Verdict::warn, "nova", "odd"}, false), "warn nova: odd\n");
}

TEST(CheckSwitch, WarnsWhereTheBreakerCouldNotKeepAPause) {
    std::vector<Finding> findings;
    const Report report = [&](Finding finding) { findings.push_back(std::move(finding)); };
    check_switch("/nowhere/at/all/paused", {}, report);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].verdict, Verdict::ok);
    EXPECT_EQ(findings[1].verdict, Verdict::warn);
    EXPECT_NE(findings[1].detail.find("may not write /nowhere/at/all/paused"), std::string::npos)
        << findings[1].detail;
}

}  // namespace
}  // namespace reaper::cli::check_test
