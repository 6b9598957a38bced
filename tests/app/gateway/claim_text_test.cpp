#include "reaper/gateway/claim_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reaper/json/json_holdings.hpp"
#include "reaper/model/escrow_consumer.hpp"

namespace reaper {
namespace {

using nlohmann::json;

const ServerId server{"157cb5d7-ad12-425b-af64-3ba7f81c3149"};
const ServerId escrow_consumer{"22222222-ad12-825b-af64-3ba7f81c3149"};
const std::string claim =
    R"({"allocations": {"rp": {"resources": {"VCPU": 2}}}, "mappings": {"": ["rp"]},
    "project_id": "p", "user_id": "u", "consumer_generation": null})";

std::vector<ConsumerChange> change() {
    Consumer wanted{{}, 4, "spot", "alice", "RESERVATION"};
    return {{escrow_consumer, wanted}};
}

TEST(ClaimText, AClaimIsReadByProvider) {
    const auto asked = read_claim(claim);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->at(ProviderId{"rp"}), (Resources{{"VCPU", 2}}));
    EXPECT_FALSE(read_claim("[]"));
    EXPECT_FALSE(read_claim("{"));
}

TEST(ClaimText, TogetherWithOthersItIsAsItWas) {
    const json joint = json::parse(joint_claim(claim, server, change()).value());
    EXPECT_EQ(joint[server.str()], json::parse(claim));
    EXPECT_EQ(joint[escrow_consumer.str()],
              json::parse(R"({"allocations": {}, "consumer_generation": 4,
        "project_id": "spot", "user_id": "alice"})"));
    EXPECT_FALSE(joint_claim("[]", server, change()));
    // One of any depth would overflow the stack.
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    EXPECT_FALSE(joint_claim("{\"allocations\": " + deep + "}", server, change()));
}

TEST(ClaimText, WhereItHasATypeAllHave) {
    json typed = json::parse(claim);
    typed["consumer_type"] = "INSTANCE";
    const json joint = json::parse(joint_claim(typed.dump(), server, change()).value());
    EXPECT_EQ(joint[escrow_consumer.str()]["consumer_type"], "RESERVATION");
}

TEST(ClaimText, OneThatIsOutOfDateIsNotOneWithoutRoom) {
    EXPECT_TRUE(is_concurrent_update(R"({"errors": [{"code": "placement.concurrent_update"}]})"));
    EXPECT_FALSE(is_concurrent_update(no_room_text("req-1")));
    for (const char* other : {"", "[]", R"({"errors": []})", R"({"errors": [{"code": 1}]})"})
        EXPECT_FALSE(is_concurrent_update(other));
}

TEST(EscrowConsumer, ItsIdTellsWhose) {
    const ServerId id = escrow_consumer_of(server).value();
    EXPECT_EQ(id.str(), "157cb5d7-ad12-825b-af64-3ba7f81c3149");
    EXPECT_EQ(kept_of(id), server);
    EXPECT_FALSE(escrow_consumer_of(id));
    EXPECT_FALSE(kept_of(server));
    EXPECT_FALSE(escrow_consumer_of(ServerId{"s1"}));
}

TEST(EscrowConsumer, WhatWasFreeIsNamedAfterRequestAndHost) {
    const RequestId request{"req-0f000000-0000-4000-8000-0000000000ff"};
    const auto stand_in = stand_in_on(request, HostId{"11111111-1111-4111-8111-1111111111f1"});
    EXPECT_EQ(stand_in.value().str(), "1e111111-1111-4111-0111-11111111110e");
    EXPECT_TRUE(escrow_consumer_of(*stand_in));
    const RequestId second{request.str() + "~2"};
    EXPECT_EQ(stand_in_on(second, HostId{"11111111-1111-4111-8111-1111111111f1"}).value().str(),
              "1e111111-1111-4111-0111-111111111120");
    EXPECT_FALSE(stand_in_on(request, HostId{"rp-host1"}));
    EXPECT_FALSE(stand_in_on(RequestId{"req-1"}, HostId{server.str()}));
}

}  // namespace
}  // namespace reaper
