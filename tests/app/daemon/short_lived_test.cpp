// Room that was freed, taken, and given back within minutes: how that is learnt, and what it costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "reaper/model/time.hpp"

namespace reaper::test::short_lived_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ShortLivedTest : public FullHouse {
protected:
    ShortLivedTest() {
        settings.policy.safeguards.short_lived.allowance = 2;
        settings.policy.safeguards.thrash.after = 0;
    }
    std::string id_of(const std::string& request) { return "taker-of-" + request; }
    void ask(const std::string& request, const std::string& project) {
        requester("r-" + request, project);
        NovaFailure one = another(request, "r-" + request);
        one.project = project;
        one.timestamp = iso_of(clock.now());
        cloud.server_at(uuid_of("r-" + request)).record.server.created = clock.now();
        messages->deliver(body_of(one));
    }
    /// A request of its own; its server takes the room that is freed for it.
    void boot(const std::string& request, const std::string& project = "regular") {
        ask(request, project);
        ASSERT_EQ(outcome_of(request).kind, OutcomeKind::freed) << outcome_of(request).reason;
        cloud.remove(uuid_of("r-" + request));
        boots(id_of(request), "host1", project);
        run_until([&] { return record(request).freed_room.has_value(); });
        ASSERT_EQ(record(request).freed_room->kind, FreedRoomResultKind::taken);
    }
    static std::string iso_of(TimePoint at) {
        std::string text = iso_time(at);  // 2026-11-20T00:00:05.000Z
        text[10] = ' ';
        text.pop_back();
        return text + "000";
    }
    /// It is deleted, and a revocable server comes in its place.
    void delete_taker(const std::string& request) {
        cloud.remove(id_of(request));
        cloud.add_server("new-" + request, "host1", "spot", small);
    }
    void boot_and_delete(const std::string& request) {
        boot(request);
        delete_taker(request);
        run_until(
            [&] { return record(request).freed_room->kind == FreedRoomResultKind::short_lived; });
    }
    std::string verdict_on(const std::string& request, const std::string& project = "regular") {
        ask(request, project);
        const Outcome& outcome = outcome_of(request);
        return outcome.safeguard.empty() ? std::string{to_string(outcome.kind)} : outcome.safeguard;
    }
};

TEST_F(ShortLivedTest, WhoGivesRoomBackAtOnceIsServedFromFreeRoomAlone) {
    full_host();
    start();
    boot_and_delete("req-1");
    EXPECT_THAT(
        record("req-1").freed_room->reason,
        AllOf(HasSubstr("1 of 1 slot"), HasSubstr("taker-of-req-1 gave its room back after")));
    ASSERT_EQ(record("req-1").freed_room->takers.size(), 1U);
    EXPECT_LT(record("req-1").freed_room->takers[0].lived, minutes{2});
    boot_and_delete("req-2");
    const auto deleted = cloud.count("DELETE");
    EXPECT_EQ(verdict_on("req-3"), "short-lived");
    EXPECT_EQ(cloud.count("DELETE"), deleted);
    EXPECT_THAT(outcome_of("req-3").reason, HasSubstr("again and again"));
    EXPECT_EQ(verdict_on("req-4", "another"), "freed");
    // Free room is for any request.
    cloud.remove("new-req-1");
    clock.advance(seconds{30});
    EXPECT_EQ(verdict_on("req-5"), "already-there");
    EXPECT_EQ(cloud.count("DELETE"), deleted + 1);
}

TEST_F(ShortLivedTest, IsKnownOverARestart) {
    full_host();
    start();
    boot_and_delete("req-1");
    boot("req-2");
    crash();
    delete_taker("req-2");
    start();
    run_until([&] { return record("req-2").freed_room->kind == FreedRoomResultKind::short_lived; });
    EXPECT_EQ(verdict_on("req-3"), "short-lived");
    crash();
    start();
    EXPECT_EQ(verdict_on("req-4"), "short-lived");
}

TEST_F(ShortLivedTest, AServerThatStaysOrIsRemovedByAnOperatorOwesNothing) {
    full_host();
    settings.policy.safeguards.short_lived.lived = minutes{20};
    start();
    boot("req-1");
    boot("req-2");
    ActionRecord by_an_operator;
    by_an_operator.name = "delete";
    by_an_operator.project = ProjectId{"admin"};
    cloud.histories[ServerId{id_of("req-1")}] = {by_an_operator};
    delete_taker("req-1");
    boot("req-3");
    run_until([&, until = clock.now() + minutes{25}] { return clock.now() > until; });
    delete_taker("req-2");
    delete_taker("req-3");
    run_until([&, until = clock.now() + minutes{1}] { return clock.now() > until; });
    for (const char* const request : {"req-1", "req-2", "req-3"})
        EXPECT_EQ(record(request).freed_room->kind, FreedRoomResultKind::taken) << request;
    EXPECT_EQ(verdict_on("req-4"), "freed");
}

TEST_F(ShortLivedTest, AServerThatMovedHasItsRoomElsewhere) {
    full_host();
    cloud.add_host("host2", small);
    cloud.add_server("tenant", "host2", "regular", small);
    start();
    boot("req-1");
    cloud.remove("tenant");
    cloud.remove(id_of("req-1"));
    boots(id_of("req-1"), "host2");
    run_until([&, until = clock.now() + minutes{12}] { return clock.now() > until; });
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::taken);
}

TEST_F(ShortLivedTest, AServerThatIsShelvedOrResizedToLessGaveItsRoomBack) {
    full_host();
    start();
    boot("req-1");
    cloud.remove(id_of("req-1"));
    cloud.add_requester(id_of("req-1"), "regular", flavor_of(2));
    cloud.server_at(id_of("req-1")).record.server.status = "SHELVED_OFFLOADED";
    run_until([&] { return record("req-1").freed_room->kind == FreedRoomResultKind::short_lived; });
    cloud.add_server("new-1", "host1", "spot", small);
    boot("req-2");
    cloud.remove(id_of("req-2"));
    auto& less = cloud.add_server(id_of("req-2"), "host1", "regular",
                                  Resources{{"VCPU", 1}, {"MEMORY_MB", 1024}, {"DISK_GB", 10}});
    less.record.flavor = flavor_of(1);
    less.record.flavor.name = "less";
    run_until([&] { return record("req-2").freed_room->kind == FreedRoomResultKind::short_lived; });
}

TEST_F(ShortLivedTest, APauseThatIsOverForgetsIt) {
    full_host();
    start();
    boot_and_delete("req-1");
    boot_and_delete("req-2");
    EXPECT_EQ(verdict_on("req-3"), "short-lived");
    ASSERT_TRUE(pause.pause("ops", "a look"));
    run_until([&, until = clock.now() + seconds{10}] { return clock.now() > until; });
    ASSERT_TRUE(pause.resume());
    run_until([&, until = clock.now() + seconds{10}] { return clock.now() > until; });
    EXPECT_EQ(verdict_on("req-4"), "freed");
}

}  // namespace
}  // namespace reaper::test::short_lived_test
