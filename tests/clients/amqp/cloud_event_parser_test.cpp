#include "reaper/notifications/cloud_event_parser.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reaper/model/time.hpp"
#include "tests/clients/amqp/recorded_messages.hpp"

namespace reaper::cloud_event_parser_test {
namespace {

using nlohmann::json;
using test::payload;
using test::read;
using test::recorded;

constexpr const char* create = "instance.create.end.json";
constexpr const char* update = "instance.update.json";
constexpr const char* gone = "instance.delete.end.json";

ParsedEvent parse(const std::string& body) {
    return CloudEventParser().parse(body);
}

template <class Event>
Event event(const std::string& body) {
    const ParsedEvent parsed = parse(body);
    if (const auto* bad = std::get_if<Malformed>(&parsed)) ADD_FAILURE() << bad->reason;
    const auto* found = std::get_if<CloudEvent>(&parsed);
    const auto* wanted = found ? std::get_if<Event>(found) : nullptr;
    if (!wanted) ADD_FAILURE() << "not such an event, but variant " << parsed.index();
    return wanted ? *wanted : Event{};
}

std::string reason(const std::string& body) {
    const ParsedEvent parsed = parse(body);
    const auto* bad = std::get_if<Malformed>(&parsed);
    if (!bad) ADD_FAILURE() << "was taken";
    return bad ? bad->reason : "";
}

std::string named(const char* event_type, const char* file = create) {
    return test::edited(file, [&](json& m) { m["event_type"] = event_type; });
}

/// A message about something else than a server, around this payload.
std::string other(const char* event_type, const json& data) {
    return test::edited(create, [&](json& m) {
        m["event_type"] = event_type;
        payload(m) = data;
    });
}

json service() {
    return {{"host", "host1"},
            {"binary", "nova-compute"},
            {"disabled", true},
            {"topic", "compute"},
            {"disabled_reason", "new fan"},
            {"availability_zone", nullptr},
            {"forced_down", true},
            {"report_count", 1},
            {"version", 61}};
}

TEST(CloudEventParser, ReadsACreatedServer) {
    const auto seen = event<ServerSeen>(read(recorded / create));
    const Server& server = seen.record.server;
    EXPECT_EQ(server.id, ServerId("f93a2447-2042-48d1-9ef2-90adfd9b917c"));
    EXPECT_EQ(server.name, "p3");
    EXPECT_EQ(server.project, ProjectId("63417a35f5c241e3bc4ee9a4c868079a"));
    EXPECT_EQ(server.host, "host03");
    EXPECT_EQ(seen.node, "host03");
    EXPECT_EQ(server.status, "ACTIVE");
    EXPECT_EQ(server.task_state, "");
    EXPECT_FALSE(server.locked);
    EXPECT_EQ(server.created, parse_time("2026-11-20T13:05:01Z"));
    EXPECT_EQ(server.launched, parse_time("2026-11-20T13:05:03Z"));
    EXPECT_EQ(server.flavor_name, "small");
    EXPECT_EQ(seen.record.flavor, (Flavor{"small", 2, 1024, 10, 0, 0, {}}));
    EXPECT_FALSE(seen.record.boot_from_volume);
    EXPECT_EQ(seen.at, parse_time("2026-11-20T13:05:04.074Z"));
}

TEST(CloudEventParser, ReadsAnUpdatedServerThatHasNoHostYet) {
    const auto seen = event<ServerSeen>(read(recorded / update));
    EXPECT_EQ(seen.record.server.status, "BUILD");
    EXPECT_EQ(seen.record.server.task_state, "scheduling");
    EXPECT_EQ(seen.record.server.host, "");
    EXPECT_EQ(seen.node, "");
    EXPECT_FALSE(seen.record.server.launched);
}

TEST(CloudEventParser, ReadsADeletedServer) {
    const auto left = event<ServerGone>(read(recorded / gone));
    EXPECT_EQ(left.id, ServerId("0bcf3f85-2942-491c-a644-bd78eb585028"));
    EXPECT_EQ(left.host, "host02");
    EXPECT_EQ(left.at, parse_time("2026-11-20T13:10:58.199Z"));
}

TEST(CloudEventParser, ReadsMetadataExtraSpecsLockAndVolumeBoot) {
    const auto seen = event<ServerSeen>(test::edited(create, [](json& m) {
        payload(m)["metadata"] = {{"a", "1"}, {"uuid", "not the server's"}};
        payload(m)["locked"] = true;
        payload(m)["image_uuid"] = "";
        payload(m)["display_name"] = "ä \"quoted\" \\ \U0001F600";
        auto& flavor = payload(m)["flavor"]["nova_object.data"];
        flavor["extra_specs"] = {{"resources1:CUSTOM_PREEMPTIBLE", "1"}, {"name", "not its"}};
        flavor["swap"] = 512;
    }));
    using Map = std::map<std::string, std::string>;
    EXPECT_EQ(seen.record.server.metadata, (Map{{"a", "1"}, {"uuid", "not the server's"}}));
    EXPECT_TRUE(seen.record.server.locked);
    EXPECT_TRUE(seen.record.boot_from_volume);
    EXPECT_EQ(seen.record.server.name, "ä \"quoted\" \\ \U0001F600");
    EXPECT_EQ(seen.record.flavor.swap_mb, 512);
    EXPECT_EQ(seen.record.flavor.name, "small");
    EXPECT_EQ(seen.record.server.flavor_extra_specs,
              (Map{{"resources1:CUSTOM_PREEMPTIBLE", "1"}, {"name", "not its"}}));
}

TEST(CloudEventParser, AFlavorBesidesTheServersOwnIsNotTaken) {
    const auto seen = event<ServerSeen>(test::edited(create, [](json& m) {
        m["event_type"] = "instance.resize_prep.end";
        json larger = payload(m)["flavor"];
        larger["nova_object.data"]["name"] = "larger";
        larger["nova_object.data"]["vcpus"] = 64;
        payload(m)["new_flavor"] = larger;
        payload(m)["task_state"] = "resize_prep";
    }));
    EXPECT_EQ(seen.record.flavor.name, "small");
    EXPECT_EQ(seen.record.flavor.vcpus, 2);
    EXPECT_EQ(seen.record.server.status, "RESIZE");
}

TEST(CloudEventParser, TheOrderOfMembersDoesNotMatter) {
    json inner =
        json::parse(json::parse(read(recorded / create)).at("oslo.message").get<std::string>());
    std::string turned = "{\"timestamp\":" + inner["timestamp"].dump() +
                         ",\"payload\":" + inner["payload"].dump() +
                         ",\"publisher_id\":" + inner["publisher_id"].dump() + ",\"event_type\":";
    EXPECT_EQ(event<ServerSeen>(turned + "\"instance.create.end\"}"),
              event<ServerSeen>(read(recorded / create)));
    EXPECT_EQ(parse(turned + "\"instance.exists\"}"), ParsedEvent(NoEvent{}));
}

TEST(CloudEventParser, TheBareFormMeansTheSame) {
    const std::string bare =
        json::parse(read(recorded / create)).at("oslo.message").get<std::string>();
    EXPECT_EQ(event<ServerSeen>(bare), event<ServerSeen>(read(recorded / create)));
}

TEST(CloudEventParser, EscapesOfTheEnvelopeAreUndone) {
    json outer = json::parse(read(recorded / create));
    const std::string ascii = outer.dump(-1, ' ', true);
    EXPECT_EQ(event<ServerSeen>(ascii), event<ServerSeen>(outer.dump(2)));
    const std::string body =
        R"({"oslo.version":"2.0","oslo.message":"\u007b\"event_type\":\"\u0069nstance.delete.end\",)"
        R"(\"payload\":{\"nova_object.data\":{\"host\":\"\\ud83d\\ude00\ud83d\ude00\/\",)"
        R"(\"uuid\":\"0bcf3f85-2942-491c-a644-bd78eb585028\"}},)"
        R"(\"timestamp\":\"2026-11-20 13:10:58\"}"})";
    EXPECT_EQ(event<ServerGone>(body).host, "\U0001F600\U0001F600/");
}

TEST(CloudEventParser, TakesEveryEventAfterWhichTheServerIsAnother) {
    for (const char* type : {"instance.update",
                             "instance.create.end",
                             "instance.resize.end",
                             "instance.resize_finish.end",
                             "instance.resize_confirm.end",
                             "instance.resize_revert.end",
                             "instance.live_migration_post_dest.end",
                             "instance.live_migration_rollback.end",
                             "instance.power_off.end",
                             "instance.power_on.end",
                             "instance.pause.end",
                             "instance.unpause.end",
                             "instance.suspend.end",
                             "instance.resume.end",
                             "instance.lock",
                             "instance.unlock",
                             "instance.rescue.end",
                             "instance.unrescue.end",
                             "instance.shelve.end",
                             "instance.shelve_offload.end",
                             "instance.unshelve.end",
                             "instance.rebuild.end",
                             "instance.soft_delete.end",
                             "instance.restore.end",
                             "instance.evacuate",
                             "instance.reboot.end"}) {
        EXPECT_EQ(event<ServerSeen>(named(type)).record.server.name, "p3") << type;
    }
}

/// By default Nova sends no `update` then, and until `delete.end` its room would not count as
/// coming: a server elsewhere would be deleted for nothing.
TEST(CloudEventParser, ADeletionThatBeginsIsSeen) {
    const auto seen = event<ServerSeen>(read(recorded / "instance.delete.start.json"));
    EXPECT_EQ(seen.record.server.host, "host02");
    EXPECT_TRUE(seen.record.server.being_deleted());
}

TEST(CloudEventParser, HalfASurrogatePairCostsNoMessage) {
    const auto with_half = [](const char* file, const std::function<void(json&)>& edit) {
        std::string body = test::edited(file, edit);
        return body.replace(body.find("HALF"), 4, R"(\\ud800)");
    };
    const auto seen = event<ServerSeen>(with_half(create, [](json& m) {
        payload(m)["metadata"] = {{"a", "HALF"}};
    }));
    EXPECT_EQ(seen.record.server.metadata.at("a"), "\uFFFD");
    EXPECT_EQ(event<Schedule>(with_half("scheduler.select_destinations.start.json",
                                        [](json& m) {
                                            payload(m)["scheduler_hints"] = {{"x", {"HALF"}}};
                                        })),
              event<Schedule>(read(recorded / "scheduler.select_destinations.start.json")));
}

TEST(CloudEventParser, IgnoresWhatChangesNothing) {
    for (const char* type :
         {"instance.create.start", "instance.exists", "instance.shutdown.start",
          "instance.snapshot.end", "instance.volume_attach.end", "instance.interface_attach.end",
          "instance.live_migration_post.end", "instance.live_migration_post.start", "instance.",
          "instance", "", "compute.instance.update", "aggregate.create.start",
          "aggregate.cache_images.end", "keypair.create.end", "service.", "scheduler.whatever"}) {
        EXPECT_EQ(parse(named(type)), ParsedEvent(NoEvent{})) << type;
    }
}

constexpr const char* search = "scheduler.select_destinations.start.json";

TEST(CloudEventParser, ReadsASearchForHosts) {
    const auto found = event<Schedule>(read(recorded / search));
    EXPECT_EQ(found.request, RequestId("req-1911c590-05c1-41ce-a4d9-a725613f5dc8"));
    EXPECT_EQ(found.server, ServerId("d35be809-acfa-4047-86dd-5a6543ac6c02"));
    EXPECT_EQ(found.project, ProjectId("63417a35f5c241e3bc4ee9a4c868079a"));
    EXPECT_EQ(found.placement, PlacementConstraints{});
    EXPECT_TRUE(found.ignored_hosts.empty());
    EXPECT_FALSE(found.ended);
    EXPECT_EQ(found.at, parse_time("2026-11-20 13:05:01.348474"));
    EXPECT_TRUE(event<Schedule>(read(recorded / "scheduler.select_destinations.end.json")).ended);
}

TEST(CloudEventParser, ReadsWhatASearchInsistsOn) {
    const std::string there = "d35be809-acfa-4047-86dd-5a6543ac6c01";
    const std::string apart = "d35be809-acfa-4047-86dd-5a6543ac6c02";
    const auto found = event<Schedule>(test::edited(search, [&](json& m) {
        json& spec = payload(m);
        spec["ignore_hosts"] = {"host09"};
        spec["scheduler_hints"] = {
            {"same_host", {there}}, {"different_host", {apart, "no uuid"}}, {"group", {"g"}}};
        spec["requested_destination"] = {
            {"nova_object.data",
             {{"host", "host01"}, {"node", nullptr}, {"aggregates", {"u1,u2", "u3"}}}}};
        spec["image"]["nova_object.data"]["properties"]["nova_object.data"]["traits_required"] = {
            "CUSTOM_A"};
    }));
    EXPECT_EQ(found.ignored_hosts, std::set<std::string>{"host09"});
    EXPECT_EQ(found.placement.only_hosts, std::set<std::string>{"host01"});
    EXPECT_EQ(found.placement.with, std::set<ServerId>{ServerId(there)});
    EXPECT_EQ(found.placement.apart_from, std::set<ServerId>{ServerId(apart)});
    const std::vector<std::set<std::string>> aggregates{{"u1", "u2"}, {"u3"}};
    EXPECT_EQ(found.placement.aggregates, aggregates);
    EXPECT_EQ(found.required_traits, std::set<Trait>{Trait("CUSTOM_A")});
}

TEST(CloudEventParser, ManyAggregatesOrALongHintCostNothingElseOfASearch) {
    const std::string there = "d35be809-acfa-4047-86dd-5a6543ac6c01";
    std::set<std::string> all;
    std::string joined;
    for (int i = 10; i < 17; ++i) {
        const std::string uuid = "d35be809-acfa-4047-86dd-5a6543ac6c" + std::to_string(i);
        all.insert(uuid);
        joined += (joined.empty() ? "" : ",") + uuid;
    }
    const auto found = event<Schedule>(test::edited(search, [&](json& m) {
        payload(m)["requested_destination"] = {{"nova_object.data", {{"aggregates", {joined}}}}};
        payload(m)["scheduler_hints"] = {{"same_host", {there, std::string(300, 'x')}}};
    }));
    EXPECT_EQ(found.placement.aggregates, std::vector<std::set<std::string>>{all});
    EXPECT_EQ(found.placement.with, std::set<ServerId>{ServerId(there)});
}

TEST(CloudEventParser, BesideWhatIsNoServerThereIsNoHost) {
    const auto beside = [](const json& hint) {
        return event<Schedule>(
                   test::edited(search,
                                [&](json& m) {
                                    payload(m)["scheduler_hints"] = {{"same_host", hint}};
                                }))
            .placement.with;
    };
    EXPECT_EQ(beside({"x"}), std::set<ServerId>{ServerId("no-server")});
    EXPECT_TRUE(beside({""}).empty());
    EXPECT_TRUE(beside(json::array()).empty());
}

TEST(CloudEventParser, AForcedHostOfASearchCountsMoreThanARequestedOne) {
    const auto found = event<Schedule>(
        test::edited(search, [](json& m) { payload(m)["force_hosts"] = {"host07"}; }));
    EXPECT_EQ(found.placement.only_hosts, std::set<std::string>{"host07"});
    EXPECT_EQ(found.placement.why_only, "the request is forced onto");
}

TEST(CloudEventParser, ASearchThatIsNotUnderstoodIsMalformed) {
    EXPECT_EQ(reason(test::edited(search, [](json& m) { payload(m).erase("instance_uuid"); })),
              "payload.instance_uuid: missing");
    EXPECT_NE(reason(test::edited(search, [](json& m) { payload(m)["ignore_hosts"] = 5; }))
                  .find("payload.ignore_hosts"),
              std::string::npos);
}

TEST(CloudEventParser, NothingRecordedIsMalformed) {
    CloudEventParser parser;  // one for all, as in the stream
    int events = 0;
    for (const auto& entry : std::filesystem::directory_iterator(recorded)) {
        const ParsedEvent parsed = parser.parse(read(entry.path()));
        EXPECT_FALSE(std::holds_alternative<Malformed>(parsed)) << entry.path();
        events += std::holds_alternative<CloudEvent>(parsed);
    }
    EXPECT_EQ(events, 14);
}

TEST(CloudEventParser, AMessageLeavesNothingForTheNext) {
    CloudEventParser parser;
    const std::string rich = test::edited(create, [](json& m) {
        payload(m)["metadata"] = {{"a", "1"}};
        payload(m)["flavor"]["nova_object.data"]["extra_specs"] = {{"b", "2"}};
    });
    parser.parse(rich);
    const ParsedEvent second = parser.parse(read(recorded / update));
    EXPECT_EQ(second, parse(read(recorded / update)));
    const std::string poor = test::edited(create, [](json& m) { payload(m).erase("uuid"); });
    const ParsedEvent third = parser.parse(poor);
    ASSERT_TRUE(std::holds_alternative<Malformed>(third));
    EXPECT_EQ(std::get<Malformed>(third).reason, "payload.uuid: missing");
}

TEST(CloudEventParser, ReadsAComputeService) {
    const auto seen = event<ServiceSeen>(other("service.update", service()));
    EXPECT_EQ(seen.record, (ComputeServiceRecord{"host1", "", false, false, "new fan"}));
    EXPECT_FALSE(seen.removed);
    json good = service();
    good["disabled"] = good["forced_down"] = false;
    good["disabled_reason"] = nullptr;
    good["availability_zone"] = "z1";
    EXPECT_EQ(event<ServiceSeen>(other("service.create", good)).record,
              (ComputeServiceRecord{"host1", "z1", true, true, ""}));
    EXPECT_TRUE(event<ServiceSeen>(other("service.delete", good)).removed);
}

TEST(CloudEventParser, IgnoresServicesThatRunNoServers) {
    json scheduler = service();
    scheduler["binary"] = "nova-scheduler";
    EXPECT_EQ(parse(other("service.update", scheduler)), ParsedEvent(NoEvent{}));
}

TEST(CloudEventParser, AnAggregateThatChangedIsToBeReadAgain) {
    for (const char* type : {"aggregate.create.end", "aggregate.delete.end",
                             "aggregate.add_host.end", "aggregate.remove_host.end",
                             "aggregate.update_metadata.end", "aggregate.update_prop.end"}) {
        const auto changed = event<AggregatesChanged>(other(type, {{"name", "a"}}));
        EXPECT_EQ(changed.at, parse_time("2026-11-20T13:05:04.074Z")) << type;
    }
}

/// Recorded while a real Nova did each of these to one server.
TEST(CloudEventParser, FollowsARecordedServerThroughItsLife) {
    const auto seen = [](const char* type) {
        return event<ServerSeen>(read(recorded / (std::string(type) + ".json")));
    };
    EXPECT_TRUE(seen("instance.lock").record.server.locked);
    const auto prepared = seen("instance.resize_prep.end");
    EXPECT_EQ(prepared.record.server.status, "RESIZE");
    EXPECT_EQ(prepared.record.server.host, "host-1");
    EXPECT_EQ(prepared.record.flavor.name, "small");
    const auto resized = seen("instance.resize.end");
    EXPECT_EQ(resized.record.server.host, "host-2");
    EXPECT_EQ(resized.record.server.task_state, "resize_migrated");
    EXPECT_EQ(resized.reporter, "host-1");
    EXPECT_EQ(seen("instance.lock").reporter, "") << "nova-api reports it";
    const auto migrated = seen("instance.live_migration_post_dest.end");
    EXPECT_EQ(migrated.record.server.host, "host-1");
    EXPECT_EQ(migrated.record.server.task_state, "");
    const auto offloaded = seen("instance.shelve_offload.end");
    EXPECT_EQ(offloaded.record.server.status, "SHELVED_OFFLOADED");
    EXPECT_EQ(offloaded.record.server.host, "");
    EXPECT_EQ(seen("instance.rebuild_scheduled").record.server.status, "REBUILD");
    EXPECT_EQ(prepared.record.server.metadata.at("event_type"), "instance.exists");
}

/// It comes after `post_dest.end` and still names the host that the server has left.
TEST(CloudEventParser, TheSourcesWordOnALiveMigrationIsNotTaken) {
    const std::string late = read(recorded / "instance.live_migration_post.end.json");
    EXPECT_NE(late.find("\\\"host\\\": \\\"host-2\\\""), std::string::npos);
    EXPECT_EQ(parse(late), ParsedEvent(NoEvent{}));
}

TEST(CloudEventParser, ReadsARecordedServiceAndAggregate) {
    const auto service = event<ServiceSeen>(read(recorded / "service.update.json"));
    EXPECT_EQ(service.record, (ComputeServiceRecord{"host-1", "", false, true, "fan \"x\""}));
    event<AggregatesChanged>(read(recorded / "aggregate.add_host.end.json"));
}

struct Bad {
    const char* name;
    std::function<void(json&)> edit;
    const char* says;
};

class MalformedEvent : public testing::TestWithParam<Bad> {};

TEST_P(MalformedEvent, IsNamed) {
    EXPECT_NE(reason(test::edited(create, GetParam().edit)).find(GetParam().says),
              std::string::npos)
        << reason(test::edited(create, GetParam().edit));
}

INSTANTIATE_TEST_SUITE_P(
    , MalformedEvent,
    testing::Values(
        Bad{"no_id", [](json& m) { payload(m).erase("uuid"); }, "payload.uuid: missing"},
        Bad{"id_of_another_shape", [](json& m) { payload(m)["uuid"] = "../etc"; },
            "payload.uuid: expected a UUID, found '../etc'"},
        Bad{"id_as_object", [](json& m) { payload(m)["uuid"] = json::object(); },
            "payload.uuid: expected a text"},
        Bad{"no_project", [](json& m) { payload(m)["tenant_id"] = nullptr; },
            "payload.tenant_id: expected a text"},
        Bad{"empty_project", [](json& m) { payload(m)["tenant_id"] = ""; },
            "payload.tenant_id: is empty"},
        Bad{"host_as_number", [](json& m) { payload(m)["host"] = 3; },
            "payload.host: expected a text"},
        Bad{"lock_as_text", [](json& m) { payload(m)["locked"] = "no"; },
            "payload.locked: expected true or false"},
        Bad{"no_flavor", [](json& m) { payload(m)["flavor"] = nullptr; },
            "payload.flavor.name: missing"},
        Bad{"negative_vcpus",
            [](json& m) { payload(m)["flavor"]["nova_object.data"]["vcpus"] = -1; },
            "payload.flavor.vcpus: expected a whole number from 0"},
        Bad{"fractional_memory",
            [](json& m) { payload(m)["flavor"]["nova_object.data"]["memory_mb"] = 1.5; },
            "payload.flavor.memory_mb: expected a whole number"},
        Bad{"giant_disk",
            [](json& m) { payload(m)["flavor"]["nova_object.data"]["root_gb"] = 1ULL << 63U; },
            "payload.flavor.root_gb: expected a whole number"},
        Bad{"created_never", [](json& m) { payload(m)["created_at"] = "never"; },
            "payload.created_at: expected a time"},
        Bad{"no_time", [](json& m) { m.erase("timestamp"); }, "timestamp: missing"},
        Bad{"no_payload", [](json& m) { m.erase("payload"); }, "payload.uuid: missing"},
        Bad{"unversioned_payload",
            [](json& m) {
                m["payload"] = {{"uuid", "x"}};
            },
            "payload.uuid: missing"},
        Bad{"long_host", [](json& m) { payload(m)["host"] = std::string(2000, 'h'); },
            "payload.host: longer than"},
        Bad{"event_type_as_list", [](json& m) { m["event_type"] = json::array(); },
            "event_type: expected a text"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(CloudEventParser, BytesThatAreNoMessageAreMalformed) {
    const std::string deep = "{\"payload\":" + std::string(100'000, '[');
    EXPECT_NE(reason(deep).find("nested deeper than 64"), std::string::npos);
    EXPECT_NE(reason(std::string(9'000'000, ' ')).find("larger than 8 MiB"), std::string::npos);
    for (const std::string& body :
         {std::string(),
          std::string("[]"),
          std::string("nonsense"),
          std::string("{"),
          std::string("{}"),
          std::string("{\"oslo.version\""),
          std::string("\0\0", 2),
          std::string(R"({"oslo.version":"2.0"})"),
          std::string(R"({"oslo.message":"{}"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"[1]"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":""})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"{}"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"\u12"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"\ud800x"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"\q"})"),
          std::string(R"({"oslo.version":"2.0","oslo.message":{}})"),
          std::string(R"({"oslo.version":"3.0","oslo.message":"{}"})"),
          std::string("{\"oslo.message\":\"\\"),
          std::string("{\"event_type\":\"\xff\"}"),
          std::string("{\"timestamp\":1e999}"),
          std::string(R"({"oslo.version":"2.0","oslo.message":"{}"x)")}) {
        EXPECT_FALSE(reason(body).empty()) << body;
    }
}

/// Whatever is cut off or changed, it is one of the three, and nothing outside is read (the
/// sanitizers watch).
TEST(CloudEventParser, SurvivesCutAndChangedBytes) {
    CloudEventParser parser;
    for (const char* file : {create, update, gone}) {
        const std::string body = read(recorded / file);
        for (std::size_t end = 0; end < body.size(); end += 7) {
            const std::string cut = body.substr(0, end);
            EXPECT_FALSE(std::holds_alternative<NoEvent>(parser.parse(cut))) << end;
        }
        for (std::size_t at = 0; at < body.size(); at += 5) {
            for (const char c : {'"', '\\', '{', '}', '\0', '\xc3', '9'}) {
                std::string changed = body;
                changed[at] = c;
                parser.parse(changed);
            }
        }
    }
}

}  // namespace
}  // namespace reaper::cloud_event_parser_test
