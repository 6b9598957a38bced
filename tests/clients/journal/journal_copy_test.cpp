// A journal moves to the other engine and back, whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/journal/copy.hpp"
#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test::journal_copy_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class JournalCopy : public testing::Test {
protected:
    void SetUp() override {
        if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
        address = MariadbServer::shared().new_database();
        ASSERT_TRUE(migrate_mariadb_journal(address, false));
    }
    static void fill(Journal& journal, int stories) {
        const std::string hostile{"'\0\xff\x1b", 4};
        for (int i = 0; i < stories; ++i) {
            const RequestId id{"req-" + std::to_string(i) + (i == 7 ? hostile : "")};
            wait(journal.admit(request(id.str()), noon(i))).value();
            if (i % 3 != 0) continue;
            wait(journal.add_plan(id, PlanEntry{1, noon(i), plan(id.str())})).value();
            const StepEntry step{ServerId{"victim-1"}, Step::delete_sent, hostile, noon(i)};
            wait(journal.add_step(id, step)).value();
            wait(journal.finish(id, Outcome{OutcomeKind::freed, "there", noon(i)})).value();
            FreedRoomResult freed;
            freed.at = noon(i);
            freed.untaken = {HostId{"host-1"}};
            wait(journal.note_freed_room(id, freed)).value();
        }
        wait(journal.note_message({"m", "e", RequestId{"r"}, "ignored", hostile, noon()})).value();
        wait(journal.note_event({"paused", "by hand", noon()})).value();
        InventoryHold hold;
        hold.provider = ProviderId{"p"};
        hold.resource_class = ResourceClass{"CUSTOM_SPOT"};
        wait(journal.add_hold(hold)).value();
        ServerProtection protection;
        protection.server = ServerId{"s"};
        wait(journal.note_protection(protection)).value();
        OrderRecord order;
        order.key = "k";
        wait(journal.note_order(order)).value();
        KnownReservation reservation;
        reservation.id = ReservationId{"r"};
        const std::vector<KnownReservation> there{reservation};
        wait(journal.note_reservations(there, {})).value();
    }
    static std::int64_t rows_of(const std::vector<CopiedTable>& tables, const std::string& name) {
        for (const auto& table : tables)
            if (table.name == name) return table.rows;
        return -1;
    }

    Folder folder;
    MariadbAddress address;
};

TEST_F(JournalCopy, IsWholeThereAndBack) {
    fill(*open_journal(folder.path()).value(), 40);
    const auto there = copy_journal(folder.path(), address);
    ASSERT_TRUE(there) << there.error().what;
    EXPECT_EQ(there->size(), 11U);
    for (const auto& table : *there) {
        EXPECT_GT(table.rows, 0) << table.name;
        EXPECT_EQ(table.digest.size(), 64U);
    }
    const auto back = copy_journal(address, folder.path("back.db"));
    ASSERT_TRUE(back) << back.error().what;
    for (std::size_t i = 0; i < there->size(); ++i) {
        EXPECT_EQ(back->at(i).rows, there->at(i).rows) << there->at(i).name;
        EXPECT_EQ(back->at(i).digest, there->at(i).digest) << there->at(i).name;
    }
    for (const bool in_file : {true, false}) {
        auto journal = in_file ? open_journal(folder.path("back.db")).value()
                               : open_mariadb_journal(address, "test").value();
        EXPECT_EQ(wait(journal->unfinished()).value().size(), 26U);
        EXPECT_EQ(wait(journal->record(RequestId{"req-3"})).value()->steps.size(), 1U);
        EXPECT_TRUE(wait(journal->admit(request("new"), noon())).value().first);
        EXPECT_EQ(wait(journal->list(1)).value().at(0).request.id, RequestId{"new"});
    }
}

TEST_F(JournalCopy, GoesOnBehindWhatWasCopied) {
    auto journal = open_journal(folder.path()).value();
    fill(*journal, 3);
    journal.reset();
    ASSERT_TRUE(copy_journal(folder.path(), address));
    journal = open_journal(folder.path()).value();
    for (int i = 0; i < 1'200; ++i)
        wait(journal->note_event({"resumed", std::to_string(i), noon(i)})).value();
    journal.reset();
    const auto copied = copy_journal(folder.path(), address);
    ASSERT_TRUE(copied) << copied.error().what;
    EXPECT_EQ(rows_of(*copied, "event"), 1'201);
    EXPECT_TRUE(copy_journal(folder.path(), address)) << "nothing is left to copy";
}

TEST_F(JournalCopy, MixesNoTwoJournals) {
    fill(*open_journal(folder.path()).value(), 3);
    auto other = open_mariadb_journal(address, "test").value();
    wait(other->admit(request("another"), noon())).value();
    other.reset();
    const auto refused = copy_journal(folder.path(), address);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr("table request has rows that are not of"),
                                            HasSubstr("into an empty journal")));
    other = open_mariadb_journal(address, "test").value();
    EXPECT_EQ(wait(other->list(10)).value().size(), 1U) << "nothing was copied";
}

TEST_F(JournalCopy, WaitsForNoReaperThatWrites) {
    auto file = open_journal(folder.path()).value();
    EXPECT_THAT(copy_journal(folder.path(), address).error().what, HasSubstr("another reaper"));
    file.reset();
    auto database = open_mariadb_journal(address, "test").value();
    EXPECT_THAT(copy_journal(folder.path(), address).error().what,
                HasSubstr("another reaper (test) writes to it"));
}

TEST_F(JournalCopy, NeedsASourceOtherThanTheTarget) {
    EXPECT_EQ(copy_journal(folder.path("none"), address).error().code, Errc::not_found);
    EXPECT_EQ(copy_journal(address, address).error().code, Errc::bad_input);
}

}  // namespace
}  // namespace reaper::journal::test::journal_copy_test
