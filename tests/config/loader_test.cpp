#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/world.hpp"

namespace reaper::config::test::loader_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Loader, ReadsEveryKindOfValue) {
    World world;
    const Settings settings = world.good(minimal(R"(
http: {call_timeout: 90s, max_retries: 0, retry_backoff: 1500ms, max_body_mib: 2}
trigger:
  max_age: 2h
cull: {deadline: 7min, promise: 0s}
log: {level: debug, target: terminal}
journal: {path: /srv/j.db}
alternatives: 3
)"));
    EXPECT_EQ(settings.http.call_timeout, milliseconds{90'000});
    EXPECT_EQ(settings.http.max_retries, 0);
    EXPECT_EQ(settings.http.retry_backoff, milliseconds{1'500});
    EXPECT_EQ(settings.http.max_body_bytes, 2U * 1024 * 1024);
    EXPECT_EQ(settings.trigger.max_age, milliseconds{7'200'000});
    EXPECT_EQ(settings.cull.deadline, milliseconds{420'000});
    EXPECT_EQ(settings.cull.promise, milliseconds{0});
    EXPECT_EQ(settings.log.level, "debug");
    EXPECT_EQ(settings.journal.path, "/srv/j.db");
    EXPECT_EQ(settings.policy.alternatives, 3);
    EXPECT_EQ(settings.cloud.credentials.password.reveal(), "hidden-word");
    EXPECT_EQ(settings.cloud.credentials.user_domain_id, "default");
    EXPECT_TRUE(settings.cloud.endpoint_overrides.empty());
}

TEST(Loader, ASectionWithNothingInItIsItsDefaults) {
    World world;
    EXPECT_EQ(world.good(minimal("http:\ncull: {}\n")).http.max_retries, Http{}.max_retries);
}

TEST(Loader, AnchorsMayBeUsed) {
    World world;
    const Settings settings =
        world.good(minimal("http: {connect_timeout: &t 7s, retry_backoff: *t}\n"));
    EXPECT_EQ(settings.http.retry_backoff, milliseconds{7'000});
}

struct Mistake {
    const char* what;
    const char* text;   // after the minimal file: from line 9 on
    const char* error;  // all of its line
};

std::string name_of(const testing::TestParamInfo<Mistake>& mistake) {
    return mistake.param.what;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, GiveOneLine) {
    World world;
    EXPECT_THAT(world.errors(minimal(GetParam().text)), ElementsAre(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Loader, Mistakes,
    testing::Values(
        Mistake{"UnknownKeyNearAnother", "http:\n  max_retrys: 3\n",
                "reaper.yaml:10: http.max_retrys: unknown key; expected max_retries"},
        Mistake{"UnknownKeyFarFromAll", "journal: {banana: 3}\n",
                "reaper.yaml:9: journal.banana: unknown key; expected one of path, url, "
                "password_file, ca_file, tls, timeout"},
        Mistake{"UnknownSection", "brokr: {}\n",
                "reaper.yaml:9: brokr: unknown key; expected broker"},
        Mistake{"PathAsKey", "http.max_retries: 3\n",
                "reaper.yaml:9: http.max_retries: unknown key; expected one of modules, taggers, "
                "tagger_conflict, strategy, alternatives, dry_run, pause_file, start_within, "
                "watched_aggregates, "
                "host_cooldown, cloud, http, broker, trigger, cull, scheduler, protect, limits, "
                "thrash, breaker, project_breaker, shape_cooldown, short_lived, cache, labels, "
                "journal, record, admin, metrics, gateway, reservations, notice, shelve, "
                "watermark, life_span, oversubscription, log"},
        Mistake{"NoticeWithoutDuration", "notice: {periods: [m1.spot]}\n",
                "reaper.yaml:9: notice.periods[0]: is \"m1.spot\"; expected NAME=DURATION of 20min "
                "at most, such as m1.spot=2min"},
        Mistake{"NoticeTooLong", "notice: {periods: [m1.spot=1h]}\n",
                "reaper.yaml:9: notice.periods[0]: is \"m1.spot=1h\"; expected NAME=DURATION of "
                "20min at most, such as m1.spot=2min"},
        Mistake{"Duplicate", "http:\n  max_retries: 3\n  max_retries: 4\n",
                "reaper.yaml:11: http.max_retries: given twice (first on line 10); expected one"},
        Mistake{"TextForNumber", "http: {max_retries: many}\n",
                "reaper.yaml:9: http.max_retries: is \"many\"; expected a whole number from 0 to "
                "20"},
        Mistake{"FractionForNumber", "alternatives: 1.5\n",
                "reaper.yaml:9: alternatives: is \"1.5\"; expected a whole number from 1 to 1000"},
        Mistake{"NumberTooLarge", "broker_: 1\n",
                "reaper.yaml:9: broker_: unknown key; expected broker"},
        Mistake{"NoConnections", "http: {max_connections_per_endpoint: 0}\n",
                "reaper.yaml:9: http.max_connections_per_endpoint: is \"0\"; expected a whole "
                "number from 1 to 1000"},
        Mistake{"ListForNumber", "http: {max_retries: [1]}\n",
                "reaper.yaml:9: http.max_retries: is a list; expected a whole number from 0 to 20"},
        Mistake{"NoValue", "http:\n  max_retries:\n",
                "reaper.yaml:10: http.max_retries: has no value; expected a whole number from 0 "
                "to 20"},
        Mistake{"DurationWithoutUnit", "trigger: {max_age: 600}\n",
                "reaper.yaml:9: trigger.max_age: is \"600\"; expected a duration with its unit "
                "(500ms, 5min, 2h, 1d) from 1s to 168h"},
        Mistake{"NegativeDuration", "trigger: {max_age: -5s}\n",
                "reaper.yaml:9: trigger.max_age: is \"-5s\"; expected a duration with its unit "
                "(500ms, 5min, 2h, 1d) from 1s to 168h"},
        Mistake{"Overflow", "trigger: {max_age: 99999999999999999999h}\n",
                "reaper.yaml:9: trigger.max_age: is \"99999999999999999999h\"; expected a duration "
                "with its unit (500ms, 5min, 2h, 1d) from 1s to 168h"},
        Mistake{"BackoffAboveItsMaximum", "http:\n  retry_backoff: 20s\n",
                "reaper.yaml:10: http.retry_backoff: is 20s, more than http.retry_backoff_max "
                "(10s); expected at most as much"},
        Mistake{"MaximumBelowBackoff", "http:\n  retry_backoff: 2s\n  retry_backoff_max: 1s\n",
                "reaper.yaml:11: http.retry_backoff_max: is 1s, less than http.retry_backoff (2s); "
                "expected at least as much"},
        Mistake{"OddLevel", "log: {level: loud}\n",
                "reaper.yaml:9: log.level: is \"loud\"; expected one of trace, debug, info, "
                "warning, error"},
        Mistake{"SectionIsAList", "http: [1]\n",
                "reaper.yaml:9: http: not a mapping; expected a mapping of keys"},
        Mistake{"EmptyText", "journal: {path: ''}\n",
                "reaper.yaml:9: journal.path: is empty; expected a text of 1 to 4096 bytes"},
        Mistake{"ControlCharacter", "journal: {path: \"a\\eb\"}\n",
                "reaper.yaml:9: journal.path: has a control character in it; expected a text of 1 "
                "to 4096 bytes"},
        Mistake{"MergeKey", "http: {<<: {max_retries: 1}}\n",
                "reaper.yaml:9: http.<<: merge keys are not known here; expected plain keys"},
        Mistake{
            "AdminForAllAddresses", "admin: {listen: '0.0.0.0:8787'}\n",
            "reaper.yaml:9: admin.listen: is \"0.0.0.0:8787\", and clients do not authenticate; "
            "expected an address on loopback, such as 127.0.0.1:8787; or admin.auth"},
        Mistake{"TokensInTheClear", "admin: {listen: '0.0.0.0:8787', auth: keystone}\n",
                "reaper.yaml:9: admin.listen: is \"0.0.0.0:8787\" without TLS; expected an address "
                "on loopback, such as 127.0.0.1:8787; or admin.tls"},
        Mistake{"AdminByCertificatesWithoutClientCa",
                "admin: {listen: '127.0.0.1:8787', auth: certificate, principals: [ops]}\n",
                "reaper.yaml:9: admin.auth: is certificate, and none is demanded; expected "
                "admin.tls.client_ca_file, of which clients must show one"},
        Mistake{"OwnersWithoutTokens", "admin: {listen: '127.0.0.1:8787', owners: true}\n",
                "reaper.yaml:9: admin.owners: is true, and clients show no token of a project; "
                "expected admin.auth: keystone"},
        Mistake{
            "AdminForNoRole", "admin: {auth: keystone, roles: []}\n",
            "reaper.yaml:9: admin.roles: is an empty list; expected a list of texts, at least one"},
        Mistake{
            "AdminByName", "admin: {listen: 'localhost:8787'}\n",
            "reaper.yaml:9: admin.listen: is \"localhost:8787\"; expected an address and a port "
            "from 1 to 65535, such as 127.0.0.1:8787"},
        Mistake{
            "AdminWithoutPort", "admin: {listen: 127.0.0.1}\n",
            "reaper.yaml:9: admin.listen: is \"127.0.0.1\"; expected an address and a port from "
            "1 to 65535, such as 127.0.0.1:8787"},
        Mistake{"AdminOnNoPort", "admin: {listen: '127.0.0.1:0'}\n",
                "reaper.yaml:9: admin.listen: is \"127.0.0.1:0\"; expected an address and a port "
                "from 1 to 65535, such as 127.0.0.1:8787"},
        Mistake{"MetricsByName", "metrics: {listen: 'localhost:9787'}\n",
                "reaper.yaml:9: metrics.listen: is \"localhost:9787\"; expected an address and a "
                "port from 1 to 65535, such as 127.0.0.1:9787"},
        Mistake{"MetricsWhereTheApiIs",
                "admin: {listen: '127.0.0.1:8787'}\nmetrics: {listen: '127.0.0.1:8787'}\n",
                "reaper.yaml:10: metrics.listen: is that of admin.listen; expected a port of its "
                "own, such as 127.0.0.1:9787"},
        Mistake{"GatewayByName", "gateway: {listen: 'localhost:8780'}\n",
                "reaper.yaml:9: gateway.listen: is \"localhost:8780\"; expected an address and a "
                "port from 1 to 65535, such as 127.0.0.1:8780"},
        Mistake{"GatewayWithoutPort", "gateway: {listen: '[::1]'}\n",
                "reaper.yaml:9: gateway.listen: is \"[::1]\"; expected an address and a port from "
                "1 to 65535, such as 127.0.0.1:8780"},
        Mistake{
            "GatewayToItself",
            "gateway: {listen: '127.0.0.1:8780', placement_url: 'http://localhost:8780/x'}\n",
            "reaper.yaml:9: gateway.placement_url: is the gateway itself; expected the endpoint "
            "of Placement"},
        Mistake{"GatewayToAQuery",
                "gateway: {listen: '0.0.0.0:8780', placement_url: 'http://a/b?c'}\n",
                "reaper.yaml:9: gateway.placement_url: has a query or a fragment; expected "
                "Placement's endpoint, such as http://controller:8778/placement"},
        Mistake{"GatewayWithHalfAPath",
                "gateway: {listen: '0.0.0.0:8780', path_prefix: placement}\n",
                "reaper.yaml:9: gateway.path_prefix: is \"placement\"; expected a path such as "
                "/placement, or /"},
        Mistake{"GatewayWithoutConnections",
                "gateway: {listen: '0.0.0.0:8780', max_connections: 0}\n",
                "reaper.yaml:9: gateway.max_connections: is \"0\"; expected a whole number from 1 "
                "to 100000"},
        Mistake{"PromiseBeyondTheWatch", "cull: {promise: 20min}\n",
                "reaper.yaml:9: cull.promise: is 20min, more than cull.watch (15min); expected at "
                "most as much"},
        Mistake{"WatchWithinThePromise", "cull: {watch: 30s}\n",
                "reaper.yaml:9: cull.watch: is 30s, less than cull.promise (1min); expected at "
                "least as much"},
        Mistake{"TopicOfUnversionedMessages", "  topics: [notifications]\n",
                "reaper.yaml:9: broker.topics[0]: is the topic of Nova's unversioned "
                "notifications, which say too little; expected that of "
                "versioned_notifications_topics in nova.conf, as a rule versioned_notifications"},
        Mistake{"RoutingKeyForTopic", "  topics: [versioned_notifications.error]\n",
                "reaper.yaml:9: broker.topics[0]: is a routing key, "
                "\"versioned_notifications.error\": the topic is without its end; expected that of "
                "versioned_notifications_topics in nova.conf, as a rule versioned_notifications"},
        Mistake{"PatternForTopic", "  topics: ['#']\n",
                "reaper.yaml:9: broker.topics[0]: is a pattern; expected that of "
                "versioned_notifications_topics in nova.conf, as a rule versioned_notifications"},
        Mistake{"PauseFileThatDependsOnTheFolder", "pause_file: paused\n",
                "reaper.yaml:9: pause_file: is \"paused\"; expected an absolute path"},
        Mistake{"JournalThatDependsOnTheFolder", "journal: {path: journal.db}\n",
                "reaper.yaml:9: journal.path: is \"journal.db\"; expected an absolute path"},
        Mistake{"OddConflict", "tagger_conflict: some\n",
                "reaper.yaml:9: tagger_conflict: is \"some\"; expected one of any, first, all"},
        Mistake{"FlavorKeyThatNovaCannotHave", "taggers:\n  - name: flavor\n    key: a=b\n",
                "reaper.yaml:11: taggers[0].key: impossible value; expected 1 to 255 letters, "
                "digits, spaces and _ - . :, as Nova has"},
        Mistake{"UnknownParameter", "taggers:\n  - name: project\n    tagg: x\n",
                "reaper.yaml:11: taggers[0].tagg: unknown key; expected tag"},
        Mistake{"NoTaggers", "taggers: []\n",
                "reaper.yaml:9: taggers: is an empty list; expected a list of mappings with "
                "`name`, at least one"}),
    name_of);

TEST(Loader, AllMistakesComeAtOnceInTheOrderOfTheLines) {
    World world;
    const auto errors = world.errors(
        "log: {level: loud}\n"
        "http:\n"
        "  max_retries: x\n"
        "  nonsense_here: 1\n"
        "alternatives: 0\n");
    ASSERT_EQ(errors.size(), 7U);
    EXPECT_THAT(errors[0], HasSubstr("reaper.yaml: "));  // what is missing has no line
    EXPECT_THAT(errors[1], HasSubstr("reaper.yaml: "));
    EXPECT_THAT(errors[2], HasSubstr("reaper.yaml: "));
    EXPECT_THAT(errors[3], HasSubstr("reaper.yaml:1: log.level"));
    EXPECT_THAT(errors[4], HasSubstr("reaper.yaml:3: http.max_retries"));
    EXPECT_THAT(errors[5], HasSubstr("reaper.yaml:4: http.nonsense_here"));
    EXPECT_THAT(errors[6], HasSubstr("reaper.yaml:5: alternatives"));
}

TEST(Loader, WhoIsRevocableIsWrittenNotAssumed) {
    World world;
    std::string text = minimal();
    text.resize(text.find("taggers"));
    EXPECT_THAT(world.errors(text),
                ElementsAre(HasSubstr("reaper.yaml: taggers: is missing: nothing says which "
                                      "servers are revocable; expected a list such as")));
}

TEST(Loader, TheJournalAndThePauseAreKnownWhateverElseIsWrong) {
    World world;
    world.files["/etc/reaper/reaper.yaml"] = {
        "cloud: {name: mycloud}\n"
        "broker: {urls_file: /run/credentials/reaper.service/urls}\n"
        "nonsense: 1\n"
        "pause_file: /srv/paused\n"
        "journal: {path: /srv/j.db}\n"
        "admin: {socket: /srv/admin.sock, look_socket: /srv/look.sock}\n",
        false};
    const auto loaded = load_local("/etc/reaper/reaper.yaml", world.environment());
    const auto* const local = std::get_if<LocalSettings>(&loaded);
    ASSERT_NE(local, nullptr);
    EXPECT_EQ(local->pause_file, "/srv/paused");
    EXPECT_EQ(local->journal.path, "/srv/j.db");
    EXPECT_EQ(local->admin.socket, "/srv/admin.sock");
    EXPECT_EQ(local->admin.asked_socket(), "/srv/admin.sock");
    Admin admin = local->admin;
    admin.socket.clear();
    EXPECT_EQ(admin.asked_socket(), "/srv/look.sock");
    EXPECT_THAT(local->broker_unknown, HasSubstr("broker.urls_file"));
}

/// Else a daemon that is switched on would take what was only planned for its own past.
TEST(Loader, ADryRunKeepsItsJournalAndRecordingApart) {
    World world;
    const std::string text = "dry_run: true\njournal: {path: /srv/j.db}\n";
    const Settings settings = world.good(minimal(text));
    EXPECT_TRUE(settings.dry_run);
    EXPECT_EQ(settings.journal.path, "/srv/dry-run.db");
    EXPECT_EQ(settings.record.directory, "/srv/dry-run");
    EXPECT_EQ(world.good(minimal("dry_run: true\n")).journal.path, "/var/lib/reaper/dry-run.db");
    EXPECT_EQ(world.good(minimal(text + "record: {directory: /srv/seen}\n")).record.directory,
              "/srv/seen");
    EXPECT_EQ(world.good(minimal("journal: {path: /srv/j.db}\n")).record.directory, "");
    world.files["/d.yaml"] = {text, false};
    const auto loaded = load_local("/d.yaml", world.environment());
    const auto* const local = std::get_if<LocalSettings>(&loaded);
    ASSERT_NE(local, nullptr);
    EXPECT_TRUE(local->dry_run);
    EXPECT_EQ(local->journal.path, "/srv/dry-run.db");
    EXPECT_EQ(local->record.directory, "/srv/dry-run");
    world.files["/d.yaml"] = {"dry_run: perhaps\n", false};
    EXPECT_TRUE(std::holds_alternative<std::vector<ConfigError>>(
        load_local("/d.yaml", world.environment())));
}

TEST(Loader, WhatIsWrongWithTheJournalIsReportedWhereItIsNeeded) {
    World world;
    world.files["/r.yaml"] = {"journal: {path: j.db}\nalternatives: none\n", false};
    const auto loaded = load_local("/r.yaml", world.environment());
    const auto* const errors = std::get_if<std::vector<ConfigError>>(&loaded);
    ASSERT_NE(errors, nullptr);
    ASSERT_EQ(errors->size(), 1U);
    EXPECT_THAT(to_string(errors->front()), HasSubstr("/r.yaml:1: journal.path"));
}

TEST(Loader, AGatewayThatKnowsPlacementNeedsNothingElse) {
    World world;
    world.files["/g.yaml"] = {
        "gateway: {listen: '[::]:8780', placement_url: 'https://p/placement', path_prefix: /}\n"
        "cloud: {verify_tls: false}\n"
        "broker: nonsense\n"
        "log: {level: debug}\n",
        false};
    const auto loaded = load_gateway("/g.yaml", world.environment());
    const auto* const settings = std::get_if<GatewaySettings>(&loaded);
    ASSERT_NE(settings, nullptr);
    EXPECT_EQ(settings->gateway.listen, "[::]:8780");
    EXPECT_EQ(settings->gateway.placement_url, "https://p/placement");
    EXPECT_EQ(settings->gateway.path_prefix, "/");
    EXPECT_EQ(settings->gateway.max_connections, 512);
    EXPECT_EQ(settings->gateway.upstream_timeout, std::chrono::minutes{5});
    EXPECT_FALSE(settings->cloud.verify_tls);
    EXPECT_EQ(settings->log.level, "debug");
}

TEST(Loader, WhatAGatewayLacksIsReported) {
    World world;
    const auto mistakes = [&](const std::string& text) {
        world.files["/g.yaml"] = {text, false};
        const auto loaded = load_gateway("/g.yaml", world.environment());
        std::string told;
        if (const auto* const errors = std::get_if<std::vector<ConfigError>>(&loaded))
            for (const auto& error : *errors) told += to_string(error) + "\n";
        return told;
    };
    EXPECT_THAT(mistakes("log: {level: info}\n"), HasSubstr("cloud: has no credentials"));
    EXPECT_EQ(mistakes("gateway: {placement_url: 'http://p'}\n"),
              "/g.yaml: gateway.listen: is not there; expected IP:PORT, such as 127.0.0.1:8780\n");
    EXPECT_THAT(mistakes("gateway: {listen: '127.0.0.1:1'}\n"),
                HasSubstr("cloud: has no credentials"));
    EXPECT_EQ(mistakes("gateway: {listen: '127.0.0.1:1'}\ncloud: {endpoints: {placement: "
                       "'http://p'}}\n"),
              "");
    EXPECT_THAT(mistakes("gateway: {listen: '127.0.0.1:1', placement_url: 'http://p', tls: "
                         "{key_file: /none.pem}}\n"),
                HasSubstr("/g.yaml:1: gateway.tls.key_file: can't read"));
    EXPECT_THAT(mistakes("gateway: {listen: '127.0.0.1:1', placement_url: 'http://p'}\n"
                         "cloud: {ca_file: /none.pem}\n"),
                HasSubstr("/g.yaml:2: cloud.ca_file: can't read"));
}

/// A mount, a secret or a right may come later; a wrong word stays wrong.
TEST(Loader, MissingFilesAreDistinguishedFromMistakes) {
    World world;
    const auto only_files_are_missing = [&](const std::string& text) {
        const auto result = world.load(text);
        return only_unreadable(std::get<std::vector<ConfigError>>(result));
    };
    EXPECT_TRUE(only_files_are_missing(minimal("  ca_file: /none.pem\n")));
    EXPECT_TRUE(only_files_are_missing(
        "cloud: {name: mycloud}\nbroker: {urls_file: /none}\ntaggers: [project]\n"));
    EXPECT_FALSE(only_files_are_missing(minimal("  ca_file: /none.pem\n  prefetch: 0\n")));
    EXPECT_FALSE(only_files_are_missing(minimal("nonsense: 1\n")));
    const auto none = load_settings("/none.yaml", world.environment());
    EXPECT_TRUE(only_unreadable(std::get<std::vector<ConfigError>>(none)));
}

TEST(Loader, AnUnknownPluginIsReportedWithTheKnownOnes) {
    World world;
    EXPECT_THAT(
        world.errors(minimal("strategy: {name: strickt}\n")),
        ElementsAre(testing::AllOf(
            HasSubstr("reaper.yaml:9: strategy.name: unknown name \"strickt\"; expected one of"),
            HasSubstr("strict_time"), HasSubstr("chance"))));
    EXPECT_THAT(world.errors(minimal("taggers:\n  - name: colour\n")),
                ElementsAre(testing::AllOf(
                    HasSubstr("reaper.yaml:10: taggers[0].name: unknown name \"colour\""),
                    HasSubstr("project"))));
    EXPECT_THAT(world.errors(minimal("strategy:\n  max_steps: 3\n")),
                ElementsAre(HasSubstr("reaper.yaml:9: strategy: has no name")));
}

TEST(Loader, APluginsRefusalIsAnErrorOfItsLine) {
    World world;
    EXPECT_THAT(
        world.errors(minimal("strategy:\n  name: strict\n  leftover_order: [VCPU, VCPU]\n")),
        ElementsAre(HasSubstr("reaper.yaml:11: strategy.leftover_order")));
    EXPECT_THAT(world.errors(minimal("strategy:\n  name: strict\n  leftover_order: VCPU\n")),
                ElementsAre(HasSubstr("reaper.yaml:11: strategy.leftover_order: is not a list")));
}

TEST(Loader, ABareWordIsAPluginWithoutParameters) {
    World world;
    const Settings settings = world.good(minimal("strategy: strict\ntaggers: [project]\n"));
    EXPECT_EQ(settings.policy.strategy.name, "strict");
    EXPECT_FALSE(settings.policy.strategy.parameters.empty());
    EXPECT_EQ(settings.policy.taggers.at(0).name, "project");
}

TEST(Loader, OurQueueIsNeverNovas) {
    World world;
    const std::string text = minimal("  queue: versioned_notifications.error\n");
    EXPECT_THAT(world.errors(text),
                ElementsAre("reaper.yaml:9: broker.queue: is Nova's own queue; its messages are "
                            "for other programs; expected a name of our own, such as reaper"));
    EXPECT_THAT(world.errors(minimal("  queue: q\n  dead_letter_queue: q\n")),
                ElementsAre(HasSubstr("reaper.yaml:10: broker.dead_letter_queue: is the same")));
    EXPECT_THAT(world.errors(minimal("  queue: amq.mine\n")), ElementsAre(HasSubstr("amq.")));
}

TEST(Loader, AMessageIsOnePlainLineWhateverTheKey) {
    World world;
    const auto lines = world.errors(minimal("  \"hot\\e[31m\\nred\": 1\n"));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_THAT(lines[0], HasSubstr("broker.hot?[31m?red: unknown key"));
}

TEST(Loader, HeartbeatsAreWholeSeconds) {
    World world;
    EXPECT_THAT(world.errors(minimal("  heartbeat: 1500ms\n")),
                ElementsAre(HasSubstr("a multiple of 1s")));
    EXPECT_EQ(world.good(minimal("  heartbeat: 2min\n")).broker.heartbeat.count(), 120);
}

TEST(Loader, ACertificateNeedsItsKey) {
    World world;
    world.files["/c.pem"] = {"pem", true};
    world.files["/k.pem"] = {"pem", true};
    EXPECT_THAT(world.errors(minimal("  cert_file: /c.pem\n")),
                ElementsAre("reaper.yaml:9: broker.cert_file: is given without key_file; expected "
                            "both or none"));
    EXPECT_THAT(world.errors(minimal("  key_file: /k.pem\n")),
                ElementsAre(HasSubstr("is given without cert_file")));
    EXPECT_THAT(world.errors(minimal("  cert_file: /c.pem\n  key_file: /k.pem\n")), IsEmpty());
    EXPECT_THAT(world.warning_lines(),
                ElementsAre(HasSubstr("reaper.yaml:10: broker.key_file: everyone can read")));
    EXPECT_THAT(world.errors(minimal("  ca_file: /none.pem\n")),
                ElementsAre("reaper.yaml:9: broker.ca_file: can't read \"/none.pem\" (No such file "
                            "or directory); expected the path of a readable file"));
}

TEST(Loader, UncheckedCertificatesAreAWarning) {
    World world;
    world.good(minimal("  verify_tls: false\n"));
    EXPECT_THAT(world.warning_lines(), ElementsAre(HasSubstr("broker.verify_tls")));
}

TEST(Loader, BadDocumentsAreOneError) {
    World world;
    EXPECT_THAT(world.errors(""), ElementsAre(HasSubstr("reaper.yaml: the file is empty")));
    EXPECT_THAT(world.errors("# nothing\n"), ElementsAre(HasSubstr("the file is empty")));
    EXPECT_THAT(world.errors("- a\n- b\n"), ElementsAre(HasSubstr("reaper.yaml:1: not a mapping")));
    EXPECT_THAT(world.errors("a: [1, 2\nb: 3\n"), ElementsAre(HasSubstr("not valid YAML")));
    EXPECT_THAT(world.errors("a: *nowhere\n"), ElementsAre(HasSubstr("not valid YAML")));
    EXPECT_THAT(world.errors(minimal() + "---\na: 1\n"),
                ElementsAre(HasSubstr("more than one YAML document")));
    EXPECT_THAT(world.errors(std::string("a\0b", 3)), ElementsAre(HasSubstr("zero byte")));
    EXPECT_THAT(world.errors("{[a, b]: 1}\n"), testing::Contains(HasSubstr("not a word")));
}

TEST(Loader, HugeAndDeepDocumentsAreRefused) {
    World world;
    EXPECT_THAT(world.errors(std::string(1024 * 1024 + 1, '#')),
                ElementsAre(HasSubstr("larger than 1 MiB")));
    EXPECT_THAT(world.errors("a: " + std::string(100'000, '[')),
                ElementsAre(HasSubstr("nested too deeply")));
    std::string blocks;
    for (int i = 0; i < 60; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
    EXPECT_THAT(world.errors(blocks), ElementsAre(HasSubstr("nested too deeply")));
    std::string many = "a: [";
    for (int i = 0; i < 30'000; ++i) many += "1,";
    EXPECT_THAT(world.errors(many + "1]\n"), ElementsAre(HasSubstr("too many values")));
    EXPECT_THAT(world.errors("a: &a [*a, *a]\n"), Not(IsEmpty()));
}

TEST(Loader, AMissingFileIsOneError) {
    const World world;
    const auto result = load_settings("/none.yaml", world.environment());
    const auto& errors = std::get<std::vector<ConfigError>>(result);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_THAT(to_string(errors[0]), HasSubstr("/none.yaml: can't be read (No such file"));
}

TEST(Loader, HostileKeysAreSanitised) {
    World world;
    const auto errors = world.errors(minimal("\"\\e[2J" + std::string(500, 'x') + "\": 1\n"));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].find('\x1b'), std::string::npos);
    EXPECT_LT(errors[0].size(), 500U) << "the sections are listed, not the key";
}

}  // namespace
}  // namespace reaper::config::test::loader_test
