// Which of a journal's requests are read for a server that no plan chose.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "fakes/fake_journal.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::find_explanation_test {
namespace {

using testing::ElementsAre;
using testing::Field;

TimePoint at(int minutes) {
    using namespace std::chrono;
    return TimePoint{sys_days{year{2024} / May / 1} + std::chrono::minutes{minutes}};
}

class FindExplanation : public testing::Test {
protected:
    void waits(const std::string& id, int minutes, const std::string& server) {
        RequestRecord record;
        record.request.id = RequestId{id};
        record.request.requesters = {ServerId{server}};
        record.received_at = at(minutes);
        journal_.records[record.request.id] = record;
    }
    std::optional<report::Explanation> find(const std::string& asked) {
        return run_task(io_, report::find_explanation(journal_, asked)).value();
    }

    test::FakeJournal journal_;
    boost::asio::io_context io_{1};
};

TEST_F(FindExplanation, TheNewestTenThousandRequestsAreReadForOneThatWaited) {
    waits("req-first", 0, "web-1");
    for (int i = 1; i < 10'000; ++i) waits("req-" + std::to_string(i), i, "another");
    const auto told = find("web-1");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->request.id, RequestId{"req-first"});
    waits("req-10000", 10'000, "another");
    EXPECT_FALSE(find("web-1"));
    EXPECT_TRUE(find("req-first")) << "by its id it is found";
}

TEST_F(FindExplanation, OfOneThatWaitedSeveralTimesTheOthersAreListed) {
    for (int i = 0; i < 3; ++i) waits("req-" + std::to_string(i), i, "web-1");
    const auto told = find("web-1");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->request.id, RequestId{"req-2"});
    EXPECT_THAT(told->also, ElementsAre(Field(&ChosenServer::request, RequestId{"req-1"}),
                                        Field(&ChosenServer::request, RequestId{"req-0"})));
}

}  // namespace
}  // namespace reaper::cli::find_explanation_test
