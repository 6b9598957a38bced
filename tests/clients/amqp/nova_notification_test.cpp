#include "reaper/notifications/nova_notification.hpp"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "reaper/model/time.hpp"
#include "tests/clients/amqp/recorded_messages.hpp"

namespace reaper::nova_notification_test {
namespace {

using nlohmann::json;

using test::payload;
using test::read;
using test::recorded;

std::string failed_build() {
    return read(recorded / "build_instances.error.single.json");
}

/// The recorded failed build with something changed inside.
std::string edited(const std::function<void(json&)>& edit,
                   const std::string& file = "build_instances.error.single.json") {
    return test::edited(file, edit);
}

json& spec(json& m) {
    return payload(m)["request_spec"]["nova_object.data"];
}
json& flavor(json& m) {
    return spec(m)["flavor"]["nova_object.data"];
}
json& reason(json& m) {
    return payload(m)["reason"]["nova_object.data"];
}

FailureNotice notice(const std::string& body) {
    const Notification parsed = parse_notification(body);
    if (const auto* bad = std::get_if<Malformed>(&parsed)) ADD_FAILURE() << bad->reason;
    if (const auto* other = std::get_if<Ignored>(&parsed)) ADD_FAILURE() << other->reason;
    const auto* found = std::get_if<FailureNotice>(&parsed);
    return found ? *found : FailureNotice{};
}

TEST(NovaNotification, ReadsAFailedBuild) {
    const FailureNotice got = notice(failed_build());
    EXPECT_EQ(got.message_id, "d5ec6555-af93-4771-8b56-fd31481f1324");
    EXPECT_EQ(got.event, FailureEvent::build_instances);
    EXPECT_EQ(got.request_id, RequestId("req-6978d254-9660-43ae-8573-c327ab3f14d1"));
    EXPECT_EQ(got.exception, "NoValidHost_Remote");
    EXPECT_EQ(got.exception_line, "No valid host was found.");
    EXPECT_EQ(got.server, ServerId("fae427dc-2392-47e5-ac07-78a26cc415d7"));
    EXPECT_EQ(got.spec_server, got.server);
    EXPECT_EQ(got.project, ProjectId("66353a943d1d438eb913527787c03586"));
    EXPECT_EQ(got.num_instances, 1);
    ASSERT_TRUE(got.flavor);
    EXPECT_EQ(*got.flavor, (Flavor{"large", 8, 4096, 40, 0, 0, {}}));
    EXPECT_EQ(got.image_id, "f430f292-3ab9-46a7-bd46-399c8469424d");
    EXPECT_FALSE(got.availability_zone);
    EXPECT_EQ(got.sent_at, parse_time("2026-11-20T13:07:19.426Z"));
}

TEST(NovaNotification, MessagesOfOneMultiCreateShareRequestAndSpecButNotTheServer) {
    const auto one = notice(read(recorded / "build_instances.error.multi-1.json"));
    const auto two = notice(read(recorded / "build_instances.error.multi-2.json"));
    EXPECT_EQ(one.request_id, two.request_id);
    EXPECT_EQ(one.spec_server, two.spec_server);
    EXPECT_NE(one.server, two.server);
    EXPECT_NE(one.message_id, two.message_id);
    EXPECT_GT(one.num_instances, 1);
    EXPECT_EQ(one.num_instances, two.num_instances);
}

/// Nova's quota is the only bound of a multi-create.
TEST(NovaNotification, AMultiCreateHasAsManyServersAsItHas) {
    for (const int count : {1'001, 100'000, std::numeric_limits<int>::max()}) {
        const auto got = notice(edited([&](json& m) { spec(m)["num_instances"] = count; }));
        EXPECT_EQ(got.num_instances, count);
    }
}

TEST(NovaNotification, ReadsTheAvailabilityZone) {
    EXPECT_TRUE(notice(read(recorded / "build_instances.error.az.json")).availability_zone);
}

TEST(NovaNotification, AResizeNamesTheProjectOfTheServerNotOfTheCaller) {
    const auto got = notice(read(recorded / "compute_task.migrate_server.error.json"));
    EXPECT_EQ(got.event, FailureEvent::migrate_server);
    EXPECT_EQ(got.project, ProjectId("66353a943d1d438eb913527787c03586"));
    ASSERT_TRUE(got.flavor);
    EXPECT_EQ(got.flavor->name, "large");
}

TEST(NovaNotification, EveryOtherRecordedEventIsIgnoredByName) {
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(recorded)) {
        const std::string file = entry.path().filename().string();
        const auto parsed = parse_notification(read(entry.path()));
        ++seen;
        if (file.find("instances.error") != std::string::npos ||
            file.find("migrate_server") != std::string::npos) {
            EXPECT_TRUE(std::holds_alternative<FailureNotice>(parsed)) << file;
            continue;
        }
        ASSERT_TRUE(std::holds_alternative<Ignored>(parsed)) << file;
        EXPECT_EQ(std::get<Ignored>(parsed).event_type, entry.path().stem().string());
        EXPECT_FALSE(std::get<Ignored>(parsed).message_id.empty()) << file;
    }
    EXPECT_GE(seen, 13);
}

TEST(NovaNotification, TheBareFormMeansTheSame) {
    const std::string inner = json::parse(failed_build()).at("oslo.message");
    EXPECT_EQ(notice(inner), notice(failed_build()));
}

TEST(NovaNotification, ALiveMigrationHasOnlyTheServer) {
    const auto got = notice(edited(
        [](json& m) {
            const json id = spec(m)["instance_uuid"];
            for (auto& [key, value] : spec(m).items()) value = nullptr;
            spec(m)["instance_uuid"] = id;
            spec(m).erase("num_instances");
            spec(m).erase("flavor");
        },
        "compute_task.migrate_server.error.json"));
    EXPECT_FALSE(got.flavor);
    EXPECT_FALSE(got.image_id);
    EXPECT_EQ(got.num_instances, 1);
    EXPECT_EQ(got.project, ProjectId("6c3697fe6dfa4acfb4aac7ee96bcfb77")) << "the caller's";
}

TEST(NovaNotification, WithoutARequestSpecTheServerItselfIsDescribed) {
    const auto got = notice(edited([](json& m) { payload(m)["request_spec"] = nullptr; }));
    EXPECT_EQ(got.spec_server, got.server);
    EXPECT_EQ(got.project, ProjectId("66353a943d1d438eb913527787c03586"));
}

TEST(NovaNotification, ABootFromVolumeHasNoImage) {
    EXPECT_FALSE(notice(edited([](json& m) { spec(m)["image"] = nullptr; })).image_id);
    EXPECT_FALSE(notice(edited([](json& m) {
                     spec(m)["image"]["nova_object.data"]["id"] = nullptr;
                 })).image_id);
}

TEST(NovaNotification, ReadsTheImageAsNovaTookItOver) {
    const auto got = notice(edited([](json& m) {
        json& image = spec(m)["image"]["nova_object.data"];
        image["disk_format"] = "qcow2";
        image["properties"] = {{"nova_object.data",
                                {{"hw_cpu_policy", "dedicated"},
                                 {"hw_mem_encryption", true},
                                 {"hw_video_ram", 64},
                                 {"hw_numa_mem", {1, 2}},
                                 {"hw_boot_menu", nullptr}}}};
    }));
    const std::map<std::string, std::string> expected{{"disk_format", "qcow2"},
                                                      {"hw_cpu_policy", "dedicated"},
                                                      {"hw_mem_encryption", "true"},
                                                      {"hw_video_ram", "64"}};
    EXPECT_EQ(got.image, expected);
    // Of a volume, too, which has no id.
    const auto volume = notice(edited([](json& m) {
        spec(m)["image"]["nova_object.data"] = {
            {"id", nullptr},
            {"disk_format", nullptr},
            {"properties", {{"nova_object.data", {{"hw_tpm_version", "2.0"}}}}}};
    }));
    EXPECT_FALSE(volume.image_id);
    EXPECT_EQ(volume.image, (std::map<std::string, std::string>{{"hw_tpm_version", "2.0"}}));
}

TEST(NovaNotification, ReadsThePciDevicesOfAliases) {
    const auto got = notice(edited([](json& m) {
        const auto request = [](const json& alias, int count, const json& wanted) {
            return json{{"nova_object.data",
                         {{"alias_name", alias},
                          {"count", count},
                          {"request_id", "d35be809-acfa-4047-86dd-5a6543ac6c01"},
                          {"spec", {wanted}}}}};
        };
        spec(m)["pci_requests"] = {
            {"nova_object.data",
             {{"requests",
               {request("gpu", 2, {{"resource_class", "gpu"}, {"traits", "a,b"}}),
                request("nic", 1, {{"vendor_id", "8086"}, {"product_id", "15a3"}}),
                request(nullptr, 1, {{"physical_network", "net"}})}}}}};
    }));
    const std::string id = "d35be809-acfa-4047-86dd-5a6543ac6c01";
    EXPECT_EQ(got.pci, (std::vector<PciRequest>{{id, 2, "gpu", "", "", "a,b"},
                                                {id, 1, "", "8086", "15a3", ""}}));
}

TEST(NovaNotification, MorePciDevicesThanAServerCanHaveAreRefused) {
    const auto with = [](std::size_t requests) {
        return parse_notification(edited([&](json& m) {
            const json request = {{"nova_object.data",
                                   {{"alias_name", "gpu"},
                                    {"count", 32},
                                    {"request_id", "d35be809-acfa-4047-86dd-5a6543ac6c01"},
                                    {"spec", {{{"resource_class", "gpu"}}}}}}};
            spec(m)["pci_requests"] = {
                {"nova_object.data", {{"requests", json::array_t(requests, request)}}}};
        }));
    };
    EXPECT_TRUE(std::holds_alternative<FailureNotice>(with(2)));
    const auto refused = with(3);
    ASSERT_TRUE(std::holds_alternative<Malformed>(refused));
    EXPECT_EQ(
        std::get<Malformed>(refused).reason,
        "payload.request_spec.pci_requests.requests: more than 64 PCI devices for one server");
}

TEST(NovaNotification, KeepsTheFlavorsExtraSpecs) {
    const auto got = notice(edited([](json& m) {
        flavor(m)["extra_specs"] = {{"resources:CUSTOM_GPU", "1"}, {"hw:cpu_policy", "shared"}};
        flavor(m)["swap"] = 512;
        flavor(m)["ephemeral_gb"] = 7;
    }));
    ASSERT_TRUE(got.flavor);
    EXPECT_EQ(got.flavor->extra_specs.at("resources:CUSTOM_GPU"), "1");
    EXPECT_EQ(got.flavor->extra_specs.size(), 2U);
    EXPECT_EQ(got.flavor->swap_mb, 512);
    EXPECT_EQ(got.flavor->ephemeral_gb, 7);
}

TEST(NovaNotification, AcceptsTheExceptionsThatMeanNoRoomAndNoOthers) {
    for (const std::string name :
         {"NoValidHost", "NoValidHost_Remote", "MaxRetriesExceeded", "MaxRetriesExceeded_Remote"}) {
        const auto got = notice(edited([&](json& m) { reason(m)["exception"] = name; }));
        EXPECT_EQ(got.exception, name);
    }
    for (const std::string name : {"PortLimitExceeded", "NoValidHostX", "Remote", "_Remote", "",
                                   "novalidhost", "NoValidHost_Remote_Remote"}) {
        const auto parsed =
            parse_notification(edited([&](json& m) { reason(m)["exception"] = name; }));
        ASSERT_TRUE(std::holds_alternative<Ignored>(parsed)) << name;
        EXPECT_NE(std::get<Ignored>(parsed).reason.find(name), std::string::npos);
    }
}

TEST(NovaNotification, AHostThatIsMissingForAnotherReasonIsNoLackOfRoom) {
    const auto parsed = [](const std::string& message) {
        return parse_notification(
            edited([&](json& m) { reason(m)["exception_message"] = message; }));
    };
    const std::string head = "No valid host was found. ";
    for (const std::string cause :
         {"Scheduling failed: No hosts available for tenant",
          "Unable to replace instance claim on source", "No such host - host: a node: None ",
          "Unable to move instance u to host h. There is not enough capacity on the host",
          "Image traits cannot be satisfied by the current resource providers."}) {
        const auto got = parsed(head + cause);
        ASSERT_TRUE(std::holds_alternative<Ignored>(got)) << cause;
        EXPECT_EQ(std::get<Ignored>(got).reason.find("the cause is not a lack of room: "), 0U);
    }
    for (const std::string& message : {head, head + "There are not enough hosts available.",
                                       std::string("Kein Host: Scheduling failed: x")})
        EXPECT_TRUE(std::holds_alternative<FailureNotice>(parsed(message))) << message;
}

TEST(NovaNotification, RebuildAndEvacuateAreRead) {
    const auto got =
        notice(edited([](json& m) { m["event_type"] = "compute_task.rebuild_server.error"; }));
    EXPECT_EQ(got.event, FailureEvent::rebuild_server);
}

TEST(NovaNotification, AnUnversionedNotificationIsIgnoredWithAdvice) {
    const auto legacy = edited([](json& m) {
        m["event_type"] = "compute_task.build_instances";
        m["payload"] = {{"method", "build_instances"}, {"state", "error"}};
    });
    const auto bare_payload = edited([](json& m) { m["payload"] = {{"state", "error"}}; });
    for (const auto& body : {legacy, bare_payload}) {
        const auto parsed = parse_notification(body);
        ASSERT_TRUE(std::holds_alternative<Ignored>(parsed));
        EXPECT_NE(std::get<Ignored>(parsed).reason.find("notification_format"), std::string::npos);
    }
}

TEST(NovaNotification, EscapesWhatCouldForgeALogLine) {
    const auto got = notice(edited([](json& m) {
        reason(m)["exception_message"] = "No \x1b[31mhost\t\xc2\x9b\xe2\x82\xac\r\nforged line";
    }));
    EXPECT_EQ(got.exception_line, "No \\x1b[31mhost\\x09\\xc2\\x9b\xe2\x82\xac");
    const auto parsed = parse_notification(edited([](json& m) { m["event_type"] = "a\nb"; }));
    ASSERT_TRUE(std::holds_alternative<Ignored>(parsed));
    EXPECT_EQ(std::get<Ignored>(parsed).event_type, "a\\x0ab");
}

TEST(NovaNotification, CutsALongFirstLineBetweenCharacters) {
    std::string line(499, 'x');
    for (int i = 0; i < 100; ++i) line += "\xe2\x82\xac";
    const auto got =
        notice(edited([&](json& m) { reason(m)["exception_message"] = line; })).exception_line;
    EXPECT_EQ(got, std::string(499, 'x') + "\xe2\x82\xac...");
}

struct Broken {
    const char* name;
    std::function<void(json&)> edit;
    const char* expected;  ///< part of the reason
};

const Broken broken_messages[] = {
    {"NoEventType", [](json& m) { m.erase("event_type"); }, "event_type: missing"},
    {"EventTypeNumber", [](json& m) { m["event_type"] = 1; }, "event_type: expected a text"},
    {"NoPayload", [](json& m) { m.erase("payload"); }, "payload: missing"},
    {"PayloadList", [](json& m) { m["payload"] = json::array(); }, "payload: expected an object"},
    {"DataNull", [](json& m) { m["payload"]["nova_object.data"] = nullptr; }, "nova_object.data"},
    {"NoReason", [](json& m) { payload(m)["reason"] = nullptr; }, "payload.reason: expected"},
    {"NoException", [](json& m) { reason(m).erase("exception"); }, "payload.reason.exception"},
    {"NoMessageId", [](json& m) { m.erase("message_id"); }, "message_id: missing"},
    {"MessageIdControl", [](json& m) { m["message_id"] = "a\nb"; }, "control characters"},
    {"NoRequestId", [](json& m) { m["_context_request_id"] = nullptr; }, "_context_request_id"},
    {"RequestIdEmpty", [](json& m) { m["_context_request_id"] = ""; }, "is empty"},
    {"RequestIdLong", [](json& m) { m["_context_request_id"] = std::string(256, 'r'); }, "longer"},
    {"NoServer", [](json& m) { payload(m).erase("instance_uuid"); }, "instance_uuid: missing"},
    {"ServerPath", [](json& m) { payload(m)["instance_uuid"] = "../flavors/x"; }, "a UUID"},
    {"SpecServer", [](json& m) { spec(m)["instance_uuid"] = 7; },
     "payload.request_spec.instance_uuid"},
    {"SpecText", [](json& m) { payload(m)["request_spec"] = "x"; }, "payload.request_spec"},
    {"NoneInstances", [](json& m) { spec(m)["num_instances"] = 0; }, "found 0"},
    {"InstancesTooMany", [](json& m) { spec(m)["num_instances"] = 3'000'000'000; },
     "found 3000000000"},
    {"InstancesNegative", [](json& m) { spec(m)["num_instances"] = -1; }, "found -1"},
    {"InstancesHuge", [](json& m) { spec(m)["num_instances"] = UINT64_MAX; }, "num_instances"},
    {"InstancesFloat", [](json& m) { spec(m)["num_instances"] = 2.0; }, "found number"},
    {"InstancesText", [](json& m) { spec(m)["num_instances"] = "2"; }, "found string"},
    {"InstancesBool", [](json& m) { spec(m)["num_instances"] = true; }, "found boolean"},
    {"FlavorBare", [](json& m) { spec(m)["flavor"] = json::object(); }, "request_spec.flavor"},
    {"NoVcpus", [](json& m) { flavor(m).erase("vcpus"); }, "flavor.vcpus: missing"},
    {"VcpusNegative", [](json& m) { flavor(m)["vcpus"] = -8; }, "flavor.vcpus"},
    {"MemoryHuge", [](json& m) { flavor(m)["memory_mb"] = 1LL << 40; }, "flavor.memory_mb"},
    {"SwapText", [](json& m) { flavor(m)["swap"] = ""; }, "flavor.swap"},
    {"SpecsList", [](json& m) { flavor(m)["extra_specs"] = {1}; }, "flavor.extra_specs"},
    {"SpecNumber",
     [](json& m) {
         flavor(m)["extra_specs"] = {{"a", 1}};
     },
     "extra_specs.a"},
    {"ZoneNumber", [](json& m) { spec(m)["availability_zone"] = 3; }, "availability_zone"},
    {"NoTime", [](json& m) { m.erase("timestamp"); }, "timestamp: missing"},
    {"TimeWord", [](json& m) { m["timestamp"] = "yesterday"; }, "timestamp: expected a time"},
    {"NoProject",
     [](json& m) {
         spec(m)["project_id"] = nullptr;
         m.erase("_context_project_id");
     },
     "_context_project_id: missing"},
};

class BrokenNotification : public testing::TestWithParam<Broken> {};

TEST_P(BrokenNotification, IsMalformedAndNamesTheField) {
    const auto parsed = parse_notification(edited(GetParam().edit));
    ASSERT_TRUE(std::holds_alternative<Malformed>(parsed));
    const auto& why = std::get<Malformed>(parsed).reason;
    EXPECT_NE(why.find(GetParam().expected), std::string::npos) << why;
}

INSTANTIATE_TEST_SUITE_P(Table, BrokenNotification, testing::ValuesIn(broken_messages),
                         [](const auto& row) { return std::string(row.param.name); });

std::string malformed(const std::string& body) {
    const auto parsed = parse_notification(body);
    const auto* bad = std::get_if<Malformed>(&parsed);
    return bad ? bad->reason : "not malformed";
}

TEST(NovaNotification, BytesThatAreNoMessageAreMalformed) {
    EXPECT_NE(malformed("").find("not a JSON object"), std::string::npos);
    EXPECT_NE(malformed("[]").find("not a JSON object"), std::string::npos);
    EXPECT_NE(malformed("\"x\"").find("not a JSON object"), std::string::npos);
    EXPECT_NE(malformed("{\"a\": \"\xff\xfe\"}").find("not JSON"), std::string::npos);
    EXPECT_NE(malformed(std::string("{\0}", 3)).find("not JSON"), std::string::npos);
    EXPECT_NE(malformed("{}").find("event_type: missing"), std::string::npos);
    EXPECT_NE(malformed(R"({"oslo.message": "{}"})").find("oslo.version: missing"),
              std::string::npos);
    EXPECT_NE(malformed(R"({"oslo.version": "3.0", "oslo.message": "{}"})").find("expected 2.0"),
              std::string::npos);
    EXPECT_NE(
        malformed(R"({"oslo.version": "2.0", "oslo.message": 5})").find("oslo.message: expected"),
        std::string::npos);
    EXPECT_NE(malformed(R"({"oslo.version": "2.0"})").find("oslo.message: missing"),
              std::string::npos);
    EXPECT_NE(
        malformed(R"({"oslo.version": "2.0", "oslo.message": "[]"})").find("not a JSON object"),
        std::string::npos);
    EXPECT_NE(malformed(R"({"event_type": 1e999})").find("out of range"), std::string::npos);
}

TEST(NovaNotification, DeepNestingIsRefusedBeforeItIsBuilt) {
    const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    EXPECT_NE(malformed("{\"event_type\": " + deep + "}").find("nested"), std::string::npos);
    const json outer = {{"oslo.version", "2.0"}, {"oslo.message", "{\"a\":" + deep + "}"}};
    EXPECT_NE(malformed(outer.dump()).find("nested"), std::string::npos);
}

TEST(NovaNotification, AMessageCutAnywhereIsNeverTakenForAFailure) {
    const auto expect_malformed = [](const std::string& whole, std::size_t step) {
        const std::size_t end = whole.find_last_of('}');
        for (std::size_t n = 0; n <= end; n += step) {
            const auto parsed = parse_notification(whole.substr(0, n));
            ASSERT_TRUE(std::holds_alternative<Malformed>(parsed)) << n;
        }
    };
    // At every byte without the traceback (half of the message), here and there with it.
    const std::string brief = edited([](json& m) {
        reason(m)["traceback"] = "";
        reason(m)["exception_message"] = "No valid host was found. ";
    });
    ASSERT_TRUE(std::holds_alternative<FailureNotice>(parse_notification(brief)));
    expect_malformed(brief, 5);
    expect_malformed(json::parse(brief).at("oslo.message"), 1);
    expect_malformed(failed_build(), 97);
}

TEST(NovaNotification, AnyByteChangedGivesOneOfTheThree) {
    const std::string inner = json::parse(failed_build()).at("oslo.message");
    for (const char replacement : {'\0', '"', '{', '\\', '\xff', '9'}) {
        for (std::size_t n = 0; n < inner.size(); n += 41) {
            std::string body = inner;
            body[n] = replacement;
            const auto parsed = parse_notification(body);
            if (const auto* got = std::get_if<FailureNotice>(&parsed)) {
                ASSERT_GE(got->num_instances, 1);
                ASSERT_EQ(got->server.str().size(), 36U);
                ASSERT_FALSE(got->project.empty());
            }
        }
    }
}

}  // namespace
}  // namespace reaper::nova_notification_test
