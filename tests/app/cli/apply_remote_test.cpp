// `reaper apply` and `reaper plan --save` with a daemon elsewhere: what they tell, and how they
// end.
#include <filesystem>
#include <gmock/gmock.h>

#include "app/cli/program.hpp"
#include "app/cli/remote_daemon.hpp"
#include "reaper/cli/cloud/saved_plan.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"

namespace reaper::cli::apply_remote_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const TimePoint noon = *parse_time("2026-11-20T12:00:00Z");

DescribedRequest described() {
    DescribedRequest wanted;
    wanted.id = "mine";
    wanted.resources = Resources{{"VCPU", 4}};
    wanted.project = "web";
    return wanted;
}
Request planned_request() {
    return request_of(described(), RequestId{"mine"}, ProjectId{"66353a94"}, noon);
}
Plan planned() {
    Plan plan;
    plan.request = RequestId{"mine"};
    plan.hosts.emplace_back();
    plan.hosts.back().host_name = "compute-1";
    Victim victim;
    victim.server = ServerId{"s-1"};
    victim.name = "spot-7";
    victim.host = "compute-1";
    plan.hosts.back().victims.push_back(victim);
    return plan;
}
PauseNote paused() {
    return {"alice", "kernel update", noon};
}

class ApplyRemote : public RemoteDaemon {
protected:
    ApplyRemote() {
        EXPECT_TRUE(save_plan(file_, described(), planned_request(), planned(), "alice"));
    }
    void plans(const Decision& decision, const std::optional<PauseNote>& pause,
               const json& stale = nullptr, const json& no_help = nullptr) {
        answers("/v1/plan", {{"request", report::to_json(planned_request())},
                             {"decision", report::to_json(decision)},
                             {"remarks", json::array()},
                             {"pause", report::json_of(pause)},
                             {"taken_at", iso_time(noon)},
                             {"no_help", no_help},
                             {"stale", stale}});
    }
    /// One line of its answer after another.
    void tells(const std::vector<json>& lines) {
        std::string body;
        for (const json& line : lines) body += line.dump() + "\n";
        replies_["/v1/requests"] = test::json_reply(200, body);
    }
    ExitCode apply(bool dry_run, bool as_json = false) {
        return captured(as_json, [&](const GlobalOptions& global, const Terminal& terminal) {
            return carry_out(global, ApplyCommand{file_, dry_run}, terminal);
        });
    }
    ExitCode plan_and_save(const std::string& to) {
        return captured(false, [&](const GlobalOptions& global, const Terminal& terminal) {
            PlanCommand command;
            static_cast<DescribedRequest&>(command) = described();
            command.save_file = to;
            return carry_out(global, command, terminal);
        });
    }

    test::TemporaryDirectory directory_;
    std::string file_ = directory_.file("plan.json");
};

TEST_F(ApplyRemote, APlanThatHoldsIsReportedWithItsServers) {
    plans(planned(), std::nullopt);
    serve();
    EXPECT_EQ(apply(true), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("the plan holds: 1 server would be deleted"));
    EXPECT_THAT(out_, HasSubstr("spot-7"));
    EXPECT_THAT(out_, Not(HasSubstr("paused")));
}

TEST_F(ApplyRemote, ThatTheReaperIsPausedIsReportedAndEndsAsTheDeedWould) {
    plans(planned(), paused());
    serve();
    EXPECT_EQ(apply(true), ExitCode::not_enough) << err_;
    EXPECT_THAT(out_, HasSubstr("the plan holds"));
    EXPECT_THAT(out_, HasSubstr("Remark: the reaper is paused by alice"));
    EXPECT_EQ(apply(true, true), ExitCode::not_enough);
    EXPECT_EQ(json::parse(out_).at("pause").at("by"), "alice");
}

TEST_F(ApplyRemote, WhatKeepsTheReaperFromHelpingIsReported) {
    plans(planned(), std::nullopt, nullptr, "a dry run changes nothing");
    serve();
    EXPECT_EQ(apply(true), ExitCode::not_enough);
    EXPECT_THAT(out_, HasSubstr("Remark: nothing would be done now: a dry run changes nothing."));
    NotEnough limited;
    limited.reason = "the limit of the window is used up";
    limited.safeguard = "limit-window";
    const Decision decisions[] = {Refused{"it is revocable"}, limited};
    for (const Decision& decision : decisions) {
        plans(decision, std::nullopt);
        EXPECT_EQ(apply(true), ExitCode::not_enough);
        EXPECT_EQ(out_, "");
        EXPECT_THAT(err_, HasSubstr("no servers would be deleted: "));
    }
}

TEST_F(ApplyRemote, AStalePlanIsStaleWhileItIsPausedToo) {
    plans(planned(), paused(), "the approved plan is stale: plan again");
    serve();
    EXPECT_EQ(apply(true), ExitCode::stale);
    EXPECT_THAT(err_, HasSubstr("the approved plan is stale"));
}

TEST_F(ApplyRemote, StepsHaveTheNamesOfThePlan) {
    tells({{{"event", "accepted"}, {"id", "mine"}},
           {{"event", "plan"}, {"plan", {{"decision", report::to_json(Decision{planned()})}}}},
           {{"event", "step"}, {"step", {{"step", "delete-sent"}, {"server", "s-1"}}}},
           {{"event", "step"}, {"step", {{"step", "gone"}, {"server", "s-2"}}}},
           {{"event", "outcome"}, {"outcome", {{"kind", "freed"}, {"reason", "it is free"}}}}});
    serve();
    EXPECT_EQ(apply(false), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("delete-sent  spot-7 (s-1)\n"));
    EXPECT_THAT(out_, HasSubstr("gone  s-2\n")) << "no plan told its name";
}

TEST_F(ApplyRemote, ADryRunOfTheDaemonFreesNothing) {
    tells({{{"event", "accepted"}, {"id", "mine"}},
           {{"event", "outcome"},
            {"outcome", {{"kind", "dry-run"}, {"reason", "not carried out"}}}}});
    serve();
    EXPECT_EQ(apply(false), ExitCode::not_enough) << err_;
    EXPECT_THAT(out_, HasSubstr("dry-run: not carried out"));
}

TEST_F(ApplyRemote, WherePlanSavesNothingItEndsAlikeForWhateverReason) {
    const std::string to = directory_.file("other.json");
    serve();
    for (const Decision& decision : {Decision{NothingToDo{"the room is there", {}}},
                                     Decision{NotEnough{}}, Decision{Refused{"it is revocable"}}}) {
        plans(decision, std::nullopt);
        EXPECT_EQ(plan_and_save(to), ExitCode::not_enough) << err_;
        EXPECT_THAT(err_, HasSubstr("nothing to approve"));
        EXPECT_FALSE(std::filesystem::exists(to));
    }
    plans(planned(), std::nullopt);
    EXPECT_EQ(plan_and_save(to), ExitCode::ok) << err_;
    EXPECT_TRUE(std::filesystem::exists(to));
}

}  // namespace
}  // namespace reaper::cli::apply_remote_test
