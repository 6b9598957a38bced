#include "reaper/report/anonymize.hpp"

#include <gtest/gtest.h>
#include <iomanip>
#include <regex>
#include <set>
#include <sstream>

#include "reaper/planner/planner.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/name_changer.hpp"
#include "strategies/strategy_table.hpp"
#include "tests/report/random_snapshot.hpp"

namespace reaper::report::test::anonymize_test {
namespace {

using nlohmann::json;

json document_of(const SnapshotFile& file) {
    std::stringstream text;
    write_snapshot(text, file);
    return json::parse(text);
}

/// Every text of the document, names of members included, that is not of the format or of Nova's
/// and Placement's vocabulary.
void collect(const json& value, std::set<std::string>& texts) {
    if (value.is_string()) texts.insert(value.get<std::string>());
    if (value.is_object())
        for (const auto& [name, member] : value.items()) {
            texts.insert(name);
            collect(member, texts);
        }
    if (value.is_array())
        for (const auto& element : value) collect(element, texts);
}

bool vocabulary(const std::string& text) {
    static const std::regex known(
        "[A-Z_]*|[a-z_]*|1|reaper-snapshot|resources1:CUSTOM_GOLD|20..-..-..T..:..:..\\....Z");
    return std::regex_match(text, known);
}

TEST(Anonymize, NothingOfTheOriginalIsLeft) {
    int looked_for = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const SnapshotFile file = RandomSnapshot(seed).make();
        const std::string text = document_of(anonymized(file)).dump();
        std::set<std::string> originals;
        collect(document_of(file), originals);
        for (const std::string& original : originals) {
            if (vocabulary(original)) continue;
            ++looked_for;
            const std::string quoted = json(original).dump();
            EXPECT_EQ(text.find(quoted.substr(1, quoted.size() - 2)), std::string::npos)
                << seed << ": " << original;
        }
    }
    EXPECT_GT(looked_for, 1'000);
}

TEST(Anonymize, NamesOfProjectsAreLeftOut) {
    SnapshotFile file = RandomSnapshot(1).make();
    for (const Host& host : file.snapshot.hosts)
        for (const Server& server : host.servers)
            file.snapshot.project_names[server.project] = "named-by-keystone";
    ASSERT_NE(document_of(file).dump().find("named-by-keystone"), std::string::npos);
    const SnapshotFile changed = anonymized(file);
    EXPECT_TRUE(changed.snapshot.project_names.empty());
    EXPECT_EQ(document_of(changed).dump().find("named-by-keystone"), std::string::npos);
}

TEST(Anonymize, OfRequestsVictimsAndSparedServersTheProjectsNameIsLeftOut) {
    const NameChanger changer([](NameKind, const std::string&) { return std::string{"x"}; });
    Request request;
    request.project = ProjectId{"p"};
    request.project_name = "named-by-keystone";
    request.requester_names = {{ServerId{"s-1"}, "named-by-a-user"}};
    changer.change(request);
    EXPECT_EQ(request.project_name, "");
    EXPECT_TRUE(request.requester_names.empty());
    Plan plan;
    plan.hosts.emplace_back();
    plan.hosts[0].victims.emplace_back();
    plan.hosts[0].victims[0].project_name = "named-by-keystone";
    plan.hosts[0].spared.emplace_back();
    plan.hosts[0].spared[0].project_name = "named-by-keystone";
    Decision decision = plan;
    changer.change(decision);
    const HostPlan& changed = std::get<Plan>(decision).hosts.at(0);
    EXPECT_EQ(changed.victims.at(0).project_name, "");
    EXPECT_EQ(changed.spared.at(0).project_name, "");
}

TEST(Anonymize, TheSameIsReplacedByTheSameAndStaysReadable) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const SnapshotFile file = RandomSnapshot(seed).make();
        const SnapshotFile changed = anonymized(file);
        EXPECT_TRUE(changed.anonymous);
        const auto back = read_snapshot(dump(document_of(changed)));
        ASSERT_TRUE(back) << back.error().what;
        std::map<ProjectId, ProjectId> projects;
        ASSERT_EQ(changed.snapshot.hosts.size(), file.snapshot.hosts.size());
        for (std::size_t h = 0; h < file.snapshot.hosts.size(); ++h) {
            const Host& before = file.snapshot.hosts[h];
            const Host& after = changed.snapshot.hosts[h];
            EXPECT_EQ(before.name == before.service_host, after.name == after.service_host);
            EXPECT_EQ(after.root().id, after.id);
            ASSERT_EQ(before.servers.size(), after.servers.size());
            for (std::size_t s = 0; s < before.servers.size(); ++s) {
                EXPECT_EQ(after.servers[s].host, after.service_host);
                EXPECT_EQ(before.servers[s].resources(), after.servers[s].resources());
                EXPECT_EQ(before.servers[s].revocable(), after.servers[s].revocable());
                const auto known =
                    projects.emplace(before.servers[s].project, after.servers[s].project);
                EXPECT_EQ(known.first->second, after.servers[s].project);
            }
        }
    }
}

TEST(Anonymize, IdsKeepTheirShapeAndTheStandardTagItsName) {
    SnapshotFile file;
    file.tag_data.projects_by_tag["preemptible"] = {
        ProjectId{"a1b2c3d4000040008000000000000001"},
        ProjectId{"5e2d0c3a-0000-4000-8000-000000000001"}, ProjectId{"acme"}};
    file.tag_data.projects_by_tag["acme-spot"] = {ProjectId{"acme"}};
    file.ledger = Ledger(
        {{RequestId{"req-5e2d0c3a-0000-4000-8000-000000000001"}, HostId{"h"}, ServerId{"s"}, {}}},
        {});
    const SnapshotFile changed = anonymized(file);
    const auto& tags = changed.tag_data.projects_by_tag;
    EXPECT_EQ(tags.at("preemptible"),
              (std::set<ProjectId>{ProjectId{"00000004-0000-4000-8000-000000000001"},
                                   ProjectId{"00000004000040008000000000000002"},
                                   ProjectId{"project-000003"}}));
    EXPECT_EQ(tags.at("project-tag-000001"), (std::set<ProjectId>{ProjectId{"project-000003"}}));
    EXPECT_EQ(changed.ledger.evictions().front().request,
              RequestId{"req-00000005-0000-4000-8000-000000000001"});
}

/// The same plan, about others.
TEST(Anonymize, TheSamePlanComesOut) {
    SnapshotFile file;
    for (int h = 0; h < 5; ++h) {
        Host host;
        host.id = HostId{"5e2d0c3a-0000-4000-8000-00000000000" + std::to_string(h)};
        host.name = host.service_host = "rack-" + std::to_string(h);
        Provider root;
        root.id = host.id;
        root.inventories[ResourceClass{"VCPU"}] = {12, 0, 1.0, 1, 12, 1};
        for (int s = 0; s < 6; ++s) {
            Server server;
            server.id =
                ServerId{"7e2d0c3a-0000-4000-8000-0000000000" + std::to_string(10 * h + s + 10)};
            server.host = host.name;
            server.status = "ACTIVE";
            server.allocations.insert_or_assign(host.id, Resources{{"VCPU", 1 + (h * s) % 3}});
            server.revocable_because = "a tag";
            root.used += server.resources();
            host.servers.push_back(server);
        }
        host.providers = {root};
        file.snapshot.hosts.push_back(host);
    }
    Request request;
    request.id = RequestId{"r"};
    request.resources = {{"VCPU", 5}};
    request.slots = 3;
    const auto plan = [&](const SnapshotFile& on) {
        const auto* info = find_strategy("strict");
        auto made = info->make(with_standards(info->parameters, {}));
        const auto& strategy = *std::get<std::unique_ptr<Strategy>>(made);
        return std::get<Plan>(
            make_plan(request, on.snapshot, on.ledger, strategy, "strict", PlanOptions{}));
    };
    const auto before = plan(file).victims();
    const auto after = plan(anonymized(file)).victims();
    std::vector<ServerId> all;
    for (const Host& host : file.snapshot.hosts)
        for (const Server& server : host.servers) all.push_back(server.id);
    std::sort(all.begin(), all.end());
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto rank = std::find(all.begin(), all.end(), before[i].server) - all.begin() + 1;
        std::ostringstream id;
        id << "00000003-0000-4000-8000-" << std::hex << std::setw(12) << std::setfill('0') << rank;
        EXPECT_EQ(after[i].server.str(), id.str());
    }
}

}  // namespace
}  // namespace reaper::report::test::anonymize_test
