// Rule 1, on the last look: what the safeguards protect lives, whatever the plan said.
#include <chrono>
#include <gtest/gtest.h>

#include "reaper/eviction/cull.hpp"
#include "tagging/taggers.hpp"

namespace reaper::fresh_check_test {
namespace {

using Kind = FreshVerdict::Kind;
using namespace std::chrono_literals;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 12h};

class FreshCheck : public ::testing::Test {
protected:
    FreshCheck() {
        const auto* const info = find_tagger("project");
        auto made = info->make(with_standards(info->parameters, {}));
        taggers_.push_back(std::move(std::get<std::unique_ptr<Tagger>>(made)));
        tag_data_.projects_by_tag["preemptible"] = {ProjectId{"cheap"}};
        victim_.server = record_.server.id = ServerId{"s"};
        victim_.project = record_.server.project = ProjectId{"cheap"};
        victim_.host = "h";
        victim_.resources = Resources{{"VCPU", 1}};
        record_.server.host = "h";
        record_.server.status = "ACTIVE";
        record_.server.created = noon - 1h;
    }

    FreshVerdict judge() {
        const Protection protection{protect_};
        const FreshRules rules{taggers_,    tag_data_, protection, protect_.min_run_time,
                               aggregates_, notice_,   shelve_,    life_span_};
        const std::optional<ServerRecord> record{record_};
        const Allocations held{{ProviderId{"p"}, Resources{{"VCPU", 1}}}};
        return judge_fresh(victim_, FreshSight{record, held, held, lock_}, rules, noon);
    }

    Taggers taggers_;
    TagData tag_data_;
    ProtectSettings protect_;
    NoticeRules notice_;
    ShelveRules shelve_;
    Victim victim_;
    ServerRecord record_;
    LockHolder lock_ = LockHolder::unknown;
    std::vector<AggregateRecord> aggregates_;
    const LifeSpanSettings* life_span_ = nullptr;
};

TEST_F(FreshCheck, AVictimAsPlannedIsFit) {
    EXPECT_EQ(judge().kind, Kind::fit) << judge().reason;
}

TEST_F(FreshCheck, OnlyAnAdministratorsLockCounts) {
    record_.server.locked = true;
    lock_ = LockHolder::owner;
    EXPECT_EQ(judge().kind, Kind::fit) << judge().reason;
    lock_ = LockHolder::administrator;
    EXPECT_EQ(judge().reason, "it is locked by an administrator");
    lock_ = LockHolder::unknown;
    EXPECT_EQ(judge().kind, Kind::unfit) << "the owner may not be the one who locked it";
    protect_.owners = true;
    lock_ = LockHolder::none;  // not asked
    EXPECT_EQ(judge().reason, "it is locked");
}

TEST_F(FreshCheck, WhatAnOperatorProtectsLives) {
    record_.server.locked = true;
    lock_ = LockHolder::owner;
    protect_.servers = {{"s", "until tonight, by alice"}};
    EXPECT_EQ(judge().reason, "it is protected by an operator: until tonight, by alice");
    protect_.servers.clear();
    protect_.flavors = {"gold"};
    record_.server.flavor_name = "gold";
    EXPECT_EQ(judge().reason, "it is protected by its flavor 'gold'");
    protect_.flavors.clear();
    protect_.aggregates = {"quiet"};
    EXPECT_EQ(judge().kind, Kind::fit);
    aggregates_ = {{"u", "quiet", {"h"}, {}}};
    EXPECT_EQ(judge().reason, "it is protected by its host's aggregate 'quiet'");
    protect_.aggregates = {"u"};
    EXPECT_EQ(judge().kind, Kind::unfit);
    aggregates_[0].hosts = {"another"};
    EXPECT_EQ(judge().kind, Kind::fit);
}

TEST_F(FreshCheck, WhatWasProtectedSinceThePlanLives) {
    record_.server.tags = std::set<std::string>{"reaper-protected"};
    EXPECT_EQ(judge().kind, Kind::fit) << "its owner's word";
    protect_.owners = true;
    record_.server.tags = std::set<std::string>{"reaper-protected"};
    EXPECT_EQ(judge().kind, Kind::unfit);
    EXPECT_EQ(judge().reason, "it is protected by its tag 'reaper-protected'");
    record_.server.tags = std::set<std::string>{};
    record_.server.metadata.insert_or_assign("reaper:protected", "true");
    EXPECT_EQ(judge().reason, "it is protected by its metadata 'reaper:protected'");
    record_.server.metadata.insert_or_assign("reaper:protected", "no");
    EXPECT_EQ(judge().kind, Kind::fit);
    protect_.projects = {"cheap"};
    protect_.project_ids = {{"cheap", "cheap"}};
    EXPECT_EQ(judge().reason, "it is protected by its project cheap");
}

TEST_F(FreshCheck, WhatHasNotRunLongEnoughLives) {
    protect_.min_run_time = 1h;
    EXPECT_EQ(judge().kind, Kind::fit);
    record_.server.launched = noon - 59min;  // it was rebuilt
    EXPECT_EQ(judge().kind, Kind::fit);
    record_.server.created = noon - 59min;
    EXPECT_EQ(judge().kind, Kind::unfit);
    EXPECT_EQ(judge().reason, "it has not run for 1h yet (min_run_time)");
}

TEST_F(FreshCheck, WhatWasToEndOfAgeAndIsYoungerLives) {
    LifeSpanSettings settings;
    settings.taggers = {{"project", 1h}};
    settings.flavor_key = "life";
    settings.jitter = 0s;
    life_span_ = &settings;
    EXPECT_EQ(judge().kind, Kind::fit) << judge().reason;
    record_.server.created = noon - 59min;  // the plan had it otherwise
    EXPECT_EQ(judge().reason, "its life span ends at " + iso_time(noon + 1min));
    record_.server.flavor_extra_specs = std::map<std::string, std::string>{{"life", "10min"}};
    EXPECT_EQ(judge().kind, Kind::fit);
    settings = {};  // it was turned off
    EXPECT_EQ(judge().kind, Kind::unfit);
}

TEST_F(FreshCheck, ADeletionByAnotherUserIsCreditedWhateverProtectsTheServer) {
    record_.server.tags = std::set<std::string>{"reaper-protected"};
    record_.server.task_state = "deleting";
    EXPECT_EQ(judge().kind, Kind::going);
}

}  // namespace
}  // namespace reaper::fresh_check_test
