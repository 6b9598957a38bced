// Requests with a res-type constraint, from the message to the outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::res_type_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ResTypeTest : public FullHouse {
protected:
    /// What the metadata of the failed server says.
    void requester_says(const std::string& constraint) {
        requester();
        cloud.server_at(uuid_of("requester-1")).record.server.metadata =
            std::map<std::string, std::string>{{"res-type", constraint}};
    }
    /// Oversubscribed room, and a reaper that knows its class.
    void oversold_host(const std::string& name, Amount vcpus) {
        settings.policy.taggers.push_back(
            {"resource", {{"class", std::string{"CUSTOM_REVOCABLE_VCPU"}}}});
        Resources capacity = small * 4;
        capacity.set(ResourceClass{"CUSTOM_REVOCABLE_VCPU"}, vcpus);
        cloud.add_host(name, capacity);
        // Its CPUs are taken, its memory is not.
        cloud.add_server(name + "-web", name, "regular", Resources{{"VCPU", 8}});
    }
    const Outcome& serve() {
        start();
        messages->deliver(body_of(failure()));
        const Outcome& outcome = outcome_of("req-1");
        return outcome;
    }
};

TEST_F(ResTypeTest, ARevocableRequestNeverCulls) {
    full_host();
    requester_says("revocable");
    const Outcome& outcome = serve();
    EXPECT_EQ(outcome.kind, OutcomeKind::revocable_only) << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr("no servers deleted"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(record("req-1").request.phases, (Phases{ResType::revocable, false}));
}

TEST_F(ResTypeTest, ARevocableRequestIsShownTheHostsWithRoom) {
    full_host();
    oversold_host("host2", 4);
    requester_says("revocable");
    const Outcome& outcome = serve();
    EXPECT_EQ(outcome.kind, OutcomeKind::revocable_room) << outcome.reason;
    EXPECT_THAT(outcome.reason, AllOf(HasSubstr("host2"), HasSubstr("no servers deleted")));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ResTypeTest, RegularFirstCullsWhereItCan) {
    full_host();
    oversold_host("host2", 4);
    requester_says("~regular");
    EXPECT_EQ(serve().kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ResTypeTest, RegularFirstGetsRevocableRoomWhereItCannotCull) {
    oversold_host("host2", 4);
    requester_says("*");
    const Outcome& outcome = serve();
    EXPECT_EQ(outcome.kind, OutcomeKind::revocable_room) << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr("host2"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ResTypeTest, RevocableFirstCullsOnlyWithoutRevocableRoom) {
    full_host();
    oversold_host("host2", 4);
    requester_says("~revocable");
    EXPECT_EQ(serve().kind, OutcomeKind::revocable_room);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    // The room is taken: the second try costs a victim.
    cloud.add_server("taker", "host2", "spot",
                     Resources{{"CUSTOM_REVOCABLE_VCPU", 4}, {"MEMORY_MB", 1024}});
    cloud.add_requester(uuid_of("requester-2"), "regular", Flavor{});
    cloud.server_at(uuid_of("requester-2")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "~revocable"}};
    messages->deliver(body_of(another("req-2", "requester-2")));
    const Outcome& outcome = outcome_of("req-2");
    EXPECT_EQ(outcome.kind, OutcomeKind::freed) << outcome.reason;
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ResTypeTest, RevocableRoomFreedWithoutAnEventIsFoundBeforeAnyDeletion) {
    full_host();
    oversold_host("host2", 4);
    cloud.add_server("taker", "host2", "spot",
                     Resources{{"CUSTOM_REVOCABLE_VCPU", 4}, {"MEMORY_MB", 1024}});
    requester_says("~revocable");
    with_events = true;
    start();
    run_until([&] { return status.line.find("hosts,") != std::string::npos; });
    cloud.remove("taker");
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::revocable_room);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ResTypeTest, ABadConstraintIsRefusedAndItsMessageIsDone) {
    full_host();
    requester_says("!=re*");
    const Outcome& outcome = serve();
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_THAT(outcome.reason,
                AllOf(HasSubstr("the server's metadata"), HasSubstr("leaves no kind of room")));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    run_until([&] { return all_acknowledged(1); });
}

TEST_F(ResTypeTest, Rule7ARevocableRequesterNeverCullsWhateverItsConstraintSays) {
    full_host();
    requester("requester-1", "spot");
    cloud.server_at(uuid_of("requester-1")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "regular"}};
    NovaFailure spot = failure();
    spot.project = "spot";
    start();
    messages->deliver(body_of(spot));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ResTypeTest, RefusalsOfOneConstraintAreNoAnswerToAnother) {
    full_host();
    requester_says("revocable");
    EXPECT_EQ(serve().kind, OutcomeKind::revocable_only);
    cloud.add_requester(uuid_of("requester-2"), "regular", Flavor{});
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

// ---- the image ----

class ImageSays : public ResTypeTest {
protected:
    std::vector<std::string> image_calls() const {
        std::vector<std::string> ids;
        for (const auto& call : cloud.calls)
            if (call.starts_with("image ")) ids.push_back(call.substr(6));
        return ids;
    }
    /// Whichever image is asked for.
    void any_image_says(const std::string& constraint) {
        cloud.on_call = [this, constraint](const std::string& call) -> std::optional<Error> {
            if (call.starts_with("image "))
                cloud.images[call.substr(6)] = {{"res_type", constraint}};
            return std::nullopt;
        };
    }
};

TEST_F(ImageSays, WhatItAdmitsCounts) {
    full_host();
    requester();
    any_image_says("revocable");
    EXPECT_EQ(serve().kind, OutcomeKind::revocable_only);
    EXPECT_THAT(record("req-1").request.phases_because, HasSubstr("the image's property"));
}

TEST_F(ImageSays, WhatTheServerSaysCountsMore) {
    full_host();
    requester_says("regular");
    any_image_says("revocable");
    EXPECT_EQ(serve().kind, OutcomeKind::freed);
}

TEST_F(ImageSays, NoServerIsDeletedWhereItsTraitsAreMissing) {
    full_host();
    requester_says("regular");
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("image "))
            cloud.images[call.substr(6)] = {{"trait:CUSTOM_IMAGE", "required"}};
        return std::nullopt;
    };
    EXPECT_EQ(serve().kind, OutcomeKind::not_enough);
    EXPECT_EQ(image_calls().size(), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ImageSays, OneThatMayNotBeSeenSaysNothing) {
    full_host();
    requester();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("image ")) return Error{Errc::forbidden, "no"};
        return std::nullopt;
    };
    EXPECT_EQ(serve().kind, OutcomeKind::freed);
    EXPECT_EQ(image_calls().size(), 1U);
}

TEST_F(ImageSays, OneThatIsGoneSaysNothing) {
    full_host();
    requester();
    EXPECT_EQ(serve().kind, OutcomeKind::freed);
    EXPECT_EQ(image_calls().size(), 1U);
}

TEST_F(ImageSays, NoServerIsDeletedWhileItIsNotKnown) {
    full_host();
    requester();
    int asked = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("image ")) return std::nullopt;
        if (++asked < 4) return Error{Errc::timeout, "glance is slow"};
        cloud.images[call.substr(6)] = {{"res_type", "revocable"}};
        return std::nullopt;
    };
    EXPECT_EQ(serve().kind, OutcomeKind::revocable_only);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace reaper::test::res_type_test
