// What must be known before any server is deleted: whom the configuration protects, and that we see
// the servers of others.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::cull_preconditions_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class CullPreconditionsTest : public FullHouse {
protected:
    void protect(const std::vector<std::string>& projects) {
        settings.policy.safeguards.protect.projects = projects;
    }
    void ask_while_it_is_not_known_who_is_protected() {
        full_host();
        requester();
        protect({"gold"});
        silence();
        start();
        messages->deliver(body_of(failure()));
    }
    /// Keystone does not answer questions about projects.
    void silence() {
        cloud.on_call = [](const std::string& call) -> std::optional<Error> {
            if (!call.starts_with("project ")) return std::nullopt;
            return Error{Errc::unreachable, "keystone: connection refused"};
        };
    }
    bool is_served(const std::string& request) const {
        const auto found = journal.records.find(RequestId{request});
        return found != journal.records.end() && found->second.outcome.has_value();
    }
    bool noted(const std::string& words) const {
        return std::any_of(journal.noted_marks.begin(), journal.noted_marks.end(),
                           [&](const JournalEvent& event) {
                               return event.reason.find(words) != std::string::npos;
                           });
    }
};

TEST_F(CullPreconditionsTest, AProjectIsProtectedByItsName) {
    full_host();
    requester();
    cloud.project_names = {{"Default/Spot Team", "spot"}};
    protect({"Default/Spot Team"});
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    protect({});
    service().reload(live_settings());
    requester("requester-2");
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

TEST_F(CullPreconditionsTest, NoServerIsDeletedWhileAProtectedProjectIsNotThere) {
    full_host();
    requester();
    cloud.no_projects = {"gould"};
    protect({"gold", "gould"});
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("Keystone has no project 'gould'"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    run_until([&] { return noted("gould"); });
    EXPECT_THAT(status.line, HasSubstr("held back: protect.projects"));

    cloud.no_projects.clear();  // it is made
    run_until([&] { return status.line.find("held back") == std::string::npos; });
    requester("requester-2");
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

TEST_F(CullPreconditionsTest, ANameThatAnotherProjectHasByNowProtectsThatOne) {
    full_host();
    requester();
    cloud.project_names = {{"prod", "of-old"}};
    protect({"prod"});
    start();
    pass(seconds{10});
    const auto before = service().state()->settings.policy;
    pass(seconds{330});
    EXPECT_EQ(service().state()->settings.policy, before) << "no plan is stopped by the look";
    cloud.project_names = {{"prod", "spot"}};
    pass(seconds{330});
    NovaFailure message = failure();
    message.timestamp = "2026-11-20 00:11:00.000000";
    messages->deliver(body_of(message));
    EXPECT_EQ(outcome_of("req-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CullPreconditionsTest, RequestsWaitWhileItIsNotKnownWhoIsProtected) {
    ask_while_it_is_not_known_who_is_protected();
    pass(seconds{60});
    EXPECT_FALSE(is_served("req-1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.on_call = {};
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(CullPreconditionsTest, WhatStaysUnknownFailsTheRequestWithItsReason) {
    ask_while_it_is_not_known_who_is_protected();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("keystone: connection refused"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CullPreconditionsTest, AWallClockThatIsSetBackDelaysNoRequest) {
    ask_while_it_is_not_known_who_is_protected();
    pass(seconds{10});
    ASSERT_FALSE(is_served("req-1"));
    clock.step(-std::chrono::hours{24});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CullPreconditionsTest, AReloadThatProtectsMoreHoldsUntilItIsKnownWhom) {
    full_host();
    requester();
    start();
    silence();
    protect({"gold"});
    service().reload(live_settings());
    messages->deliver(body_of(failure()));
    pass(seconds{60});
    EXPECT_FALSE(is_served("req-1"));
    cloud.on_call = {};
    cloud.project_names = {{"gold", "spot"}};
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// A reload does not end what holds the reaper back.
TEST_F(CullPreconditionsTest, AnotherReloadLooksAgain) {
    full_host();
    requester();
    cloud.no_projects = {"gould"};
    protect({"gould"});
    start();
    run_until([&] { return status.line.find("gould") != std::string::npos; });
    protect({"gold"});
    service().reload(live_settings());
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(CullPreconditionsTest, NoServerIsDeletedIfOthersAreVisibleInListsOnly) {
    full_host();
    cloud.add_host("host2", small);
    cloud.add_server("web", "host2", "regular", small);
    requester();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "server web" && !call.starts_with("server host1")) return std::nullopt;
        return Error{Errc::forbidden, "nova: 404, though listed: context_is_admin"};
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("context_is_admin"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);

    cloud.on_call = {};  // the policy is fixed, and the next request is not refused for the old one
    pass(seconds{2});
    requester("requester-2");
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

TEST_F(CullPreconditionsTest, OtherNamesThatLeadNowhereHoldNothingBack) {
    full_host();
    requester();
    settings.policy.strategy = {"strict", {{"leftover_order", std::vector<std::string>{"MEMORY"}}}};
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "resource classes") return std::nullopt;
        return Error{Errc::forbidden, "placement: 403"};
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

}  // namespace
}  // namespace reaper::test::cull_preconditions_test
