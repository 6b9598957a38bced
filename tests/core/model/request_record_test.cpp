#include "reaper/model/request_record.hpp"

#include <gtest/gtest.h>

namespace reaper::request_record_test {
namespace {

RequestRecord ended_as(OutcomeKind kind, RequestSource source = RequestSource::gateway) {
    RequestRecord record;
    record.request.source = source;
    record.outcome.emplace().kind = kind;
    PlanEntry entry;
    entry.decision = NotEnough{};
    record.plans.push_back(entry);
    return record;
}

TEST(RequestRecord, ARefusalThatLeftNothingOutIsTheAnswerToNovasFailureToo) {
    EXPECT_FALSE(was_only_a_search(ended_as(OutcomeKind::not_enough)));
    EXPECT_FALSE(was_only_a_search(ended_as(OutcomeKind::freed)));
    RequestRecord under_way = ended_as(OutcomeKind::failed);
    under_way.outcome.reset();
    EXPECT_FALSE(was_only_a_search(under_way));
}

TEST(RequestRecord, ASearchThatWasNotFinishedOrLeftSomethingOutIsNot) {
    EXPECT_TRUE(was_only_a_search(ended_as(OutcomeKind::failed)));
    EXPECT_TRUE(was_only_a_search(ended_as(OutcomeKind::handed_over)));
    EXPECT_TRUE(was_only_a_search(ended_as(OutcomeKind::incomplete)));
    RequestRecord offered = ended_as(OutcomeKind::not_enough);
    offered.request.placement.only_offered = true;
    EXPECT_TRUE(was_only_a_search(offered));
    RequestRecord slow = ended_as(OutcomeKind::not_enough);
    slow.request.placement.without_slow_hosts = true;
    EXPECT_TRUE(was_only_a_search(slow));
    RequestRecord hurried = ended_as(OutcomeKind::not_enough);
    std::get<NotEnough>(hurried.plans.back().decision).for_search = true;
    EXPECT_TRUE(was_only_a_search(hurried));
    hurried.request.source = RequestSource::nova_failure;
    EXPECT_FALSE(was_only_a_search(hurried)) << "it is Nova's failure itself";
}

}  // namespace
}  // namespace reaper::request_record_test
