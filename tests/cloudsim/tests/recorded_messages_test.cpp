// The simulated cloud's notifications against those recorded from a real Nova: field by field.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/cloudsim/tests/box.hpp"
#include "tests/cloudsim/tests/shape.hpp"

namespace reaper::cloudsim::test::recorded_messages_test {
namespace {

Json recorded(const std::string& name) {
    std::ifstream file(std::string(REAPER_TEST_DATA) + "/openstack-zed/notifications/" + name +
                       ".json");
    EXPECT_TRUE(file) << name;
    return Json::parse(file);
}

void expect_same(const std::string& name, const Json& ours) {
    const Json real = Json::parse(recorded(name)["oslo.message"].get<std::string>());
    for (const std::string& line : differences(real, ours)) ADD_FAILURE() << name << ": " << line;
}

class RecordedMessagesTest : public ::testing::Test {
protected:
    Box box;

    void fill_all() {
        for (const char* host : {"host-1", "host-2", "host-3"}) box.boot("large", "spot", host);
        box.messages.clear();
    }
};

TEST_F(RecordedMessagesTest, Envelope) {
    fill_all();
    box.ask("large");
    box.settle();
    const Json real = recorded("build_instances.error.single");
    const auto refusal = std::find_if(box.messages.begin(), box.messages.end(), [](const auto& m) {
        return m.routing_key == "versioned_notifications.error";
    });
    ASSERT_NE(refusal, box.messages.end());
    const Json ours = Json::parse(refusal->body);
    ASSERT_EQ(ours.size(), real.size());
    EXPECT_EQ(ours["oslo.version"], real["oslo.version"]);
    EXPECT_TRUE(ours["oslo.message"].is_string());
}

TEST_F(RecordedMessagesTest, NoHostForOneServer) {
    fill_all();
    box.ask("large");
    box.settle();
    const auto told = box.told("compute_task.build_instances.error");
    ASSERT_EQ(told.size(), 1U);
    expect_same("build_instances.error.single", told[0]);
    EXPECT_EQ(box.told("scheduler.select_destinations.start").size(), 0U)
        << "the scheduler tells nothing when Placement has no candidate";
}

TEST_F(RecordedMessagesTest, NoHostForSeveralServersIsReportedOnceForEach) {
    fill_all();
    box.ask("large", "regular", {{"min_count", 2}, {"max_count", 2}});
    box.settle();
    const auto told = box.told("compute_task.build_instances.error");
    ASSERT_EQ(told.size(), 2U);
    expect_same("build_instances.error.multi-1", told[0]);
    expect_same("build_instances.error.multi-2", told[1]);
    auto part = [&](std::size_t at) { return told[at]["payload"]["nova_object.data"]; };
    auto spec = [&](std::size_t at) { return part(at)["request_spec"]["nova_object.data"]; };
    EXPECT_NE(part(0)["instance_uuid"], part(1)["instance_uuid"]);
    EXPECT_EQ(spec(0)["instance_uuid"], part(0)["instance_uuid"]);
    EXPECT_EQ(spec(1)["instance_uuid"], part(0)["instance_uuid"]) << "that of the first, in all";
    EXPECT_EQ(spec(1)["num_instances"], 2);
    EXPECT_EQ(told[0]["_context_request_id"], told[1]["_context_request_id"]);
}

TEST_F(RecordedMessagesTest, NoHostInAZoneOrOnAForcedHost) {
    fill_all();
    box.ask("large", "regular", {{"availability_zone", "nova:host-1"}});
    box.settle();
    const auto told = box.told("compute_task.build_instances.error");
    ASSERT_EQ(told.size(), 1U);
    expect_same("build_instances.error.az", told[0]);
    const Json& spec = told[0]["payload"]["nova_object.data"]["request_spec"]["nova_object.data"];
    EXPECT_EQ(spec["availability_zone"], "nova");
    EXPECT_TRUE(spec["force_hosts"].is_null()) << "the message forgets it, as Nova's does";
}

TEST_F(RecordedMessagesTest, NoHostForAResize) {
    const std::string small = box.boot("small", "regular", "host-1");
    for (const char* host : {"host-2", "host-3"}) box.boot("large", "spot", host);
    box.messages.clear();
    box.call("POST", "/compute/v2.1/servers/" + small + "/action",
             {{"resize", {{"flavorRef", box.flavor("medium")}}}});
    box.settle();
    const auto told = box.told("compute_task.migrate_server.error");
    ASSERT_EQ(told.size(), 1U);
    Json real = Json::parse(
        recorded("compute_task.migrate_server.error")["oslo.message"].get<std::string>());
    Json ours = told[0];
    // Here Placement had a candidate, the server's own host, and the filters refused it.
    Json& reason = ours["payload"]["nova_object.data"]["reason"]["nova_object.data"];
    EXPECT_TRUE(reason["exception_message"].get<std::string>().starts_with(
        "No valid host was found. There are not enough hosts available.\n"));
    for (const char* key : {"exception_message", "traceback"})
        reason[key] = real["payload"]["nova_object.data"]["reason"]["nova_object.data"][key];
    for (const std::string& line : differences(real, ours)) ADD_FAILURE() << line;
}

TEST_F(RecordedMessagesTest, LifeAndDeathOfAServer) {
    const Answer asked = box.ask("small", "spot");
    box.settle();
    const std::string id = asked.body["server"]["id"];
    box.call("DELETE", "/compute/v2.1/servers/" + id, {}, "admin", "spot");
    box.settle();
    const std::pair<const char*, const char*> kinds[] = {
        {"scheduler.select_destinations.start", "scheduler.select_destinations.start"},
        {"scheduler.select_destinations.end", "scheduler.select_destinations.end"},
        {"instance.create.start", "instance.create.start"},
        {"instance.create.end", "instance.create.end"},
        {"instance.delete.start", "instance.delete.start"},
        {"instance.delete.end", "instance.delete.end"},
        {"instance.update", "instance.update"},
    };
    for (const auto& [file, event_type] : kinds) {
        const auto told = box.told(event_type);
        ASSERT_GE(told.size(), 1U) << event_type;
        expect_same(file, told[0]);
    }
}

}  // namespace
}  // namespace reaper::cloudsim::test::recorded_messages_test
