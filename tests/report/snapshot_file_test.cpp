#include "reaper/report/snapshot_file.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "reaper/report/json.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/random_snapshot.hpp"

namespace reaper::report::test::snapshot_file_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string written(const SnapshotFile& file) {
    std::ostringstream out;
    write_snapshot(out, file);
    return out.str();
}

json document_of(const SnapshotFile& file) {
    return json::parse(written(file));
}

SnapshotFile example_file() {
    SnapshotFile file;
    file.snapshot = example_snapshot();
    file.tag_data.projects_by_tag["preemptible"] = {ProjectId{"a1b2c3d4000040008000000000000001"}};
    const Host& host = file.snapshot.hosts.front();
    Ledger::Promise promise{RequestId{"req-1"},
                            ProjectId{"p"},
                            host.id,
                            {{"VCPU", 2}},
                            1,
                            {ServerId{"9c000000-0000-4000-8000-000000000001"}},
                            noon(),
                            {}};
    file.ledger =
        Ledger({{RequestId{"req-1"}, host.id, host.servers.front().id, noon(5)}}, {promise});
    return file;
}

std::string problem(const std::string& text) {
    const auto file = read_snapshot(text);
    if (file) return "";
    EXPECT_EQ(file.error().code, Errc::bad_input);
    return file.error().what;
}

std::string problem_after(const std::function<void(json&)>& edit) {
    json document = document_of(example_file());
    edit(document);
    return problem(document.dump());
}

TEST(SnapshotFile, HasItsDocumentedShape) {
    expect_golden("snapshot.json", dump(document_of(example_file()), 2) + "\n");
}

TEST(SnapshotFile, BeginsWithItsFormat) {
    EXPECT_EQ(written({}).substr(0, 30), "{\n\"format\": \"reaper-snapshot\",");
}

TEST(SnapshotFile, TheServerGroupOfAPromiseComesBack) {
    SnapshotFile file = example_file();
    auto promises = file.ledger.promises();
    promises.front().group = "g-1";
    promises.front().groups = {Resources{{"VGPU", 1}}, Resources{{"VGPU", 2}}};
    file.ledger = Ledger{file.ledger.evictions(), promises};
    const auto back = read_snapshot(written(file));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(back->ledger.promises().front().group, "g-1");
    EXPECT_EQ(back->ledger.promises().front().groups, promises.front().groups);
}

TEST(SnapshotFile, ComesBackWhole) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        const SnapshotFile file = RandomSnapshot(seed).make();
        auto back = read_snapshot(written(file));
        ASSERT_TRUE(back) << seed << ": " << back.error().what;
        // Its ledger is random: what it has of strangers is remarked.
        std::erase_if(back->snapshot.remarks,
                      [](const std::string& each) { return each.starts_with("ledger: "); });
        EXPECT_EQ(document_of(*back), document_of(file)) << seed;
        ASSERT_EQ(back->snapshot.hosts.size(), file.snapshot.hosts.size());
        for (std::size_t i = 0; i < file.snapshot.hosts.size(); ++i)
            EXPECT_EQ(back->snapshot.hosts[i].servers, file.snapshot.hosts[i].servers) << seed;
    }
}

TEST(SnapshotFile, MayBeInAnyOrderAndHoldMore) {
    json document = document_of(example_file());
    std::reverse(document["hosts"].begin(), document["hosts"].end());
    for (json& host : document["hosts"]) {
        std::reverse(host["servers"].begin(), host["servers"].end());
        std::reverse(host["providers"].begin(), host["providers"].end());
        host["colour"] = "blue";
    }
    document["aside"] = {{"hosts", {1, 2, 3}}};
    const auto back = read_snapshot(document.dump());
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(document_of(*back), document_of(example_file()));
}

TEST(SnapshotFile, WhatIsWrongIsNamedByItsPlace) {
    const auto host = [](json& d) -> json& { return d["hosts"][0]; };
    const auto root = [&](json& d) -> json& { return host(d)["providers"][0]; };
    const struct {
        std::function<void(json&)> edit;
        const char* says;
    } cases[] = {
        {[](json& d) { d["format"] = "other"; }, "not a snapshot of the reaper"},
        {[](json& d) { d["version"] = 2; }, "version 2 of the format; this reaper reads 1"},
        {[](json& d) { d.erase("version"); }, "version: missing"},
        {[](json& d) { d.erase("hosts"); }, "hosts: missing"},
        {[](json& d) { d["hosts"] = 3; }, "hosts: expected a list, found number"},
        {[](json& d) { d["hosts"][0] = "x"; }, "hosts[0]: expected an object, found string"},
        {[](json& d) { d["taken_at"] = "noon"; }, "taken_at: expected a time"},
        {[&](json& d) { host(d).erase("up"); }, "hosts[0].up: missing"},
        {[&](json& d) { host(d)["name"] = nullptr; }, "hosts[0].name: expected a text, found null"},
        {[&](json& d) { host(d)["id"] = "other"; },
         "hosts[0].providers: none of them has the host's id"},
        {[&](json& d) { host(d)["servers"][1]["created"] = 7; },
         "hosts[0].servers[1].created: expected a text, found number"},
        {[&](json& d) { host(d)["servers"][1]["metadata"]["k"] = 7; },
         "hosts[0].servers[1].metadata.k: expected a text"},
        {[&](json& d) { host(d)["servers"][1] = host(d)["servers"][0]; }, "is there twice (host "},
        {[&](json& d) { root(d)["used"]["VCPU"] = -1; },
         "hosts[0].providers[0].used.VCPU: expected a whole number from 0 to "},
        {[&](json& d) { root(d)["used"]["VCPU"] = 1ULL << 63U; }, "found 9223372036854775808"},
        {[&](json& d) { root(d)["used"]["VCPU"] = 0.5; }, "expected a whole number, found number"},
        {[&](json& d) { root(d)["inventories"]["VCPU"]["step_size"] = 0; },
         "providers[0].inventories.VCPU.step_size: expected a whole number from 1 to "},
        {[&](json& d) { root(d)["inventories"]["VCPU"]["allocation_ratio"] = -1; },
         "allocation_ratio: expected a number of 0 or more"},
        {[](json& d) { d["ledger"]["promises"][0]["slots"] = -1; },
         "ledger.promises[0].slots: expected a whole number from 0 to 2147483647, found -1"},
        {[](json& d) { d["ledger"]["evictions"][0]["request"] = ""; },
         "ledger.evictions[0].request: is empty"},
        {[](json& d) { d["facts"]["projects_by_tag"] = json::array(); },
         "facts.projects_by_tag: expected an object, found array"},
    };
    for (const auto& [edit, says] : cases) EXPECT_THAT(problem_after(edit), HasSubstr(says));
}

/// Parsed to the end within the test's time, or not at all.
std::string many(const std::string& one, std::size_t bytes) {
    std::string list = "[" + one;
    list.reserve(bytes + one.size() + 2);
    while (list.size() < bytes) list += "," + one;
    return list + "]";
}

std::string with_member(const std::string& name, const std::string& value) {
    std::string text = written(example_file());
    const std::string member = "\"" + name + "\": ";
    const auto at = text.find(member);
    if (at == std::string::npos) return "{" + member + value + "," + text.substr(1);
    const auto end = text.find(",\n", at);
    return text.replace(at, end - at, member + value);
}

TEST(SnapshotFile, WhatNoCloudCanBeIsRefused) {
    const auto host = [](json& d) -> json& { return d["hosts"][0]; };
    const auto root = [&](json& d) -> json& { return host(d)["providers"][0]; };
    const auto nested = [&](json& d) -> json& { return host(d)["providers"][1]; };
    const auto vcpus = [&](json& d) -> json& { return root(d)["inventories"]["VCPU"]; };
    const struct {
        std::function<void(json&)> edit;
        const char* says;
    } cases[] = {
        {[&](json& d) { nested(d)["parent"] = nested(d)["id"]; },
         "hosts[0].providers[1].parent: goes in a circle"},
        {[&](json& d) {
             json third = nested(d);
             third["id"] = "third";
             third["parent"] = nested(d)["id"];
             nested(d)["parent"] = "third";
             host(d)["providers"].push_back(third);
         },
         "hosts[0].providers[1].parent: goes in a circle"},
        {[&](json& d) { nested(d)["parent"] = "elsewhere"; },
         "hosts[0].providers[1].parent: is no provider of the host"},
        {[&](json& d) { nested(d)["parent"] = ""; },
         "hosts[0].providers[1].parent: is no provider of the host"},
        {[&](json& d) { root(d)["parent"] = nested(d)["id"]; },
         "the provider with the host's id is the root, which has none"},
        {[&](json& d) { nested(d)["id"] = root(d)["id"]; },
         "hosts[0].providers[1].id: is there twice"},
        {[&](json& d) { root(d)["inventories"]["bad class!\n"] = vcpus(d); },
         "hosts[0].providers[0].inventories.bad class!\\x0a: names are written like VCPU"},
        {[&](json& d) { root(d)["used"]["vcpu"] = 1; }, "used.vcpu: names are written like"},
        {[&](json& d) { root(d)["traits"] = json::array({"no trait"}); },
         "hosts[0].providers[0].traits[0]: names are written like"},
        {[&](json& d) { d["ledger"]["promises"][0]["slot"]["VCPU "] = 1; },
         "ledger.promises[0].slot.VCPU : names are written like"},
        {[&](json& d) {
             host(d)["servers"][0]["allocations"]["nowhere"] = {{"VCPU", 1}};
         },
         "holds something on provider nowhere, which no host has"},
        {[&](json& d) { root(d)["used"]["VCPU"] = 0; }, "but its consumers hold"},
        {[&](json& d) {
             root(d)["other_consumers"]["x"] = {{"VCPU", 100'000}};
         },
         "but its consumers hold"},
        {[&](json& d) { vcpus(d)["total"] = INT64_MAX; },
         "inventories.VCPU.total: expected a whole number from 0 to 2147483647, found "
         "9223372036854775807"},
        {[&](json& d) { root(d)["used"]["VCPU"] = INT64_MAX; },
         "expected a whole number from 0 to 1125899906842624"},
        {[&](json& d) { d["ledger"]["promises"][0]["slot"]["VCPU"] = INT64_MAX; },
         "ledger.promises[0].slot.VCPU: expected a whole number from 0 to 2147483647"},
        {[&](json& d) { vcpus(d)["allocation_ratio"] = 1e308; },
         "inventories.VCPU.allocation_ratio: makes more of it than any host has"},
        {[&](json& d) {
             vcpus(d)["total"] = 2'147'483'647;
             vcpus(d)["allocation_ratio"] = 1e9;
         },
         "allocation_ratio: makes more of it than any host has"},
        {[&](json& d) {
             for (int i = 0; i <= 1'000; ++i) {
                 json more = nested(d);
                 more["id"] = "more-" + std::to_string(i);
                 host(d)["providers"].push_back(more);
             }
         },
         "hosts[0].providers: more than 1000"},
        {[&](json& d) {
             for (int i = 0; i <= 500; ++i)
                 root(d)["inventories"]["CUSTOM_" + std::to_string(i)] = vcpus(d);
         },
         "resource classes, where 500 are the most"},
    };
    for (const auto& [edit, says] : cases) EXPECT_THAT(problem_after(edit), HasSubstr(says));
}

TEST(SnapshotFile, AMemberThatIsThereTwiceIsNamed) {
    const std::string whole = written(example_file());
    const auto doubled = [&](const std::string& member, const std::string& also) {
        std::string text = whole;
        text.insert(text.find(member), also + ",");
        return problem(text);
    };
    EXPECT_THAT(doubled("\"locked\":", "\"locked\":true"),
                HasSubstr("hosts[0].servers[0].locked: is there twice"));
    EXPECT_THAT(doubled("\"hosts\":", "\"hosts\": []"), HasSubstr("hosts: is there twice"));
    EXPECT_THAT(doubled("\"hosts\":", "\"aside\": 1, \"aside\": 2"),
                HasSubstr("aside: is there twice"));
}

TEST(SnapshotFile, TextThatIsNotUtf8IsRefused) {
    std::string text = written(example_file());
    const auto at = text.find("\"name\":\"") + 8;
    text.insert(at, "\xff\xfe");
    EXPECT_THAT(problem(text), HasSubstr("not JSON (at byte "));
}

TEST(SnapshotFile, TimeAndMemoryStayInProportionToTheFile) {
    // With what took quadratic time, or thirty times the memory, none of these would end.
    constexpr std::size_t large = 12'000'000;
    EXPECT_EQ(problem(with_member("aside", many("{\"a\": 12345678901234}", large))), "");
    EXPECT_THAT(problem(with_member("aside", many("{}", large))), HasSubstr("too many values"));
    EXPECT_THAT(problem(with_member("remarks", many("\"\"", large))), HasSubstr("too many values"));
    EXPECT_EQ(problem(with_member("remarks", many("\"a remark\"", large))), "");
    EXPECT_THAT(problem(with_member("facts", many("[]", large))), HasSubstr("too many values"));
}

TEST(SnapshotFile, WhatIsInMemoryAtOnceIsBounded) {
    EXPECT_THAT(problem(with_member("facts", many("[1234,1234,1234,1234]", 60'000'000))),
                HasSubstr("values in one place"));
    for (const std::size_t size : {std::size_t{65'536}, std::size_t{65'537}}) {
        const std::string text = written(example_file());
        std::string longer = text;
        const auto at = longer.find("\"name\":\"") + 8;
        longer.insert(at, std::string(size - (longer.find('"', at) - at), 'x'));
        if (size == 65'536)
            EXPECT_EQ(problem(longer), "");
        else
            EXPECT_THAT(problem(longer), HasSubstr("a text of more than 65536 bytes"));
    }
    EXPECT_THAT(problem("{\"format\": \"" + std::string(100'000, '\\')),
                HasSubstr("a text of more than"));
}

TEST(SnapshotFile, AServerThatNamesAnotherHostIsRefused) {
    EXPECT_THAT(problem_after([](json& d) { d["hosts"][0]["servers"][0]["host"] = "elsewhere"; }),
                HasSubstr("names the host 'elsewhere'"));
}

TEST(SnapshotFile, WhatTheLedgerHasOfStrangersIsRemarked) {
    SnapshotFile file = example_file();
    auto promises = file.ledger.promises();
    promises.front().host = HostId{"gone"};
    file.ledger =
        Ledger({{RequestId{"req-1"}, file.snapshot.hosts.front().id, ServerId{"gone"}, {}},
                {RequestId{"req-1"}, HostId{"gone"}, ServerId{"gone-too"}, {}}},
               promises);
    const auto back = read_snapshot(written(file));
    ASSERT_TRUE(back) << back.error().what;
    const auto& remarks = back->snapshot.remarks;
    EXPECT_THAT(remarks, ::testing::Contains(HasSubstr("2 of its evictions name what is not")));
    EXPECT_THAT(remarks, ::testing::Contains(HasSubstr("1 of its promises name what is not")));
    EXPECT_EQ(read_snapshot(written(example_file()))->snapshot.remarks.size(),
              example_file().snapshot.remarks.size());
}

TEST(SnapshotFile, RemarksBeyondThoseThatAFileHasAreCountedNotKept) {
    const auto read =
        read_snapshot(with_member("remarks", json(std::vector<std::string>(1'500, "r")).dump()));
    ASSERT_TRUE(read) << read.error().what;
    ASSERT_EQ(read->snapshot.remarks.size(), 1'000U);
    EXPECT_EQ(read->snapshot.remarks.back(), "and 501 more remarks");
}

TEST(SnapshotFile, MoreRemarksThanAFileHoldsAreCounted) {
    SnapshotFile file = example_file();
    file.snapshot.remarks = std::vector<std::string>(1'500, "a remark");
    const auto back = read_snapshot(written(file));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(back->snapshot.remarks.size(), 1'000U);
    EXPECT_EQ(back->snapshot.remarks.back(), "and 501 more remarks");
}

TEST(SnapshotFile, WhatIsHeldElsewhereIsLeftOut) {
    SnapshotFile file = example_file();
    auto& server = file.snapshot.hosts.front().servers.front();
    const Allocations here = server.allocations;
    server.allocations.insert_or_assign(ProviderId{"shared-storage"}, Resources{{"DISK_GB", 10}});
    const auto back = read_snapshot(written(file));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(back->snapshot.hosts.front().servers.front().allocations, here);
}

TEST(SnapshotFile, AnotherVersionIsNamedBeforeItsHostsAreRead) {
    json document = document_of(example_file());
    std::string text = written(example_file());
    const std::string version = "\"version\": 1";
    text.replace(text.find(version), version.size(), "\"version\": 2");
    text.replace(text.find("\"hosts\": ["), 10, "\"hosts\": [7,");
    EXPECT_THAT(problem(text), HasSubstr("version 2 of the format"));
}

TEST(SnapshotFile, NonsenseIsRefusedAndDepthIsBounded) {
    EXPECT_THAT(problem(""), HasSubstr("not JSON"));
    EXPECT_THAT(problem("[]"), HasSubstr("not a snapshot"));
    EXPECT_THAT(problem("7"), HasSubstr("not a snapshot"));
    EXPECT_THAT(problem(std::string(100'000, '[')), HasSubstr("deeper than 16"));
    EXPECT_THAT(problem("{\"a\": 1e999}"), HasSubstr("out of range"));
    const std::string whole = written(example_file());
    for (std::size_t end = 0; end + 2 < whole.size(); end += 11)
        EXPECT_FALSE(problem(whole.substr(0, end)).empty()) << end;
}

}  // namespace
}  // namespace reaper::report::test::snapshot_file_test
