// Where Nova defers deletions, a reaper that dies or loses the broker between its DELETE and its
// forceDelete leaves a soft-deleted server that keeps its room. The next reaper finishes it, and
// deletes no other server for that room.
#include "reaper/cloud/reader/unfinished_deletions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::unfinished_deletions_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class UnfinishedDeletionsTest : public FullHouse {
protected:
    UnfinishedDeletionsTest() { cloud.soft_delete = true; }

    /// Another reaper deleted it, and is gone.
    void left_behind(const std::string& server) { cloud.soft_delete_by(server, cloud.own_user_id); }
    void hear_again(int vcpus = 2) { messages->deliver(body_of(failure(vcpus)), true); }
    std::size_t deletions() const { return cloud.count("DELETE"); }
    std::size_t forced() const { return cloud.count("FORCE"); }
    /// Another machine: it knows nothing of what the first one did.
    void another_machine_takes_over() {
        crash();
        journal.records.clear();
        start();
    }
};

TEST_F(UnfinishedDeletionsTest, WhatAnotherReaperLeftIsFinishedAndNoOtherServerIsDeleted) {
    full_host();
    requester();
    left_behind("host1a");
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_EQ(cloud.count("FORCE host1a"), 1U);
    EXPECT_EQ(forced(), 1U);
    EXPECT_TRUE(journal.has_step("host1a", Step::force_delete_sent));
    EXPECT_TRUE(journal.has_step("host1a", Step::gone));
    EXPECT_FALSE(cloud.exists("host1a"));
}

/// What a server holds in Placement is not on Nova's list.
TEST_F(UnfinishedDeletionsTest, ItIsFoundByItsClassWhetherFreedRoomIsHeldOrNot) {
    const Resources spot{
        {"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}, {"CUSTOM_PREEMPTIBLE", 1}};
    for (const char* const freed_room : {"held", "open"}) {
        cloud.clear();
        journal.records.clear();
        settings.policy.taggers.front().name = "resource";
        settings.policy.taggers.front().parameters = {{"freed_room", std::string{freed_room}}};
        cloud.add_host("host1", spot * 4);
        for (const char* name : {"host1a", "host1b", "host1c", "host1d"})
            cloud.add_server(name, "host1", "tenant", spot);
        requester();
        left_behind("host1a");
        start();
        hear_again();
        EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed) << freed_room;
        EXPECT_EQ(deletions(), 0U) << freed_room;
        EXPECT_EQ(cloud.count("FORCE host1a"), 1U) << freed_room;
        crash();
    }
}

TEST_F(UnfinishedDeletionsTest, ItIsFoundWhereverItIsAlsoWhereTheCacheIsOld) {
    for (const char* host : {"host1", "host2", "host3"}) full_host(host);
    requester();
    with_events = true;
    start();
    run_until([&] { return service().view().has_value(); });
    left_behind("host3c");  // no event tells of it, and no server was ever soft-deleted
    const auto asked = cloud.count("soft-deleted");
    run_until([&] { return cloud.count("soft-deleted") > asked; });
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_EQ(cloud.count("FORCE host3c"), 1U);
}

/// Its host was read again since, without it: Nova's lists leave such servers out.
TEST_F(UnfinishedDeletionsTest, ItIsFoundWhoseEventCameLongAgo) {
    for (const char* host : {"host1", "host2"}) full_host(host);
    requester();
    with_events = true;
    start();
    run_until([&] { return service().view().has_value(); });
    left_behind("host2c");
    ServerSeen event;
    event.record = cloud.server_at("host2c").record;
    event.at = clock.now();
    events->tell(event);
    const auto read = cloud.count("servers on host2");
    run_until([&] { return cloud.count("servers on host2") > read; });
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_EQ(cloud.count("FORCE host2c"), 1U);
}

TEST_F(UnfinishedDeletionsTest, ItIsCreditedToALargerPlanAndFinishedFirst) {
    full_host();
    requester();
    left_behind("host1b");
    start();
    hear_again(4);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
    EXPECT_EQ(forced(), 2U);
    const auto first = [&](const char* prefix) {
        return std::find_if(cloud.calls.begin(), cloud.calls.end(),
                            [&](const auto& call) { return call.starts_with(prefix); });
    };
    EXPECT_LT(first("FORCE host1b"), first("DELETE"));
}

TEST_F(UnfinishedDeletionsTest, WhatItsUserDeletedTheUserMayWantBack) {
    full_host();
    requester();
    cloud.soft_delete_by("host1a", "alice");
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
    EXPECT_EQ(cloud.count("FORCE host1a"), 0U);
    EXPECT_TRUE(cloud.exists("host1a"));
}

TEST_F(UnfinishedDeletionsTest, AReaperThatDiesBeforeItForcesLosesNothingToTheNextOne) {
    full_host("host1");
    full_host("host2");
    requester();
    start();
    hear_again(4);
    run_until([&] { return deletions() == 2; });
    another_machine_takes_over();
    hear_again(4);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 2U) << "a second set died for the same room";
    EXPECT_EQ(forced(), 2U);
    EXPECT_EQ(cloud.living("host1").size() + cloud.living("host2").size(), 6U);
}

TEST_F(UnfinishedDeletionsTest, TheNextOneMayDieToo) {
    full_host();
    requester();
    start();
    hear_again();
    run_until([&] { return deletions() == 1; });
    another_machine_takes_over();
    hear_again();
    run_until([&] { return forced() == 1; });
    another_machine_takes_over();
    hear_again();
    const OutcomeKind kind = outcome_of("req-1").kind;
    EXPECT_TRUE(kind == OutcomeKind::already_there || kind == OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
}

TEST_F(UnfinishedDeletionsTest, WhoIsKilledInTheMiddleOfFinishingGoesOn) {
    full_host();
    requester();
    left_behind("host1a");
    start();
    hear_again();
    run_until([&] { return journal.has_step("host1a", Step::force_delete_sent); });
    crash();
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_FALSE(cloud.exists("host1a"));
}

TEST_F(UnfinishedDeletionsTest, AReaperThatLosesTheBrokerMeanwhileFinishesWhenItIsBack) {
    full_host();
    requester();
    settings.cull.deadline = seconds{30};
    start();
    hear_again();
    run_until([&] { return deletions() == 1; });
    messages->disconnect();
    pass(minutes{2});
    EXPECT_EQ(forced(), 0U) << "another reaper may serve the request by now";
    messages->reconnect();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
    EXPECT_EQ(forced(), 1U);
}

TEST_F(UnfinishedDeletionsTest, ADeletionThatIsStillOnItsWayToBeDeferredIsWaitedFor) {
    full_host();
    requester();
    cloud.server_at("host1a").record.server.task_state = "soft-deleting";
    left_behind("host1a");
    cloud.server_at("host1a").record.server.status = "ACTIVE";
    start();
    bool done = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("allocations host1a") || cloud.count("allocations host1a") < 4)
            return std::nullopt;
        if (!std::exchange(done, true)) {
            cloud.server_at("host1a").record.server.task_state = "";
            cloud.server_at("host1a").record.server.status = "SOFT_DELETED";
        }
        return std::nullopt;
    };
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_EQ(cloud.count("FORCE host1a"), 1U);
}

TEST_F(UnfinishedDeletionsTest, OneThatDoesNotGoIsGivenUpAndAnotherServerTaken) {
    full_host();
    requester();
    settings.cull.deadline = seconds{30};
    left_behind("host1a");
    // Its compute agent never gets to it.
    cloud.server_at("host1a").record.server.task_state = "soft-deleting";
    cloud.server_at("host1a").record.server.status = "ACTIVE";
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
    EXPECT_EQ(cloud.count("FORCE host1a"), 0U);
    EXPECT_TRUE(cloud.exists("host1a"));
}

TEST_F(UnfinishedDeletionsTest, NothingIsFinishedForARequesterThatIsGone) {
    full_host();
    requester();
    left_behind("host1a");
    start();
    before("soft-deleted", [&] {
        before("server " + uuid_of("requester-1"), [&] { cloud.remove(uuid_of("requester-1")); });
    });
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(deletions(), 0U);
    EXPECT_EQ(forced(), 0U);
}

TEST_F(UnfinishedDeletionsTest, WhatIsProtectedOrGivenBackMeanwhileIsNotForced) {
    settings.policy.safeguards.protect.owners = true;
    full_host();
    requester();
    left_behind("host1a");
    left_behind("host1b");
    start();
    // One while the plan is written, the other one before.
    before("soft-deleted", [&] {
        cloud.server_at("host1a").record.server.tags = std::set<std::string>{"reaper-protected"};
        before("allocations host1b",
               [&] { cloud.server_at("host1b").record.server.status = "ACTIVE"; });
    });
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("FORCE host1a"), 0U);
    EXPECT_TRUE(cloud.exists("host1a"));
    EXPECT_EQ(deletions(), 1U);
}

TEST_F(UnfinishedDeletionsTest, WhereItMayNotBeForcedAnotherServerGoes) {
    full_host();
    requester();
    left_behind("host1a");
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != "FORCE host1a") return std::nullopt;
        return Error{Errc::forbidden, "nova: 403"};
    };
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
    EXPECT_EQ(cloud.count("FORCE host1a"), 1U);
}

TEST_F(UnfinishedDeletionsTest, APauseHoldsForFinishingToo) {
    full_host();
    requester();
    left_behind("host1a");
    start();
    before("allocations host1a", [&] { (void)pause.pause("alice", "a test"); });
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(forced(), 0U);
    EXPECT_EQ(deletions(), 0U);
}

TEST_F(UnfinishedDeletionsTest, OurLostDeletionOfWhatItsUserDeletedSoftlyIsNotForced) {
    full_host();
    requester();
    std::string theirs;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || !theirs.empty()) return std::nullopt;
        theirs = call.substr(7);
        cloud.soft_delete_by(theirs, "alice");
        return Error{Errc::unreachable, "connection reset"};
    };
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("FORCE " + theirs), 0U);
    EXPECT_TRUE(cloud.exists(theirs));
}

TEST_F(UnfinishedDeletionsTest, ACloudThatShowsNoSoftDeletedServersIsStillServed) {
    full_host();
    requester();
    cloud.soft_delete = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != "soft-deleted") return std::nullopt;
        return Error{Errc::forbidden, "nova: 403"};
    };
    start();
    hear_again();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions(), 1U);
}

TEST(UnfinishedDeletionsMemory, OneOfOursThatIsNoChangeOfLateIsAskedFor) {
    FakeClock clock;
    FakeCloud cloud{clock};
    cloud.add_host("h1", small * 2);
    boost::asio::io_context io{1};
    UnfinishedDeletions deletions{cloud.ports()};
    std::vector<ServerId> ids;
    for (const char* const id : {"kept", "restored"}) {
        cloud.add_server(id, "h1", "spot", small);
        cloud.soft_delete_by(id, cloud.own_user_id);
        ids.emplace_back(id);
    }
    ASSERT_EQ(run_task(io, deletions.list(false)).value().size(), 2U);
    ASSERT_TRUE(run_task(io, deletions.learn(ids)));
    clock.advance(std::chrono::hours{1});
    cloud.restore_by("restored", "alice");
    const auto listed = run_task(io, deletions.list(false));
    ASSERT_EQ(listed.value().size(), 1U);
    EXPECT_EQ(listed.value().front().server.id, ServerId{"kept"});
    EXPECT_FALSE(deletions.knows(ServerId{"restored"}));
    EXPECT_TRUE(deletions.known_as_ours(ServerId{"kept"}));
}

TEST(UnfinishedDeletionsMemory, OneThatCanNotBeReadStaysKnown) {
    FakeClock clock;
    FakeCloud cloud{clock};
    cloud.add_host("h1", small * 2);
    boost::asio::io_context io{1};
    UnfinishedDeletions deletions{cloud.ports()};
    std::vector<ServerId> ids;
    for (const char* const id : {"fails", "down"}) {
        cloud.add_server(id, "h1", "spot", small);
        cloud.soft_delete_by(id, cloud.own_user_id);
        ids.emplace_back(id);
    }
    ASSERT_TRUE(run_task(io, deletions.list(false)));
    ASSERT_TRUE(run_task(io, deletions.learn(ids)));
    clock.advance(std::chrono::hours{1});
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "server fails") return std::nullopt;
        return Error{Errc::server_error, "503"};
    };
    cloud.server_at("down").record.server.status = "UNKNOWN";
    EXPECT_EQ(run_task(io, deletions.list(false)).value().size(), 2U);
    for (const ServerId& id : ids) EXPECT_TRUE(deletions.known_as_ours(id));
}

// ---- whose deletion it was ----

ActionRecord action(const std::string& name, const std::string& user, bool failed = false) {
    ActionRecord one;
    one.name = name;
    one.user = user;
    one.failed = failed;
    return one;
}

TEST(DeletedBy, WhoDeletedItFirstDecides) {
    EXPECT_EQ(deleted_by("us", {}), std::nullopt);
    EXPECT_EQ(deleted_by("us", {action("create", "us")}), std::nullopt);
    EXPECT_EQ(deleted_by("us", {action("delete", "us"), action("create", "them")}), true);
    EXPECT_EQ(deleted_by("us", {action("delete", "them"), action("create", "them")}), false);
    EXPECT_EQ(deleted_by("us", {action("delete", "us"), action("delete", "them")}), false);
    EXPECT_EQ(deleted_by("us", {action("delete", "them"), action("delete", "us")}), true);
}

TEST(DeletedBy, WhatWasGivenBackSinceIsNotDeleted) {
    EXPECT_EQ(deleted_by("us", {action("restore", "them"), action("delete", "us")}), std::nullopt);
    EXPECT_EQ(deleted_by("us", {action("delete", "them"), action("restore", "them"),
                                action("delete", "us")}),
              false);
}

TEST(DeletedBy, OnlyARestoreSinceOursCounts) {
    const auto restored = [](std::vector<ActionRecord> actions) {
        return restored_since_deleted_by("us", actions);
    };
    EXPECT_TRUE(restored({action("restore", "them"), action("delete", "us")}));
    EXPECT_TRUE(
        restored({action("delete", "them"), action("restore", "them"), action("delete", "us")}));
    EXPECT_FALSE(restored({action("delete", "us"), action("restore", "them")}));
    EXPECT_FALSE(
        restored({action("delete", "us"), action("restore", "them"), action("delete", "us")}));
    EXPECT_FALSE(restored({action("restore", "them", true), action("delete", "us")}));
    EXPECT_FALSE(restored({action("restore", "them"), action("delete", "them")}));
}

TEST(DeletedBy, ALockAndWhatFailedChangeNothing) {
    EXPECT_EQ(deleted_by("us", {action("lock", "them"), action("delete", "us")}), true);
    EXPECT_EQ(deleted_by("us", {action("delete", "them", true), action("delete", "us")}), true);
    EXPECT_EQ(deleted_by("", {action("delete", "")}), false);
}

}  // namespace
}  // namespace reaper::test::unfinished_deletions_test
