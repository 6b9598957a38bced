// The section `reservations`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/visit.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::reservations_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

Role role(const char* path) {
    return *Role::parse(path);
}

constexpr const char* whole = R"(
reservations:
  enabled: true
  roles:
    - {role: engineering/backend, projects: [backend, default/api]}
    - {role: sales, projects: [shop]}
  roles_by_hierarchy: true
  roles_domains: [default, 5f1c]
  static:
    - role: engineering
      hosts: ["compute-1*"]
      aggregates: [fast]
      resources: {VCPU: 8, MEMORY_MB: 16384}
      labels: {purpose: peak}
      principal: capacity-team
      lend: false
      floor: {VCPU: 2}
      longest_loan: 24h
    - {role: sales, hosts: [compute-2], resources: {VCPU: 1}}
  lend: true
  longest_loan: 2h
  calm: 5min
  interval: 30s
  acl:
    permissive: false
    reserve:
      - {principals: [alice], roles: [engineering, "engineering/*"]}
    unreserve:
      - {principals: [alice], of: [alice, bob]}
)";

TEST(ReservationsOfTheFile, AreRead) {
    World world;
    const Reservations read = world.good(minimal(whole)).reservations;
    EXPECT_TRUE(read.enabled);
    EXPECT_TRUE(read.roles_by_hierarchy);
    EXPECT_THAT(read.roles_domains, ElementsAre("default", "5f1c"));
    EXPECT_THAT(read.roles,
                ElementsAre(RoleProjects{role("engineering/backend"), {"backend", "default/api"}},
                            RoleProjects{role("sales"), {"shop"}}));
    const StaticReservation first{role("engineering"),
                                  {"compute-1*"},
                                  {"fast"},
                                  Resources{{"VCPU", 8}, {"MEMORY_MB", 16384}},
                                  {{"purpose", "peak"}},
                                  {false, Resources{{"VCPU", 2}}, hours{24}},
                                  "capacity-team"};
    const StaticReservation second{
        role("sales"), {"compute-2"}, {}, Resources{{"VCPU", 1}}, {}, {true, {}, hours{2}}};
    EXPECT_THAT(read.static_ones, ElementsAre(first, second));
    EXPECT_EQ(read.calm, minutes{5});
    EXPECT_EQ(read.interval, std::chrono::seconds{30});
    EXPECT_FALSE(read.acl.permissive);
    EXPECT_THAT(read.acl.reserve,
                ElementsAre(ReserveRule{{"alice"}, {"engineering", "engineering/*"}}));
    EXPECT_THAT(read.acl.unreserve, ElementsAre(UnreserveRule{{"alice"}, {"alice", "bob"}}));
}

TEST(ReservationsOfTheFile, AreNoneWithoutTheSection) {
    World world;
    const Reservations read = world.good(minimal()).reservations;
    EXPECT_FALSE(read.enabled);
    EXPECT_TRUE(read.roles.empty());
    EXPECT_TRUE(read.static_ones.empty());
    EXPECT_TRUE(read.acl.permissive);
}

TEST(ReservationsOfTheFile, ComeBackFromWhatIsShown) {
    World world;
    const std::string shown = to_yaml(world.good(minimal(whole)));
    EXPECT_THAT(shown, HasSubstr("    - role: engineering\n"
                                 "      hosts: [compute-1*]\n"
                                 "      aggregates: [fast]\n"
                                 "      resources: {MEMORY_MB: 16384, VCPU: 8}\n"
                                 "      labels: {purpose: peak}\n"
                                 "      principal: capacity-team\n"
                                 "      lend: false\n"
                                 "      floor: {VCPU: 2}\n"
                                 "      longest_loan: 24h\n"));
    const auto section = shown.find("\nreservations:\n");
    ASSERT_NE(section, std::string::npos);
    const std::string again = shown.substr(section, shown.find("\nlog:") - section) + "\n";
    EXPECT_EQ(to_yaml(world.good(minimal(again))), shown);
}

TEST(ReservationsOfTheFile, ChangeWithoutARestartButForWhetherThereAreAny) {
    World world;
    const auto change = difference(world.good(minimal()), world.good(minimal(whole)));
    EXPECT_THAT(change.needs_restart, ElementsAre("reservations.enabled"));
    EXPECT_THAT(change.live,
                ElementsAre("reservations.roles", "reservations.roles_by_hierarchy",
                            "reservations.roles_domains", "reservations.static",
                            "reservations.lend", "reservations.longest_loan", "reservations.calm",
                            "reservations.interval", "reservations.acl.permissive",
                            "reservations.acl.reserve", "reservations.acl.unreserve"));
}

struct Mistake {
    const char* what;
    const char* key;
    const char* value;
    const char* error;  ///< part of it
};

class WrongReservations : public testing::TestWithParam<Mistake> {};

TEST_P(WrongReservations, AreReportedWithTheirPlace) {
    World world;
    const std::string before = minimal();
    const auto line = 2 + std::count(before.begin(), before.end(), '\n');
    const auto errors = world.errors(before + "reservations:\n  " + GetParam().key + ": " +
                                     GetParam().value + "\n");
    ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
    EXPECT_THAT(errors.front(), HasSubstr(":" + std::to_string(line) + ": reservations." +
                                          GetParam().key + GetParam().error));
}

#define AT_HOST "hosts: [h], resources: {VCPU: 4}"

INSTANTIATE_TEST_SUITE_P(
    Reservations, WrongReservations,
    testing::Values(
        Mistake{"UnknownKey", "static_ones", "[]", ": unknown key"},
        Mistake{"NoFlag", "enabled", "maybe", ": is \"maybe\""},
        Mistake{"NoDuration", "calm", "10", ": is \"10\""},
        Mistake{"NoListOfRoles", "roles", "sales", ": is not a list"},
        Mistake{"NoMapping", "roles", "[sales]", "[0]: is not a mapping"},
        Mistake{"NoRole", "roles", "[{projects: [p]}]", "[0]: has no role"},
        Mistake{"NoProjects", "roles", "[{role: sales}]", "[0]: has no projects"},
        Mistake{"WrongRole", "roles", "[{role: -sales, projects: [p]}]",
                "[0].role: role '-sales': expected a path"},
        Mistake{"RoleTwice", "roles", "[{role: a, role: b, projects: [p]}]",
                "[0].role: given twice"},
        Mistake{"ProjectInTwoRoles", "roles",
                "[{role: a, projects: [p]}, {role: b, projects: [q, p]}]",
                "[1].projects[1]: \"p\" is there twice (of the role a first)"},
        Mistake{"UnknownKeyOfAnEntry", "static", "[{role: a, host: [h], resources: {VCPU: 1}}]",
                "[0].host: unknown key; expected hosts"},
        Mistake{"StaticWithoutRole", "static", "[{" AT_HOST "}]", "[0]: has no role"},
        Mistake{"StaticWrongRole", "static", "[{role: a/../b, " AT_HOST "}]",
                "[0].role: role 'a/../b'"},
        Mistake{"StaticWithoutPlaces", "static", "[{role: a, resources: {VCPU: 1}}]",
                "[0]: has neither hosts nor aggregates"},
        Mistake{"StaticWithoutResources", "static", "[{role: a, hosts: [h], resources: {}}]",
                "[0]: has no resources"},
        Mistake{"NoAmounts", "static", "[{role: a, hosts: [h], resources: [VCPU]}]",
                "[0].resources: is not a mapping"},
        Mistake{"NothingReserved", "static", "[{role: a, hosts: [h], resources: {VCPU: 0}}]",
                "[0].resources.VCPU: is \"0\""},
        Mistake{"TooMuch", "static", "[{role: a, hosts: [h], resources: {VCPU: 2147483648}}]",
                "[0].resources.VCPU: is \"2147483648\""},
        Mistake{"NoClass", "static", "[{role: a, hosts: [h], resources: {vcpu: 1}}]",
                "[0].resources.vcpu: is not a resource class"},
        Mistake{"OversubscribedRoom", "static",
                "[{role: a, hosts: [h], resources: {CUSTOM_REVOCABLE_VCPU: 1}}]",
                "[0].resources.CUSTOM_REVOCABLE_VCPU: can't be kept: CUSTOM_REVOCABLE_VCPU is "
                "oversubscribed room"},
        Mistake{"FloorAboveIt", "static", "[{role: a, " AT_HOST ", floor: {VCPU: 5}}]",
                "[0].floor.VCPU: is 5, more than the 4"},
        Mistake{"FloorOfNothing", "static", "[{role: a, " AT_HOST ", floor: {DISK_GB: 1}}]",
                "[0].floor.DISK_GB: is 1, more than the 0"},
        Mistake{"NoLabels", "static", "[{role: a, " AT_HOST ", labels: [x]}]",
                "[0].labels: is not a mapping"},
        Mistake{"NoLabelText", "static", "[{role: a, " AT_HOST ", labels: {x: [y]}}]",
                "[0].labels.x: is not a plain text"},
        Mistake{"NoLoan", "static", "[{role: a, " AT_HOST ", longest_loan: -1h}]",
                "[0].longest_loan: is \"-1h\""},
        Mistake{"StaticNoFlag", "static", "[{role: a, " AT_HOST ", lend: 1}]",
                "[0].lend: is no flag"},
        Mistake{"SameHosts", "static", "[{role: a, " AT_HOST "}, {role: a, " AT_HOST "}]",
                "[1].hosts[0]: \"h\" is in static[0] too"},
        Mistake{"SameAggregates", "static",
                "[{role: a, aggregates: [g], resources: {VCPU: 1}},"
                " {role: a, aggregates: [f, g], resources: {VCPU: 1}}]",
                "[1].aggregates[1]: \"g\" is in static[0] too"},
        Mistake{"TooLongForPlacement", "static",
                "[{role: a, " AT_HOST ", labels: {x: "
                "0123456789012345678901234567890123456789012345678901234567890123456789"
                "0123456789012345678901234567890123456789012345678901234567890123456789"
                "0123456789012345678901234567890123456789012345678901234567890123456789}}]",
                "[0]: its labels, principal and amounts take 2"},
        Mistake{"UnknownKeyOfTheAcl", "acl", "{reserves: []}", ".reserves: unknown key"},
        Mistake{"RuleWithoutPrincipals", "acl", "{reserve: [{roles: [a]}]}",
                ".reserve[0]: has no principals"},
        Mistake{"RuleForNothing", "acl", "{unreserve: [{principals: [a]}]}",
                ".unreserve[0]: has no of"},
        Mistake{"RuleOfWrongRoles", "acl", "{reserve: [{principals: [a], roles: [b, /c/*]}]}",
                ".reserve[0].roles[1]: is \"/c/*\""},
        Mistake{"RuleOfTheOtherKind", "acl", "{unreserve: [{principals: [a], roles: [b]}]}",
                ".unreserve[0].roles: unknown key"}),
    [](const auto& row) { return row.param.what; });

TEST(ReservationsOfTheFile, MayBeAlikeOnDifferentHostsOrWithDifferentLabels) {
    World world;
    const auto read = world.good(minimal("reservations:\n  static:\n    - {role: a, " AT_HOST "}\n"
                                         "    - {role: a, hosts: [i], resources: {VCPU: 1}}\n"
                                         "    - {role: a, aggregates: [h], resources: {VCPU: 1}}\n"
                                         "    - {role: b, " AT_HOST "}\n"
                                         "    - {role: a, " AT_HOST ", labels: {x: y}}\n"));
    EXPECT_EQ(read.reservations.static_ones.size(), 5U);
    const auto without_roles =
        world.good(minimal("reservations: {acl: {reserve: [{principals: ['*'], roles: []}]}}\n"));
    EXPECT_EQ(without_roles.reservations.acl.reserve.size(), 1U) << "no principal may reserve";
}

}  // namespace
}  // namespace reaper::config::test::reservations_test
