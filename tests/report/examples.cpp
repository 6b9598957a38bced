#include "tests/report/examples.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace reaper::report::test {
namespace {

constexpr int hour = 3'600'000;

Victim victim(const std::string& name, char digit, int hours_old, Amount vcpus) {
    Victim result;
    result.server = ServerId{"5e2d0c3a-0000-4000-8000-00000000000" + std::string(1, digit)};
    result.name = name;
    result.project = ProjectId{"a1b2c3d4000040008000000000000001"};
    result.host = "compute-1";
    result.resources = {{"VCPU", vcpus}, {"MEMORY_MB", 1024 * vcpus}, {"DISK_GB", 10}};
    result.created = noon() - Duration{static_cast<long>(hour) * hours_old};
    result.reason =
        "revocable: project a1b2c3d4 carries the tag preemptible; needed: without it the host "
        "lacks VCPU=" +
        std::to_string(vcpus);
    return result;
}

HostPlan host_with_victims() {
    HostPlan host;
    host.host = HostId{"11111111-0000-4000-8000-000000000001"};
    host.host_name = "compute-1";
    host.slots = 1;
    host.victims = {victim("batch-7", '1', 3, 2), victim("render-farm-12", '2', 24 * 41, 2)};
    host.pending_releases = {
        {ServerId{"5e2d0c3a-0000-4000-8000-00000000000a"}, "web-3", "its deletion has begun"},
        {ServerId{"5e2d0c3a-0000-4000-8000-00000000000b"}, "", "it is evicted for req-9"}};
    host.free_before = {{"MEMORY_MB", 512}, {"DISK_GB", 100}};
    host.free_after = {{"VCPU", 4}, {"MEMORY_MB", 4608}, {"DISK_GB", 120}};
    host.reason = "leaves the least unused: MEMORY_MB=2560 DISK_GB=100";
    return host;
}

HostPlan ready_host() {
    HostPlan host;
    host.host = HostId{"11111111-0000-4000-8000-000000000002"};
    host.host_name = "compute-2";
    host.slots = 1;
    host.slots_ready = 1;
    host.free_before = {{"VCPU", 6}, {"MEMORY_MB", 4096}, {"DISK_GB", 200}};
    host.free_after = host.free_before;
    host.reason = "has the room already";
    return host;
}

Rejection rejection(int number, RejectionCode code, const std::string& reason) {
    return {HostId{"p-" + std::to_string(number)}, "compute-" + std::to_string(number), code,
            reason};
}

Server server(const std::string& name, char digit, bool revocable) {
    Server result;
    result.id = ServerId{"5e2d0c3a-0000-4000-8000-00000000000" + std::string(1, digit)};
    result.name = name;
    result.project = ProjectId{"a1b2c3d4000040008000000000000001"};
    result.status = "ACTIVE";
    result.created = noon(-hour);
    result.flavor_name = "small";
    result.allocations = Allocations{{ProviderId{"11111111-0000-4000-8000-000000000001"},
                                      {{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}}};
    if (revocable) {
        result.revocable_because = "project a1b2c3d4 carries the tag preemptible";
        result.revocable_by = "project";
    }
    return result;
}

Host host_with_servers() {
    Host host;
    host.id = HostId{"11111111-0000-4000-8000-000000000001"};
    host.name = "compute-1";
    host.service_host = "compute-1";
    host.availability_zone = "nova";
    host.aggregates = {"fast"};
    Provider root;
    root.id = host.id;
    root.name = host.name;
    root.inventories[ResourceClass{"VCPU"}] = {4, 0, 2.0, 1, 4, 1};
    root.inventories[ResourceClass{"MEMORY_MB"}] = {8192, 512, 1.0, 1, 8192, 1};
    root.inventories[ResourceClass{"DISK_GB"}] = {100, 0, 1.0, 1, 100, 1};
    root.used = {{"VCPU", 6}, {"MEMORY_MB", 6144}, {"DISK_GB", 60}};
    Provider nested;
    nested.id = ProviderId{"22222222-0000-4000-8000-000000000001"};
    nested.parent = host.id;
    nested.inventories[ResourceClass{"CUSTOM_GOLD"}] = {3, 0, 1.0, 1, 3, 1};
    nested.used = {{"CUSTOM_GOLD", 4}};
    host.providers = {root, nested};
    host.servers = {server("batch-1", '1', true), server("web", '2', false),
                    server("batch-2", '3', true)};
    host.servers[2].locked = true;
    host.servers[2].task_state = "rebooting";
    return host;
}

}  // namespace

TimePoint noon(int milliseconds) {
    using namespace std::chrono;
    return TimePoint{sys_days{year{2024} / May / 1} + hours{12} + Duration{milliseconds}};
}

Request example_request() {
    Request request;
    request.id = RequestId{"req-7f3a2b10-0000-4000-8000-000000000001"};
    request.project = ProjectId{"e5f6a7b8"};
    request.resources = {{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};
    request.slots = 2;
    request.requesters = {ServerId{"9c000000-0000-4000-8000-000000000001"},
                          ServerId{"9c000000-0000-4000-8000-000000000002"}};
    request.availability_zone = "nova";
    request.required_traits = {Trait{"CUSTOM_FAST"}};
    request.forbidden_traits = {Trait{"CUSTOM_SLOW"}};
    request.excluded_hosts = {{"compute-99", "the server's own host"}};
    request.flavor_extra_specs = {{"hw:cpu_policy", "dedicated"}, {"trait:CUSTOM_SSD", "required"}};
    request.sent_at = noon(-1'500);
    return request;
}

Plan example_plan() {
    Plan plan;
    plan.request = example_request().id;
    plan.strategy = "strict";
    plan.slots_requested = 2;
    plan.slots_wanted = 2;
    plan.slots_freed = 2;
    plan.hosts = {host_with_victims(), ready_host()};
    plan.rejected.push_back(rejection(3, RejectionCode::disabled, "disabled: kernel update"));
    for (int i = 10; i < 18; ++i)
        plan.rejected.push_back(rejection(i, RejectionCode::ranked_lower,
                                          "would leave MEMORY_MB=" + std::to_string(i * 512)));
    plan.rejected.push_back(rejection(
        20, RejectionCode::not_enough_revocable,
        "lacks VCPU=3 even without all its 2 revocable servers; free VCPU=0, revocable VCPU=1"));
    plan.rejected_counts = {
        {RejectionCode::disabled, 1, "disabled: kernel update"},
        {RejectionCode::not_enough_revocable, 1207, "lacks VCPU=3 even without all its servers"},
        {RejectionCode::ranked_lower, 8, "would leave MEMORY_MB=5120"}};
    plan.note = "the search was cut short; the best plan may leave up to VCPU=1 less unused";
    return plan;
}

RequestRecord example_story() {
    RequestRecord record;
    record.request = example_request();
    record.received_at = noon();
    record.plans = {{1, noon(120), example_plan()}};
    const auto add = [&](char digit, Step step, const std::string& detail, int at) {
        record.steps.push_back(
            {ServerId{"5e2d0c3a-0000-4000-8000-00000000000" + std::string(1, digit)}, step, detail,
             noon(at)});
    };
    add('1', Step::delete_sent, "", 180);
    add('2', Step::skipped, "locked since the plan", 190);
    add('1', Step::delete_accepted, "", 260);
    add('1', Step::gone, "", 1'400);
    record.outcome = Outcome{OutcomeKind::incomplete, "one victim was spared", noon(61'500)};
    record.freed_room = FreedRoomResult{FreedRoomResultKind::elsewhere,
                                        "the requester booted on compute-7",
                                        {HostId{"11111111-0000-4000-8000-000000000001"}},
                                        noon(90'000)};
    return record;
}

std::vector<RequestSummary> example_lines() {
    RequestSummary done{example_request(), noon(), 2,
                        Outcome{OutcomeKind::freed, "room for 2 slots", noon(2'000)}};
    RequestSummary open{example_request(), noon(-60'000), 0, std::nullopt};
    open.request.id = RequestId{"req-2"};
    open.request.operation = Operation::live_migrate;
    open.request.slots = 1;
    done.freed_room = FreedRoomResult{FreedRoomResultKind::wasted,
                                      "no server came within 10min",
                                      {HostId{"11111111-0000-4000-8000-000000000001"}},
                                      noon(602'000)};
    RequestSummary refused{
        example_request(), noon(-90'000), 0,
        Outcome{OutcomeKind::refused, "50 of 50 deletions of this hour are used up", noon(-89'000),
                "limit-window"}};
    refused.request.id = RequestId{"req-3"};
    return {done, open, refused};
}

Snapshot example_snapshot() {
    Snapshot snapshot;
    snapshot.taken_at = noon();
    Host empty;
    empty.id = HostId{"11111111-0000-4000-8000-000000000002"};
    empty.name = "compute-2.example";
    empty.service_host = "compute-2";
    empty.enabled = false;
    empty.up = false;
    empty.why_unavailable = "kernel update";
    empty.availability_zone = "nova";
    empty.providers.emplace_back();
    empty.providers.front().id = empty.id;
    empty.providers.front().inventories[ResourceClass{"VCPU"}] = {16, 0, 1.0, 1, 16, 1};
    snapshot.hosts = {host_with_servers(), empty};
    snapshot.revocable_classes = {ResourceClass{"CUSTOM_GOLD"}};
    snapshot.remarks = {"provider p-9 has no hypervisor in Nova"};
    return snapshot;
}

Plan hostile_plan() {
    Plan plan = example_plan();
    Victim& victim = plan.hosts[0].victims[0];
    victim.name = "\x1b[2J\x1b[31mroot#\r\nVerdict: all is well";
    victim.project = ProjectId{
        "\xe2\x80\xae"
        "desrever"};
    victim.reason =
        "bell \x07, not UTF-8 \xff\xc0\xaf, C1 \xc2\x9b"
        "31m";
    plan.hosts[0].pending_releases[0].name = "\x1b[2J\nVerdict: all is well";
    plan.hosts[0].host_name = "compute\t\x7f-1";
    plan.rejected[0].reason = std::string("zero \0 byte", 11);
    plan.note = "two\nlines";
    return plan;
}

void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string{REAPER_SOURCE_DIR} + "/tests/report/golden/" + name;
    if (std::getenv("REAPER_UPDATE_GOLDEN") != nullptr) {
        std::ofstream{path, std::ios::binary} << text;
        return;
    }
    std::ifstream file{path, std::ios::binary};
    ASSERT_TRUE(file) << "no " << path << "; REAPER_UPDATE_GOLDEN=1 writes it";
    std::ostringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str()) << "not as " << path;
}

}  // namespace reaper::report::test
