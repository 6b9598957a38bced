// Several reapers on one journal: one writes, the others follow, and each knows of the others.
#include "clients/journal/mariadb_reapers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test::mariadb_reapers_test {
namespace {

using testing::HasSubstr;

ReaperNote note(const std::string& name, const std::string& gateway = "") {
    return {name, "machine of " + name, "1.2.3", gateway, "digest", "cull=1 limits=2"};
}

class MariadbReapers : public testing::Test {
protected:
    void SetUp() override {
        if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
        address = MariadbServer::shared().new_database();
        ASSERT_TRUE(migrate_mariadb_journal(address, false));
    }
    void execute(const std::string& sql) { MariadbServer::shared().execute(sql, address.database); }
    SharedJournal open(const std::string& name) {
        auto opened = open_or_follow_mariadb_journal(address, name);
        EXPECT_TRUE(opened) << opened.error().what;
        return std::move(*opened);
    }
    /// Of those that are known when that is so.
    static ReaperList when(const Reapers& reapers, bool (*so)(const ReaperList&)) {
        while (true) {
            ReaperList list = reapers.list();
            if (so(list)) return list;
            std::this_thread::yield();
        }
    }

    MariadbAddress address;
};

TEST_F(MariadbReapers, FollowTheWriterUntilItLeaves) {
    auto first = open("first");
    EXPECT_FALSE(first.take_over);
    wait(first.journal->admit(request("req-1"), noon())).value();
    auto second = open("second");
    ASSERT_TRUE(second.take_over);
    EXPECT_EQ(wait(second.journal->list(10)).value().size(), 1U) << "it reads";
    const auto refused = wait(second.journal->note_event({"paused", "", noon()}));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("another reaper writes it"));
    EXPECT_EQ(wait(second.take_over()).error().code, Errc::conflict);
    wait(first.journal->admit(request("req-2"), noon())).value();
    first.journal.reset();
    ASSERT_TRUE(wait(second.take_over()));
    EXPECT_EQ(wait(second.journal->list(10)).value().size(), 2U) << "it knows all of it";
    EXPECT_TRUE(wait(second.journal->note_event({"paused", "", noon()})));
}

TEST_F(MariadbReapers, TakeOverWhatWasNotRenewed) {
    auto frozen = open("frozen");
    auto second = open("second");
    EXPECT_FALSE(wait(second.take_over()));
    execute("UPDATE lease SET ends_at = 0");  // as after its time
    ASSERT_TRUE(wait(second.take_over()));
    const auto late = wait(frozen.journal->note_event({"paused", "", noon()}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::conflict);
}

TEST_F(MariadbReapers, AreListedWithTheActiveOneFirst) {
    auto active = open("z");
    const auto of_z = make_reapers(address, note("z", "http://z:8780/placement"));
    const auto of_a = make_reapers(address, note("a"));
    const ReaperList list = of_a->list();
    ASSERT_EQ(list.all.size(), 2U);
    EXPECT_TRUE(list.held);
    EXPECT_EQ(list.holder, "z");
    EXPECT_EQ(list.trouble, "");
    ASSERT_EQ(list.active(), &list.all[0]);
    EXPECT_EQ(list.all[0].note.name, "z");
    EXPECT_EQ(list.all[0].note.machine, "machine of z");
    EXPECT_EQ(list.all[0].note.version, "1.2.3");
    EXPECT_EQ(list.all[0].note.gateway, "http://z:8780/placement");
    EXPECT_EQ(list.all[0].note.configuration, "digest");
    EXPECT_FALSE(list.all[0].here);
    EXPECT_GT(list.all[0].since, noon());
    EXPECT_TRUE(list.all[1].here);
    EXPECT_FALSE(list.all[1].active);
    of_a->note_state({Duration{5'000}, 2, true});
    of_a->configured("other", "cull=3 limits=2 notice=4");
    const ReaperList told = when(*of_z, [](const ReaperList& now) {
        return now.all.size() == 2 && now.all[1].note.configuration == "other";
    });
    ASSERT_TRUE(told.all[1].state);
    EXPECT_GE(told.all[1].state->cache_age, Duration{5'000});
    EXPECT_EQ(told.all[1].state->in_flight, 2);
    EXPECT_EQ(told.all[1].state->broker, true);
    EXPECT_EQ(told.all[0].state->cache_age, std::nullopt);
    EXPECT_EQ(told.all[0].state->broker, std::nullopt);
    EXPECT_THAT(differing_sections(told.all[1].note.sections, told.all[0].note.sections),
                testing::ElementsAre("cull", "notice"));
    active.journal.reset();
    const ReaperList free = when(*of_a, [](const ReaperList& now) { return !now.held; });
    EXPECT_EQ(free.active(), nullptr);
    EXPECT_EQ(reapers_now(address).all.size(), 2U);
}

TEST_F(MariadbReapers, AreForgottenWhenTheyLeaveOrWereSilentForAnHour) {
    const auto stays = make_reapers(address, note("a"));
    make_reapers(address, note("b")).reset();
    EXPECT_EQ(reapers_now(address).all.size(), 1U);
    execute(
        "INSERT INTO reapers VALUES ('dead', 'm', 'v', '', '', 0, "
        "UNIX_TIMESTAMP() * 1000 - 3590000), ('gone', 'm', 'v', '', '', 0, 0)");
    const ReaperList list = when(*stays, [](const ReaperList& now) {
        for (const auto& each : now.all)
            if (each.note.name == "gone") return false;
        return now.all.size() == 2;
    });
    EXPECT_EQ(list.all[1].note.name, "dead");
    EXPECT_GE(list.all[1].silent, Duration{3'590'000});
}

TEST_F(MariadbReapers, AreNotKnownWhereTheDatabaseIsNot) {
    address.database = "none";
    EXPECT_THAT(reapers_now(address).trouble, HasSubstr("none"));
    const auto reapers = make_reapers(address, note("a"));
    EXPECT_THAT(reapers->list().trouble, HasSubstr("none"));
    EXPECT_FALSE(open_or_follow_mariadb_journal(address, "a"));
}

}  // namespace
}  // namespace reaper::journal::test::mariadb_reapers_test
