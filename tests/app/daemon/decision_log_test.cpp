// The log tells of each decision and each deletion in a line that names its request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <string>
#include <vector>

#include "app/full_house.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper::test::decision_log_test {
namespace {

using testing::HasSubstr;

struct Line {
    std::string text;
    LogFields fields;
};

class Catcher final : public spdlog::sinks::base_sink<std::mutex> {
public:
    std::vector<Line> lines;

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const LogFields* const fields = fields_of(message);
        lines.push_back({std::string{message.payload.data(), message.payload.size()},
                         fields == nullptr ? LogFields{} : *fields});
    }
    void flush_() override {}
};

class DecisionLogTest : public FullHouse {
protected:
    DecisionLogTest() { spdlog::set_default_logger(std::make_shared<spdlog::logger>("t", caught)); }
    ~DecisionLogTest() override { spdlog::set_default_logger(before_); }

    /// The one line that has this text.
    Line line_with(const std::string& text) {
        std::vector<Line> found;
        for (const Line& line : caught->lines)
            if (line.text.find(text) != std::string::npos) found.push_back(line);
        EXPECT_EQ(found.size(), 1U) << text;
        return found.empty() ? Line{} : found.front();
    }

    std::shared_ptr<Catcher> caught = std::make_shared<Catcher>();

private:
    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(DecisionLogTest, EachDecisionAndDeletionIsALineWithItsRequest) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(1); });

    const Line decided = line_with("1 victim on 1 host free 1 slot");
    EXPECT_TRUE(decided.text.starts_with("req-1: ")) << decided.text;
    EXPECT_TRUE(decided.text.ends_with("; on host1")) << decided.text;
    EXPECT_EQ(decided.fields.request, "req-1");
    EXPECT_EQ(decided.fields.project, "regular");
    EXPECT_EQ(decided.fields.host, "host1");

    const Line deleted = line_with("req-1: deleting ");
    const Victim victim =
        std::get<Plan>(journal.records.at(RequestId{"req-1"}).plans.at(0).decision).victims().at(0);
    EXPECT_EQ(deleted.fields.request, "req-1");
    EXPECT_EQ(deleted.fields.server, victim.server.str());
    EXPECT_EQ(deleted.fields.server_name, victim.name);
    EXPECT_EQ(deleted.fields.host, "host1");
    EXPECT_EQ(deleted.fields.project, "spot");

    const Line after = line_with("req-1: outcome freed");
    EXPECT_EQ(after.fields.request, "req-1");
    EXPECT_EQ(after.fields.project, "regular");
}

TEST_F(DecisionLogTest, TheUseOfFreedRoomIsALineWithItsRequest) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    boots(uuid_of("requester-1"), "host1");
    run_until([&] { return record("req-1").freed_room.has_value(); });
    const Line told = line_with("req-1: freed room taken");
    EXPECT_EQ(told.fields.request, "req-1");
    EXPECT_EQ(told.fields.project, "regular");
}

TEST_F(DecisionLogTest, NoLineIsEmpty) {
    EXPECT_EQ(ServiceStatus{}.line, "starting") << "the gateway may report before the service";
    full_host();
    start();
    for (const Line& line : caught->lines) EXPECT_FALSE(line.text.empty());
}

TEST_F(DecisionLogTest, NamesStandBesideIds) {
    cloud.listed_names = {{"regular", "shop"}, {"spot", "ba\ntch"}};
    full_host();
    requester();
    start();
    run_until([&] { return cloud.count("names of projects") > 0; });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(1); });

    const Line decided = line_with("1 victim on 1 host free 1 slot");
    EXPECT_THAT(decided.text, HasSubstr("for project shop (regular), flavor flavor: "));
    EXPECT_EQ(decided.fields.project, "regular") << "the id as before";
    EXPECT_EQ(decided.fields.project_name, "shop");
    EXPECT_EQ(decided.fields.flavor, "flavor");
    EXPECT_EQ(line_with("req-1: deleting ").fields.project_name, "ba\ntch")
        << "it is made safe where the line is written";

    const RequestRecord& told = record("req-1");
    EXPECT_EQ(told.request.project_name, "shop");
    const auto& host = std::get<Plan>(told.plans.at(0).decision).hosts.at(0);
    EXPECT_EQ(host.victims.at(0).project_name, "ba\ntch");
    EXPECT_EQ(host.spared.at(0).project_name, "ba\ntch");
}

}  // namespace
}  // namespace reaper::test::decision_log_test
