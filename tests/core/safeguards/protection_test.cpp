// Protected and young servers: never victims, and the reason names what protects them.
#include "reaper/safeguards/protection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::protection_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

const Resources half{{"VCPU", 4}};

Server plain(const std::string& id = "s") {
    return revocable(id, HostId{"h"}, half);
}

/// Without a host's aggregates.
const HostAggregates nowhere;

TEST(Protection, IsNotByWhatOwnersWriteUnlessTheyMay) {
    Server refusing = plain();
    refusing.tags = std::set<std::string>{"reaper-protected"};
    refusing.metadata.insert_or_assign("reaper:protected", "yes");
    refusing.locked = true;
    ProtectSettings settings;
    EXPECT_FALSE(Protection{settings}.protects(refusing));
    EXPECT_EQ(Protection{settings}.why(refusing, nowhere), std::nullopt);
    EXPECT_TRUE(Protection{settings}.empty());
    settings.owners = true;
    EXPECT_TRUE(Protection{settings}.protects(refusing));
    EXPECT_FALSE(Protection{settings}.empty());
    Server locked = plain();
    locked.locked = true;
    EXPECT_EQ(Protection{settings}.why(locked, nowhere), "it is locked");
}

TEST(Protection, IsByFlavorAggregateAndServer) {
    ProtectSettings settings;
    settings.flavors = {"gold"};
    settings.aggregates = {"quiet", "u-2"};
    settings.servers = {{"s", "until noon"}};
    const Protection protection{settings};
    EXPECT_EQ(protection.why(plain(), nowhere), "it is protected by an operator: until noon");
    EXPECT_TRUE(protection.protects(plain()));
    Server golden = plain("t");
    golden.flavor_name = "gold";
    EXPECT_TRUE(protection.protects(golden));
    EXPECT_EQ(protection.why(golden, nowhere), "it is protected by its flavor 'gold'");
    const Server other = plain("o");
    EXPECT_FALSE(protection.protects(other));
    EXPECT_FALSE(protection.protects_host(HostAggregates{{"u-1", {"busy", {}}}}));
    for (const HostAggregates& member_of :
         {HostAggregates{{"u-1", {"quiet", {}}}}, HostAggregates{{"u-2", {"calm", {}}}}}) {
        EXPECT_TRUE(protection.protects_host(member_of));
        EXPECT_THAT(protection.why(other, member_of), Optional(HasSubstr("its host's aggregate")));
    }
}

TEST(Protection, IsByTagMetadataKeyOrProject) {
    ProtectSettings settings;
    settings.owners = true;
    settings.projects = {"Gold"};
    settings.project_ids = {{"Gold", "gold"}};
    const Protection protection{settings};
    EXPECT_EQ(protection.why(plain(), nowhere), std::nullopt);
    EXPECT_FALSE(protection.protects(plain()));

    Server tagged = plain();
    tagged.tags = std::set<std::string>{"other", "reaper-protected"};
    EXPECT_TRUE(protection.protects(tagged));
    EXPECT_THAT(protection.why(tagged, nowhere), Optional(HasSubstr("its tag 'reaper-protected'")));

    Server keyed = plain();
    keyed.metadata.insert_or_assign("reaper:protected", "until monday");
    EXPECT_TRUE(protection.protects(keyed));
    EXPECT_THAT(protection.why(keyed, nowhere),
                Optional(HasSubstr("its metadata 'reaper:protected'")));

    Server golden = plain();
    golden.project = ProjectId{"gold"};
    EXPECT_TRUE(protection.protects(golden));
    EXPECT_THAT(protection.why(golden, nowhere), Optional(HasSubstr("its project Gold (gold)")));
}

/// Its meaning is unknown: it protects all that it might mean.
TEST(Protection, AnUnknownProjectProtectsAllServers) {
    ProtectSettings settings;
    settings.projects = {"gold", "gould"};
    settings.project_ids = {{"gold", "gold"}};
    const Protection protection{settings};
    EXPECT_FALSE(protection.empty());
    EXPECT_TRUE(protection.protects(plain()));
    EXPECT_THAT(protection.why(plain(), nowhere), Optional(HasSubstr("means by 'gould'")));
    settings.project_ids.emplace("gould", "other");
    EXPECT_FALSE(Protection{settings}.protects(plain()));
}

ProtectSettings by_owners() {
    ProtectSettings settings;
    settings.owners = true;
    return settings;
}

TEST(Protection, AValueThatMeansNoDoesNotProtect) {
    const Protection protection{by_owners()};
    for (const char* value : {"false", "False", "NO", "0"}) {
        Server keyed = plain();
        keyed.metadata.insert_or_assign("reaper:protected", value);
        EXPECT_FALSE(protection.protects(keyed)) << value;
        EXPECT_EQ(protection.why(keyed, nowhere), std::nullopt) << value;
    }
    Server empty = plain();
    empty.metadata.insert_or_assign("reaper:protected", "");
    EXPECT_TRUE(protection.protects(empty)) << "any other value protects, the empty one too";
}

/// Its owner may begin a launch again, by a resize or a rebuild, as often as it likes.
TEST(Protection, CountsRunningTimeFromTheCreation) {
    Server young = plain();  // created at 0
    EXPECT_EQ(why_too_young(young, 10min, at(600)), std::nullopt);
    EXPECT_THAT(why_too_young(young, 10min, at(599)), Optional(HasSubstr("not run for 10min")));
    EXPECT_EQ(why_too_young(young, 0min, at(0)), std::nullopt) << "0 is no minimum";
    young.launched = at(500);
    EXPECT_EQ(why_too_young(young, 10min, at(600)), std::nullopt);
}

/// A full host of two halves: one is enough.
Snapshot two_halves(const Server& first, const Server& second) {
    Host only = host("h", {{"VCPU", 8}});
    put(only, first);
    put(only, second);
    return Snapshot{at(0), {only}, {}};
}

TEST(Protection, AProjectIsShownAsConfiguredBesideItsId) {
    ProtectSettings settings;
    settings.projects = {"Default/web", "p-2"};
    settings.project_ids = {{"Default/web", "p-1"}, {"p-2", "p-2"}};
    const Protection protection{settings};
    Server server = plain("a");
    server.project = ProjectId{"p-1"};
    EXPECT_EQ(protection.why(server, nowhere), "it is protected by its project Default/web (p-1)");
    server.project = ProjectId{"p-2"};
    EXPECT_EQ(protection.why(server, nowhere), "it is protected by its project p-2");
}

TEST(Protection, APlanSparesTheProtectedAndTellsWhy) {
    Server kept = plain("a");
    kept.tags = std::set<std::string>{"reaper-protected"};
    const Snapshot cloud = two_halves(kept, plain("b"));
    const Protection protection{by_owners()};
    PlanOptions options;
    EXPECT_THAT(victim_ids(plan(request(half), cloud, options)), ElementsAre("a"))
        << "without protection the first by id goes";
    options.protection = &protection;
    EXPECT_THAT(victim_ids(plan(request(half), cloud, options)), ElementsAre("b"));
    const auto both = plan(request({{"VCPU", 8}}), cloud, options);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(both));
    EXPECT_THAT(rejection_of(both, "h").reason,
                HasSubstr("1 revocable server can't be deleted: it is protected by its tag"));
}

TEST(Protection, AnIndexReadsItsHostsAgainWhenItIsNews) {
    Server kept = plain("a");
    kept.tags = std::set<std::string>{"reaper-protected"};
    const Snapshot cloud = two_halves(kept, plain("b"));
    CloudIndex index{cloud};
    const auto strategy = make_strategy("strict");
    const auto decide = [&] {
        return make_plan(request(half), index, Ledger{}, *strategy, "strict", {});
    };
    EXPECT_THAT(victim_ids(decide()), ElementsAre("a"));
    index.protect(Protection{by_owners()});
    EXPECT_THAT(victim_ids(decide()), ElementsAre("b"));
    index.protect(Protection{});
    EXPECT_THAT(victim_ids(decide()), ElementsAre("a"));
}

}  // namespace
}  // namespace reaper::protection_test
