// A notice without the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cloud.hpp"
#include "fakes/fake_journal.hpp"
#include "reaper/cli/cloud/simulate_command.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::simulate_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Simulate : public ::testing::Test {
protected:
    Simulate() {
        const Resources room{{"VCPU", 2}};
        cloud.add_host("host1", room);
        cloud.add_server("host1a", "host1", "spot", room);
        settings_.period = seconds{30};
    }
    Result<Simulation> run(SimulateCommand command, bool with_journal = true) {
        const NoticeRules rules{settings_};
        boost::asio::io_context io{1};
        return run_task(io, simulate(cloud.ports(), rules, std::move(command),
                                     with_journal ? &journal : nullptr));
    }
    std::optional<TimePoint> told() {
        const auto& metadata = cloud.server_at("host1a").record.server.metadata;
        const auto at = metadata.find(evict_at_key);
        return at == metadata.end() ? std::nullopt : parse_time(at->second);
    }

    test::FakeClock clock;
    test::FakeCloud cloud{clock};
    test::FakeJournal journal;
    NoticeSettings settings_;
};

TEST_F(Simulate, TheMetadataSayWhatTheyWouldSay) {
    EXPECT_EQ(run({"host1a", {}, false}).value().until, clock.now() + seconds{30});
    EXPECT_EQ(told(), clock.now() + seconds{30});
    EXPECT_EQ(run({"host1a", {}, false}).error().code, Errc::conflict);
    EXPECT_FALSE(run({"host1a", {}, true}).value().until.has_value());
    EXPECT_FALSE(told().has_value());
    EXPECT_EQ(run({"host1a", minutes{5}, false}).value().until, clock.now() + minutes{5});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(Simulate, ARealNoticeIsNotTakenBack) {
    EXPECT_TRUE(run({"host1a", {}, false}));
    RequestRecord record;
    record.request.id = RequestId{"req-1"};
    record.steps.push_back({ServerId{"host1a"}, Step::notified, iso_time(*told()), clock.now()});
    journal.records[record.request.id] = record;
    const auto refused = run({"host1a", {}, true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_THAT(refused.error().what, ::testing::HasSubstr("for request req-1"));
    journal.cut_off = true;
    EXPECT_EQ(run({"host1a", {}, true}).error().code, Errc::storage);
    EXPECT_TRUE(told().has_value());
}

TEST_F(Simulate, WithoutAJournalANoticeThatIsTakenBackMayBeReal) {
    EXPECT_FALSE(run({"host1a", {}, false}, false).value().may_be_real);
    EXPECT_TRUE(run({"host1a", {}, true}, false).value().may_be_real);
    EXPECT_FALSE(run({"host1a", {}, true}).value().may_be_real);
}

TEST_F(Simulate, NoServerHearsNothing) {
    EXPECT_EQ(run({"unknown", {}, false}).error().code, Errc::not_found);
}

}  // namespace
}  // namespace reaper::cli::simulate_test
