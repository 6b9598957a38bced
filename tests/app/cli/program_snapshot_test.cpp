// The real binary on snapshot files: no cloud, no credentials, no broker. Golden texts as in
// program_test.cpp.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/golden.hpp"
#include "app/cli/program.hpp"

namespace reaper::test::program_snapshot_test {
namespace {

using nlohmann::json;

const std::string data = std::string(REAPER_SOURCE_DIR) + "/tests/app/cli/data/";
const std::string cloud = data + "cloud.json";
const std::string requests = data + "requests.yaml";

/// One line on stderr that holds `text`, nothing on stdout, exit 2.
void expect_refused(const std::vector<std::string>& words, const std::string& text) {
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(ProgramSnapshot, HostsAreGolden) {
    const auto result = run_program({"hosts", "--snapshot", cloud});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    expect_golden("snapshot-hosts", result.out);
    const auto answer = json::parse(run_program({"hosts", "--snapshot", cloud, "--json"}).out);
    EXPECT_EQ(answer["hosts"].size(), 3U);
}

TEST(ProgramSnapshot, OneHostIsShownAlone) {
    for (const std::vector<std::string>& asked :
         {std::vector<std::string>{"hosts", "host-2"}, {"hosts", "--host", "host-2"}}) {
        auto words = asked;
        words.insert(words.end(), {"--snapshot", cloud, "--json"});
        const auto hosts = json::parse(run_program(words).out).at("hosts");
        ASSERT_EQ(hosts.size(), 1U);
        EXPECT_EQ(hosts[0]["name"], "host-2");
    }
    const auto unknown = run_program({"hosts", "hots-2", "--snapshot", cloud});
    EXPECT_EQ(unknown.exit_code, 6);
    EXPECT_EQ(unknown.out, "");
    EXPECT_NE(unknown.err.find("there is no host 'hots-2' in this cloud, by name or id; did you "
                               "mean 'host-2'"),
              std::string::npos)
        << unknown.err;
}

TEST(ProgramSnapshot, ARevocableRequesterIsRefusedAndTheExitCodeSaysSo) {
    const auto refused = run_program({"plan", "--snapshot", cloud, "--resources", "VCPU=1",
                                      "--project", "57b23760e5744ead88ab25bf2cbeaf39"});
    EXPECT_EQ(refused.exit_code, 3) << refused.err;
    EXPECT_NE(refused.out.find("the requester is revocable itself"), std::string::npos)
        << refused.out;
}

TEST(ProgramSnapshot, AStrategyTakesItsParameters) {
    const auto plan = [](const std::string& strategy) {
        return std::vector<std::string>{"plan",
                                        "--snapshot",
                                        cloud,
                                        "--resources",
                                        "VCPU=3",
                                        "--project",
                                        "d56453483958495985d3f9a71a570b92",
                                        "--strategy",
                                        strategy,
                                        "--json"};
    };
    const auto chosen = run_program(plan("strict:leftover_order=DISK_GB"));
    EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
    EXPECT_EQ(json::parse(chosen.out).value("strategy", ""), "strict");
    expect_refused(plan("strict:leftover_odrer=DISK_GB"),
                   "--strategy: strategy.leftover_odrer: unknown key; expected leftover_order");
    expect_refused(plan("gentle"), "; expected one of ");
}

TEST(ProgramSnapshot, AClassThatIsCalledOtherwiseElsewhereIsFound) {
    const auto said = [](const std::string& resources) {
        const auto result = run_program({"plan", "--snapshot", cloud, "--resources", resources,
                                         "--project", "d56453483958495985d3f9a71a570b92"});
        EXPECT_EQ(result.exit_code, 6);
        return result.err;
    };
    EXPECT_NE(said("MEMORY=512").find("no host offers it; did you mean 'MEMORY_MB'?"),
              std::string::npos);
    EXPECT_NE(said("VCPU=1,DISK=5").find("did you mean 'DISK_GB'?"), std::string::npos);
    EXPECT_NE(said("CPU=1").find("did you mean 'VCPU'?"), std::string::npos);
}

TEST(ProgramSnapshot, CandidatesAreGolden) {
    const std::vector<std::string> ask{"candidates", "--snapshot", cloud, "--resources",
                                       "VCPU:3,MEMORY_MB:1024,DISK_GB:20"};
    const auto result = run_program(ask);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    expect_golden("snapshot-candidates", result.out);
    auto as_json = ask;
    as_json.push_back("--json");
    const auto answer = json::parse(run_program(as_json).out);
    EXPECT_EQ(answer["resources"], json({{"VCPU", 3}, {"MEMORY_MB", 1024}, {"DISK_GB", 20}}));
    for (const auto& [provider, summary] : answer["provider_summaries"].items())
        EXPECT_EQ(summary["resources"].size(), 3U) << provider;
    EXPECT_FALSE(answer["provider_summaries"].empty());
    EXPECT_FALSE(answer["preemptible_allocations"].empty());
}

TEST(ProgramSnapshot, ManyRequestsAreGolden) {
    const auto result = run_program({"plan", "--snapshot", cloud, "--requests", requests});
    EXPECT_EQ(result.exit_code, 3) << "one is not enough";
    EXPECT_EQ(result.err, "");
    expect_golden("snapshot-plans", result.out);
}

TEST(ProgramSnapshot, ManyRequestsCountNoRoomTwice) {
    const auto result =
        run_program({"plan", "--snapshot", cloud, "--requests", requests, "--json"});
    const auto answer = json::parse(result.out);
    ASSERT_EQ(answer["plans"].size(), 4U);
    EXPECT_EQ(answer["plans"][0]["hosts"][0]["host_name"], "host-1");
    EXPECT_EQ(answer["plans"][1]["hosts"][0]["host_name"], "host-2");
    EXPECT_EQ(answer["plans"][2]["decision"], "refused");
    EXPECT_EQ(answer["sum"], json({{"requests", 4},
                                   {"plans", 2},
                                   {"nothing_to_do", 0},
                                   {"not_enough", 1},
                                   {"refused", 1},
                                   {"slots_freed", 2},
                                   {"victims", 5}}));
}

/// One empty host that offers `inventories`, all of them free.
json empty_cloud(const std::map<std::string, int>& inventories) {
    std::ifstream in(cloud);
    json file = json::parse(in);
    json host = file["hosts"][0];
    host["servers"] = json::array();
    json root = host["providers"][0];
    const json like = root["inventories"].front();
    root["inventories"] = json::object();
    root["used"] = root["other_consumers"] = json::object();
    for (const auto& [name, total] : inventories) {
        json& inventory = root["inventories"][name] = like;
        inventory["total"] = inventory["max_unit"] = total;
        inventory["allocation_ratio"] = 1;
        inventory["reserved"] = 0;
    }
    host["providers"] = json::array({root});
    file["hosts"] = json::array({host});
    return file;
}

/// What is decided for each of a list of requests.
std::vector<std::string> decisions(const json& snapshot, const json& asked) {
    const TemporaryDirectory directory;
    const auto result = run_program({"plan", "--snapshot", directory.write("c", snapshot.dump()),
                                     "--requests", directory.write("r", asked.dump()), "--json"});
    std::vector<std::string> all;
    const json answer = json::parse(result.out, nullptr, false);
    if (answer.is_discarded()) return {result.err};
    for (const json& plan : answer["plans"]) all.push_back(plan["decision"]);
    return all;
}

TEST(ProgramSnapshot, RoomThatIsThereIsTakenByTheFirstThatAsks) {
    const json one{{"project", "p"}, {"resources", {{"VCPU", 6}}}};
    EXPECT_EQ(decisions(empty_cloud({{"VCPU", 6}}), {one, one, one}),
              (std::vector<std::string>{"nothing-to-do", "not-enough", "not-enough"}));
    EXPECT_EQ(decisions(empty_cloud({{"VCPU", 12}}), {one, one, one}),
              (std::vector<std::string>{"nothing-to-do", "nothing-to-do", "not-enough"}));
}

TEST(ProgramSnapshot, SoIsFreeRevocableRoom) {
    json file = empty_cloud({{"VCPU", 12}, {"CUSTOM_SPOT", 1}});
    file["revocable_classes"] = json::array({"CUSTOM_SPOT"});
    const json one{{"project", "p"}, {"resources", {{"VCPU", 2}}}, {"res_type", "revocable"}};
    EXPECT_EQ(decisions(file, {one, one}),
              (std::vector<std::string>{"nothing-to-do", "not-enough"}));
}

TEST(ProgramSnapshot, AmountsThatPlacementCannotHoldAreRefused) {
    const TemporaryDirectory directory;
    for (const std::string amount : {"2147483648", "9223372036854775807"})
        expect_refused({"plan", "--snapshot", cloud, "--requests",
                        directory.write("r", "- {project: p, resources: {VCPU: " + amount + "}}")},
                       "r:1: resources: the amount of VCPU is '" + amount +
                           "'; expected at most 2147483647, as Placement holds no more");
}

TEST(ProgramSnapshot, RequestsAndSnapshotComeThroughStdinToo) {
    const auto result = run_program({"plan", "--snapshot", cloud, "--requests", "-", "--json"}, {},
                                    R"([{"project": "p", "resources": {"VCPU": 1}}])");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto answer = json::parse(result.out);
    EXPECT_EQ(answer["plans"][0]["decision"], "nothing-to-do") << "host-1 has the room";
    EXPECT_NE(answer["plans"][0]["remarks"][0].get<std::string>().find("'p'"), std::string::npos);
}

TEST(ProgramSnapshot, AProjectIsFoundAmongThoseThatTheFileNames) {
    std::ifstream in(cloud);
    json file = json::parse(in);
    file["project_names"] = {{"p-web", "web"}, {"p-1", "twice"}, {"p-2", "twice"}};
    const TemporaryDirectory directory;
    const std::string named = directory.write("c", file.dump());
    for (const char* const command : {"plan", "room"}) {
        const auto asked = [&](const std::string& project) {
            return run_program({command, "--snapshot", named, "--resources", "VCPU=1", "--project",
                                project, "--json"});
        };
        EXPECT_EQ(asked("web").exit_code, 0) << command;
        const json answer = json::parse(asked("web").out);
        EXPECT_EQ(answer.at(answer.contains("asked") ? "asked" : "request").at("project"), "p-web");
        EXPECT_TRUE(answer.at("remarks").empty()) << answer.at("remarks");
        const auto unknown = asked("nosuch");
        EXPECT_EQ(unknown.exit_code, 6) << command;
        EXPECT_EQ(unknown.out, "");
        EXPECT_NE(unknown.err.find("no project of the id or name 'nosuch'"), std::string::npos);
        EXPECT_EQ(asked("twice").exit_code, 2) << command;
    }
}

TEST(ProgramSnapshot, RoomThatItsLedgerPromisesIsLeftAlone) {
    std::ifstream in(cloud);
    json file = json::parse(in);
    const json host = file["hosts"][0];
    for (const std::size_t spot : {1U, 2U})
        file["ledger"]["evictions"].push_back({{"request", "req-z"},
                                               {"host", host["id"]},
                                               {"server", host["servers"][spot]["id"]},
                                               {"ended", nullptr}});
    file["ledger"]["promises"].push_back({{"request", "req-z"},
                                          {"project", "other"},
                                          {"host", host["id"]},
                                          {"slot", {{"VCPU", 5}}},
                                          {"slots", 1},
                                          {"requesters", json::array()},
                                          {"since", "2026-11-20T13:59:00.000Z"},
                                          {"until", nullptr}});
    const TemporaryDirectory directory;
    const auto result = run_program({"plan", "--snapshot", directory.write("c", file.dump()),
                                     "--resources", "VCPU=5", "--project", "p", "--json"});
    EXPECT_EQ(json::parse(result.out)["hosts"][0]["host_name"], "host-2") << result.out;
}

TEST(ProgramSnapshot, ACapturedMessageIsPlannedOnIt) {
    const auto result = run_program(
        {"plan", "--snapshot", cloud, "--json", "--notification",
         std::string(REAPER_SOURCE_DIR) +
             "/tests/data/openstack-zed/notifications/build_instances.error.single.json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto answer = json::parse(result.out);
    EXPECT_EQ(answer["decision"], "plan");
    EXPECT_EQ(answer["hosts"][0]["host_name"], "host-2");
}

TEST(ProgramSnapshot, AConfigurationNeedsNoCloudAndItsTaggersAreApplied) {
    const TemporaryDirectory directory;
    const std::string config = directory.write(
        "p.yaml", "strategy: {name: chance}\ntaggers:\n  - {name: project, tag: preemptible}\n");
    const auto plan = run_program({"--config", config, "plan", "--snapshot", cloud, "--resources",
                                   "VCPU=5", "--project", "p", "--json"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_EQ(json::parse(plan.out)["strategy"], "chance");
    const std::string asks =
        directory.write("q.yaml", "taggers:\n  - {name: project, tag: spot}\n");
    expect_refused({"--config", asks, "hosts", "--snapshot", cloud},
                   "does not tell which projects carry the tag 'spot' (only of 'preemptible')");
    const std::string wrong = directory.write("r.yaml", "alternatives: none\n");
    expect_refused({"--config", wrong, "hosts", "--snapshot", cloud}, "r.yaml:1: alternatives");
}

TEST(ProgramSnapshot, WhatIsNoSnapshotIsNamedInOneLine) {
    const TemporaryDirectory directory;
    expect_refused({"hosts", "--snapshot", directory.file("none")}, "can't be opened");
    expect_refused({"hosts", "--snapshot", directory.write("a", "{}")},
                   directory.file("a") + ": not a snapshot of the reaper");
    expect_refused({"hosts", "--snapshot",
                    directory.write("b", R"({"format":"reaper-snapshot","version":9})")},
                   "version 9 of the format");
    expect_refused({"plan", "--snapshot", cloud, "--requests",
                    directory.write("c", "- {project: p}\n"), "--strategy", "gentle"},
                   "c:1: [0].resources: missing");
}

TEST(ProgramSnapshot, AllMistakesOfTheRequestsAreReported) {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("r.yaml",
                        "- {id: a, project: p, resources: VCPU}\n"
                        "- {id: b, project: p, resources: {VCPU: 1}}\n"
                        "- {id: b, project: p, resources: {VCPU: 1}}\n"
                        "- {project: p, resources: {VCPU: 1}, traits: [x y]}\n");
    const auto result = run_program({"plan", "--snapshot", cloud, "--requests", path});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("r.yaml:1: resources: is 'VCPU'; expected CLASS=AMOUNT"),
              std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find("r.yaml:3: id: 'b' is there twice"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("r.yaml:4: traits: "), std::string::npos) << result.err;
}

TEST(ProgramSnapshot, WithoutTheCloudThereIsNoneAndNoFile) {
    const TemporaryDirectory directory;
    const std::string config = directory.write("reaper.yaml",
                                               "cloud:\n"
                                               "  auth:\n"
                                               "    auth_url: http://127.0.0.1:1/v3\n"
                                               "    username: reaper\n"
                                               "    user_domain_name: Default\n"
                                               "    password: swordfish\n"
                                               "    project_name: service\n"
                                               "    project_domain_name: Default\n"
                                               "taggers: [{name: project, tag: preemptible}]\n"
                                               "http: {max_retries: 0}\n"
                                               "broker:\n"
                                               "  urls: [\"amqp://127.0.0.1:1/\"]\n"
                                               "journal:\n"
                                               "  path: " +
                                                   directory.file("journal.db") + "\n");
    const std::string out = directory.file("cloud.json");
    const auto result = run_program({"--config", config, "snapshot", "--out", out});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace reaper::test::program_snapshot_test
