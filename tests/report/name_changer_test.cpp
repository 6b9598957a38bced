// Nothing of who is named in a decision is left in it.
#include "reaper/report/name_changer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/report/json.hpp"
#include "tests/report/examples.hpp"

namespace reaper::report::test::name_changer_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NameChanger, NeighboursAndFlavorsOfAPlanAreReplaced) {
    Plan plan = example_plan();
    plan.hosts[0].victims[0].flavor = "secret-flavor";
    plan.hosts[0].spared = {{ServerId{"secret-id"},
                             "secret-name",
                             ProjectId{"secret-project"},
                             {{"VCPU", 2}},
                             noon(),
                             "secret-reason",
                             true}};
    plan.hosts[0].spared_in_all = 3;
    Decision decision{plan};
    Request request = example_request();
    request.flavor = "secret-flavor";
    const NameChanger changer{
        [](NameKind kind, const std::string& name) { return pseudonym(kind, name, "1"); }};
    changer.change(decision);
    changer.change(request);
    const std::string text = dump(to_json(decision)) + dump(to_json(request));
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    const auto& spared = std::get<Plan>(decision).hosts[0].spared.at(0);
    EXPECT_EQ(spared.resources, (Resources{{"VCPU", 2}}));
    EXPECT_TRUE(spared.might_have_gone);
    EXPECT_EQ(std::get<Plan>(decision).hosts[0].spared_in_all, 3);
    EXPECT_FALSE(request.flavor.empty());
}

TEST(NameChanger, IdsInsideGroupsAndOfMovedVictimsAreReplaced) {
    Plan plan = example_plan();
    plan.hosts[0].victims[0].held_by = ServerId{"secret-migration"};
    Decision decision{plan};
    Request request = example_request();
    RequestGroup group;
    group.suffix = "1";
    group.aggregates = {{"secret-aggregate"}};
    group.in_tree = ProviderId{"secret-provider"};
    request.groups = {group};
    const NameChanger changer{
        [](NameKind kind, const std::string& name) { return pseudonym(kind, name, "1"); }};
    changer.change(decision);
    changer.change(request);
    const std::string text = dump(to_json(decision)) + dump(to_json(request));
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    EXPECT_EQ(request.groups[0].suffix, "1");
    EXPECT_EQ(request.groups[0].in_tree.str(), pseudonym(NameKind::provider, "x", "1"));
}

}  // namespace
}  // namespace reaper::report::test::name_changer_test
