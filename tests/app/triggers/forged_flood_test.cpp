// Forged messages in great number: Nova is asked for all of them together, and the newest first.
#include <algorithm>
#include <gtest/gtest.h>

#include "app/forged_messages.hpp"

namespace reaper::test::forged_flood_test {
namespace {

constexpr int many = 200;
/// What is read one by one before the others wait for a list, looked at three times at most.
constexpr std::size_t singly = 16 * 3;

class ForgedFloodTest : public ForgedMessages {
protected:
    /// Of servers that there are not.
    void flood(const std::string& event = "compute_task.build_instances.error") {
        for (int i = 0; i < many; ++i) {
            NovaFailure forged =
                another("req-forged-" + std::to_string(i), "no-such-" + std::to_string(i));
            forged.event = event;
            messages->deliver(body_of(forged));
        }
    }
    /// Refused as what Nova does not confirm: no other message is settled by it. But for those that
    /// were read one by one: their servers are gone.
    void expect_unconfirmed_of_most() {
        std::size_t told = 0;
        for (int i = 0; i < many; ++i) {
            const Outcome& outcome = outcome_of("req-forged-" + std::to_string(i));
            EXPECT_EQ(outcome.kind, OutcomeKind::refused);
            told += outcome.safeguard == "unconfirmed" ? 1U : 0U;
        }
        EXPECT_GE(told + singly, static_cast<std::size_t>(many));
    }
    std::size_t lists() const { return cloud.count("servers in"); }
    /// Where in the calls it stands.
    std::ptrdiff_t place_of(const std::string& call) const {
        const auto at = std::find(cloud.calls.begin(), cloud.calls.end(), call);
        EXPECT_NE(at, cloud.calls.end()) << call;
        return at - cloud.calls.begin();
    }
};

TEST_F(ForgedFloodTest, AFewListsRefuteAllOfThem) {
    full_host();
    requester();
    start();
    flood();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(many + 1); });
    expect_unconfirmed_of_most();
    EXPECT_LE(cloud.count("server "), singly + 10);
    EXPECT_LE(cloud.count("action req-forged"), singly);
    EXPECT_GE(lists(), 1U);
    EXPECT_LE(lists(), 8U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ForgedFloodTest, ThatOfMovesToo) {
    full_host();
    running("mover");
    resize_failed("req-1");
    start();
    flood("compute_task.migrate_server.error");
    messages->deliver(body_of(move_of("mover")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(many + 1); });
    EXPECT_LE(cloud.count("action req-forged"), singly);
    EXPECT_LE(lists(), 8U);
}

TEST_F(ForgedFloodTest, TheNewestIsReadFirst) {
    full_host();
    for (int i = 0; i < 40; ++i) requester("r" + std::to_string(i));
    start();
    for (int i = 0; i < 40; ++i)
        messages->deliver(body_of(another("req-" + std::to_string(i), "r" + std::to_string(i))));
    run_until([&] { return all_acknowledged(40); });
    // The first are read at once, and those of the first list are few.
    EXPECT_LT(place_of("action req-39"), place_of("action req-38"));
    EXPECT_LT(place_of("action req-38"), place_of("action req-25"));
    EXPECT_LT(place_of("action req-0"), place_of("action req-39")) << "it did not have to wait";
}

TEST_F(ForgedFloodTest, TheActionsOfAServerRefuteAllThatNameIt) {
    full_host();
    requester();
    ActionRecord create;
    create.name = "create";
    create.request = RequestId{"req-1"};
    cloud.histories[ServerId{uuid_of("requester-1")}] = {create};
    start();
    for (int i = 0; i < many; ++i) {
        const std::string request = "req-forged-" + std::to_string(i);
        cloud.forgotten.insert(request);
        messages->deliver(body_of(another(request, "requester-1")));
    }
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(many + 1); });
    EXPECT_LE(cloud.count("action req-forged"), singly);
    EXPECT_LE(cloud.count("actions "), 8U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ForgedFloodTest, AServerThatOneListMissedIsBelieved) {
    full_host();
    requester();
    cloud.not_listed = {ServerId{uuid_of("requester-1")}};
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("servers in") && lists() == 2) cloud.not_listed.clear();
        return std::nullopt;
    };
    start();
    // As many as are read one by one are under way.
    for (int i = 0; i < 16; ++i) {
        const std::string name = "slow-" + std::to_string(i);
        cloud.slow[ServerId{uuid_of(name)}] = std::chrono::seconds{10};
        messages->deliver(body_of(another("req-" + name, name)));
    }
    run_until([&] { return cloud.count("action req-slow") == 16; });
    NovaFailure old = failure();
    old.timestamp = "2026-11-19 23:59:30.000000";
    messages->deliver(body_of(old));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(lists(), 2U);
}

TEST_F(ForgedFloodTest, WhereNovaListsNothingEachIsReadByItself) {
    full_host();
    requester();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("servers in")) return std::nullopt;
        return Error{Errc::forbidden, "no lists"};
    };
    start();
    flood();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(many + 1); });
    EXPECT_GE(cloud.count("action req-forged"), static_cast<std::size_t>(many));
}

TEST_F(ForgedFloodTest, AServerThatNovaDoesNotHaveIsNotWaitedFor) {
    full_host();
    with_events = true;
    start();
    NovaFailure forged = another("req-2", "no-such");
    forged.line = "No valid host was found. There are not enough hosts available.";
    const TimePoint began = clock.now();
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::refused);
    EXPECT_LT(clock.now() - began, std::chrono::milliseconds{500});
}

TEST_F(ForgedFloodTest, OfOneThatWasSentAWhileAgoNovaIsNotAskedAThirdTime) {
    full_host();
    running("victim");
    start();
    NovaFailure forged = move_of("victim");
    forged.timestamp = "2026-11-19 23:59:30.000000";
    const TimePoint began = clock.now();
    messages->deliver(body_of(forged));
    expect_unconfirmed("req-1", "knows no action");
    EXPECT_EQ(cloud.count("action req-1"), 2U);
    EXPECT_EQ(clock.now(), began);
}

}  // namespace
}  // namespace reaper::test::forged_flood_test
