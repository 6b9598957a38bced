// Servers that are shelved instead of deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/triggers/shelved_images.hpp"

namespace reaper::test::shelve_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ShelveTest : public FullHouse {
protected:
    ShelveTest() { settings.policy.shelve.servers = {"all"}; }

    OutcomeKind outcome() { return outcome_of("req-1").kind; }
    std::string shelved() const {
        for (const auto& call : cloud.calls)
            if (call.starts_with("SHELVE ")) return call.substr(7);
        return "";
    }
    std::string status_of(const std::string& server) {
        return cloud.server_at(server).record.server.status.str();
    }
};

TEST_F(ShelveTest, AServerLeavesItsHostAndStaysWhatItIs) {
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(status_of(shelved()), "SHELVED_OFFLOADED");
    EXPECT_TRUE(journal.has_step(shelved(), Step::shelve_sent));
    EXPECT_TRUE(journal.has_step(shelved(), Step::gone));
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(victims_of(record("req-1")).size(), 1U);
}

TEST_F(ShelveTest, OneThatNovaLeavesOnItsHostIsOffloaded) {
    cloud.shelving.stays_on_host = true;
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(status_of(shelved()), "SHELVED_OFFLOADED");
    EXPECT_EQ(cloud.count("OFFLOAD"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ShelveTest, OneThatNovaCantShelveIsDeleted) {
    cloud.shelving.fails = true;
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_FALSE(cloud.exists(shelved()));
    EXPECT_EQ(victims_of(record("req-1")).size(), 1U);
}

TEST_F(ShelveTest, OneThatNovaCantShelveStaysIfItsRoomIsNoLongerNeeded) {
    cloud.shelving.fails = true;
    full_host();
    ask();
    run_until([&] { return cloud.count("SHELVE") > 0; });
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome(), OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.has_step(shelved(), Step::skipped));
    EXPECT_TRUE(victims_of(record("req-1")).empty());
}

TEST_F(ShelveTest, OneInAStateThatNovaDoesNotShelveIsDeleted) {
    full_host();
    for (const char* n : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(n).record.server.status = "ERROR";
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 0U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ShelveTest, ItsOwnerSaysHowItGoes) {
    settings.policy.shelve = {};
    settings.policy.shelve.owner_key = "on_evict";
    full_host();
    for (const char* n : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(n).record.server.metadata =
            std::map<std::string, std::string>{{"on_evict", "shelve"}};
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ShelveTest, ARestartWaitsForIt) {
    cloud.shelving.takes = seconds{60};
    full_host();
    ask();
    run_until([&] { return cloud.count("SHELVE") > 0; });
    crash();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(status_of(shelved()), "SHELVED_OFFLOADED");
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ShelveTest, ACallThatWasNotHeardIsSentAgain) {
    full_host();
    int lost = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("SHELVE") && ++lost == 1)
            return Error{Errc::unreachable, "connection reset"};
        return std::nullopt;
    };
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ShelveTest, ARefusalIsNoReasonToDeleteIt) {
    full_host();
    int calls = 0;
    cloud.on_call = [&calls](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("SHELVE")) return std::nullopt;
        return ++calls % 2 == 0 ? Error{Errc::forbidden, "HTTP 403"}
                                : Error{Errc::bad_token, "HTTP 401"};
    };
    ask();
    EXPECT_NE(outcome(), OutcomeKind::freed);
    EXPECT_GT(calls, 1);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// Nova marks a server before it asks Glance, and leaves it so where Glance refuses.
TEST_F(ShelveTest, OneThatARefusalLeavesMarkedIsDeleted) {
    cloud.shelving.refusal = Error{Errc::forbidden, "HTTP 403 add_image"};
    cloud.shelving.marked = true;
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ShelveTest, OneThatNovaNeverShelvesIsDeleted) {
    cloud.shelving.refusal = Error{Errc::rejected, "HTTP 400 vTPM"};
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ShelveTest, OneThatIsNotShelvedInTimeIsDeleted) {
    cloud.shelving.takes = std::chrono::hours{24};
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_GE(clock.now() - record("req-1").received_at, settings.cull.deadline);
}

TEST_F(ShelveTest, OneThatIsStuckOnTheWayIsDeletedInTheEnd) {
    full_host();
    for (const char* n : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(n).record.server.task_state = "shelving";
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 0U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ShelveTest, OneThatNovaNeverOffloadsIsDeleted) {
    cloud.shelving.stays_on_host = true;
    cloud.shelving.offload_fails = true;
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_LE(cloud.count("OFFLOAD"), 5U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ShelveTest, OneThatIsBackAtOnceIsShelvedAgain) {
    cloud.shelving.fails = true;
    full_host();
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("SHELVE ")) cloud.shelving.fails = cloud.count("SHELVE") < 2;
        return std::nullopt;
    };
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(status_of(shelved()), "SHELVED_OFFLOADED");
    EXPECT_EQ(cloud.count("SHELVE"), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// As its owner brings it back.
TEST_F(ShelveTest, OneThatNovaIsAtIsWaitedForUntilTheDeadline) {
    cloud.shelving.fails = true;
    full_host();
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        const std::string id = shelved();
        if (!id.empty() && call == "server " + id && status_of(id) == "ACTIVE")
            cloud.server_at(id).record.server.task_state = "unshelving";
        return std::nullopt;
    };
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHELVE"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_GE(clock.now() - record("req-1").received_at, settings.cull.deadline);
}

TEST_F(ShelveTest, OneThatOtherRulesFindOnTheWayIsNotDeleted) {
    cloud.shelving.takes = seconds{30};
    full_host();
    ask();
    run_until([&] { return cloud.count("SHELVE") > 0; });
    settings.policy.shelve = {};
    service().reload(live_settings());
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(status_of(shelved()), "SHELVED_OFFLOADED");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// Its notice is over: when it comes back, its metadata say nothing of an end.
TEST_F(ShelveTest, ItsMetadataNameNoEndWhenItGoes) {
    settings.policy.notice.period = minutes{2};
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    EXPECT_EQ(cloud.count("MARK"), 1U);
    EXPECT_FALSE(cloud.server_at(shelved()).record.server.metadata.contains(evict_at_key));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

// ---- the way back ----

class ReturnTest : public ShelveTest {
protected:
    ReturnTest() { settings.policy.shelve.returns_per_hour = 600; }

    /// One that was shelved an hour ago, or so.
    void has_shelved(const std::string& id, const std::string& by, const std::string& project,
                     int minutes_ago = 60) {
        auto& server = cloud.add_server(id, "host1", project, small);
        server.record.server.status = "SHELVED_OFFLOADED";
        server.record.server.host = "";
        server.record.flavor = flavor_of(2);
        server.resources = {};
        ActionRecord action;
        action.name = "shelve";
        action.user = by;
        action.started = clock.now() - minutes{minutes_ago};
        cloud.histories[ServerId{id}] = {action};
        if (by == cloud.own_user_id) was_victim(id, action.started);
    }
    void was_victim(const std::string& id, TimePoint at) {
        RequestRecord past;
        past.request.id = RequestId{"req-" + id + "-" + std::to_string(journal.records.size())};
        past.received_at = at;
        past.steps = {{ServerId{id}, Step::shelve_sent, "", at},
                      {ServerId{id}, Step::gone, "", at + seconds{5}}};
        past.outcome = Outcome{OutcomeKind::freed, "", at + seconds{5}};
        journal.records.emplace(past.request.id, std::move(past));
    }
    /// It came back, and was shelved once more, all while the reaper is paused.
    void shelves_again(const std::string& id, const std::string& by) {
        pause.why = "paused by alice";
        pass(minutes{20});
        ActionRecord again;
        again.name = "shelve";
        again.user = by;
        again.started = clock.now();
        auto& history = cloud.histories[ServerId{id}];
        history.insert(history.begin(), again);
        if (by == cloud.own_user_id) was_victim(id, again.started);
        pass(minutes{20});
        pause.why.reset();
    }
    void room_for(int servers) { cloud.add_host("host1", small * servers); }
    std::vector<std::string> returned() const {
        std::vector<std::string> all;
        for (const auto& call : cloud.calls)
            if (call.starts_with("UNSHELVE ")) all.push_back(call.substr(9));
        return all;
    }
};

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(ReturnTest, AServerComesBackWhenThereIsRoom) {
    full_host();
    ask();
    EXPECT_EQ(outcome(), OutcomeKind::freed);
    cloud.server_at(shelved()).record.flavor = flavor_of(2);
    boots(uuid_of("requester-1"), "host1");
    pass(minutes{10});
    EXPECT_THAT(returned(), IsEmpty());
    cloud.remove("host1d");
    pass(minutes{30});
    EXPECT_THAT(returned(), ElementsAre(shelved()));
    EXPECT_EQ(status_of(shelved()), "ACTIVE");
    ASSERT_FALSE(journal.noted_marks.empty());
    EXPECT_EQ(journal.noted_marks.back().kind, "server-unshelved");
}

TEST_F(ReturnTest, OneWhoseShelvingACrashCutShortComesBack) {
    cloud.shelving.stays_on_host = true;
    cloud.shelving.takes = seconds{60};
    full_host();
    ask();
    run_until([&] { return cloud.count("SHELVE") > 0; });
    cloud.server_at(shelved()).record.flavor = flavor_of(2);
    crash();
    cloud.remove(uuid_of("requester-1"));
    start();
    messages->deliver(body_of(failure()));
    pass(minutes{10});
    EXPECT_THAT(returned(), ElementsAre(shelved()));
    EXPECT_TRUE(journal.has_step(shelved(), Step::left_shelved));
    EXPECT_FALSE(journal.has_step(shelved(), Step::skipped));
}

/// The call waits in Nova, and its answer is lost.
TEST_F(ReturnTest, OneThatNovaShelvesAfterItsPlanWasStoppedComesBack) {
    with_events = true;
    full_host();
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("SHELVE ")) return std::nullopt;
        cloud.remove(uuid_of("requester-1"));
        return Error{Errc::timeout, "no answer within 5s"};
    };
    ask();
    EXPECT_NE(outcome(), OutcomeKind::freed);
    ASSERT_TRUE(journal.has_step(shelved(), Step::skipped));
    auto& late = cloud.server_at(shelved());
    late.record.server.status = "SHELVED_OFFLOADED";
    late.record.server.host = "";
    late.record.flavor = flavor_of(2);
    late.resources = {};
    ActionRecord heard;
    heard.name = "shelve";
    heard.user = cloud.own_user_id;
    heard.started = clock.now();
    cloud.histories[ServerId{shelved()}] = {heard};
    pass(minutes{30});
    EXPECT_THAT(returned(), ElementsAre(shelved()));
}

class RefusedOffload : public ReturnTest, public testing::WithParamInterface<Errc> {};

/// Meanwhile the requester leaves.
TEST_P(RefusedOffload, AServerThatStaysShelvedOnItsHostComesBack) {
    cloud.shelving.stays_on_host = true;
    full_host();
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("OFFLOAD ")) return std::nullopt;
        cloud.remove(uuid_of("requester-1"));
        return Error{GetParam(), "not offloaded"};
    };
    ask();
    EXPECT_NE(outcome(), OutcomeKind::freed);
    cloud.server_at(shelved()).record.flavor = flavor_of(2);
    pass(minutes{10});
    EXPECT_THAT(returned(), ElementsAre(shelved()));
    EXPECT_FALSE(journal.has_step(shelved(), Step::skipped));
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedOffload,
                         testing::Values(Errc::forbidden, Errc::conflict, Errc::unreachable));

TEST_F(ReturnTest, OneThatItsOwnerShelvedWhileNoLookSawItStays) {
    with_events = true;
    room_for(1);
    cloud.add_server("regular", "host1", "regular", small);
    has_shelved("a1", cloud.own_user_id, "spot");
    start();
    pass(minutes{1});
    shelves_again("a1", "alice");
    cloud.remove("regular");
    pass(minutes{10});
    EXPECT_THAT(returned(), IsEmpty());
}

TEST_F(ReturnTest, OneThatAReaperShelvedWhileNoLookSawItComesBack) {
    room_for(1);
    has_shelved("a1", "alice", "spot");
    start();
    pass(minutes{1});
    shelves_again("a1", cloud.own_user_id);
    pass(minutes{90});
    EXPECT_THAT(returned(), ElementsAre("a1"));
}

/// As on a host whose load comes and goes with it.
TEST_F(ReturnTest, OneThatWasShelvedSeveralTimesADayWaitsLonger) {
    room_for(1);
    for (const int hours_ago : {30, 2, 1})
        was_victim("a1", clock.now() - std::chrono::hours{hours_ago});
    has_shelved("a1", cloud.own_user_id, "spot", 1);
    start();
    pass(minutes{6});
    EXPECT_THAT(returned(), IsEmpty()) << "8 minutes after its third eviction of the day";
    pass(minutes{3});
    EXPECT_THAT(returned(), ElementsAre("a1"));
}

/// It would have to go for the watermark, and come back, and go.
TEST_F(ReturnTest, NoneComesBackAboveALowMark) {
    with_events = true;
    settings.policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 90, 50}};
    room_for(4);
    for (const char* const id : {"r1", "r2"}) cloud.add_server(id, "host1", "regular", small);
    has_shelved("a1", cloud.own_user_id, "spot");
    start();
    pass(minutes{10});
    EXPECT_THAT(returned(), IsEmpty()) << "6 of 8 VCPU would be used";
    cloud.remove("r1");
    pass(minutes{30});
    EXPECT_THAT(returned(), ElementsAre("a1"));
}

TEST_F(ReturnTest, OneThatItsOwnerShelvedStays) {
    room_for(2);
    has_shelved("mine", "alice", "spot");
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), IsEmpty());
}

/// It came back meanwhile.
TEST_F(ReturnTest, OneThatItsOwnerShelvedSoonAfterwardsStays) {
    room_for(1);
    has_shelved("a1", cloud.own_user_id, "spot");
    auto& history = cloud.histories[ServerId{"a1"}];
    ActionRecord again = history.front();
    again.user = "alice";
    again.started += minutes{5};
    history.insert(history.begin(), again);
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), IsEmpty());
}

/// An operator works as the reaper's user.
TEST_F(ReturnTest, OneThatAnOperatorShelvedStays) {
    room_for(2);
    has_shelved("a1", cloud.own_user_id, "spot");
    journal.records.clear();
    has_shelved("a2", cloud.own_user_id, "spot");
    auto again = cloud.histories[ServerId{"a2"}].front();
    again.started = clock.now() - minutes{20};
    cloud.histories[ServerId{"a2"}].insert(cloud.histories[ServerId{"a2"}].begin(), again);
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), IsEmpty());
}

class ShelvedImagesTest : public ReturnTest {
protected:
    ShelvedImagesTest() {
        settings.policy.shelve.returns_per_hour = 0;
        room_for(3);
    }
    /// A server that was shelved an hour ago, and its image.
    Server& shelved_with_image(const std::string& id) {
        has_shelved(id, cloud.own_user_id, "spot");
        image_of(id, clock.now() - minutes{59});
        return cloud.server_at(id).record.server;
    }
    void image_of(const std::string& id, TimePoint created, const std::string& name = "w-shelved") {
        cloud.snapshots.push_back({"of-" + id, name, ServerId{id}, created});
    }
    /// It was started from its image again.
    Server& back_again(const std::string& id) {
        Server& server = shelved_with_image(id);
        server.host = "host1";
        server.status = "ACTIVE";
        does(id, "unshelve", 30);
        return server;
    }
    void does(const std::string& id, const char* action, int minutes_ago) {
        ActionRecord done;
        done.name = action;
        done.user = "alice";
        done.started = clock.now() - minutes{minutes_ago};
        auto& history = cloud.histories[ServerId{id}];
        history.insert(history.begin(), done);
    }
    std::vector<std::string> left() const {
        std::vector<std::string> ids;
        for (const ServerImage& each : cloud.snapshots) ids.push_back(each.id);
        return ids;
    }
    std::ptrdiff_t told() const {
        return std::count_if(
            journal.noted_marks.begin(), journal.noted_marks.end(),
            [](const JournalEvent& event) { return event.kind == "image-deleted"; });
    }
};

/// Its owner may not delete it.
TEST_F(ShelvedImagesTest, TheImageOfAServerThatIsGoneOrBackIsDeleted) {
    back_again("back");
    shelved_with_image("gone");
    cloud.remove("gone");
    start();
    pass(ShelvedImages::step * 3);
    EXPECT_THAT(left(), IsEmpty());
    EXPECT_EQ(told(), 2);
}

TEST_F(ShelvedImagesTest, OneThatAServerMayNeedStays) {
    shelved_with_image("shelved");
    back_again("on-its-way").task_state = "shelving_image_uploading";
    back_again("broken").status = "ERROR";
    // From another image, or not at all; its return failed, or was before.
    back_again("evacuated");
    cloud.histories[ServerId{"evacuated"}].erase(cloud.histories[ServerId{"evacuated"}].begin());
    does("evacuated", "evacuate", 30);
    does("evacuated", "unshelve", 90);
    back_again("failed");
    cloud.histories[ServerId{"failed"}].front().failed = true;
    back_again("nowhere").host = "";
    back_again("restorable").status = "SOFT_DELETED";
    start();
    pass(ShelvedImages::step * 2);
    EXPECT_THAT(left(), SizeIs(7));
    EXPECT_EQ(told(), 0);
}

TEST_F(ShelvedImagesTest, OneThatNoReaperMadeStays) {
    back_again("a");
    cloud.snapshots.clear();
    image_of("a", clock.now() - minutes{59}, "golden");
    image_of("a", clock.now() - minutes{20});  // by an operator, of the same name
    image_of("no-victim", clock.now() - minutes{59});
    start();
    pass(ShelvedImages::step * 3);
    EXPECT_THAT(left(), SizeIs(3));
}

/// As one broken API server may say.
TEST_F(ShelvedImagesTest, OneWhoseServerWasNotFoundOnceStays) {
    int looks = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != "snapshots") return std::nullopt;
        if (++looks == 2) cloud.remove("a");
        if (looks == 3) has_shelved("a", cloud.own_user_id, "spot");
        return std::nullopt;
    };
    back_again("a").status = "ERROR";
    start();
    pass(ShelvedImages::step * 5);
    EXPECT_GE(looks, 4);
    EXPECT_THAT(left(), ::testing::Contains("of-a"));
}

/// As Glance refuses, where a volume is cloned from it.
TEST_F(ShelvedImagesTest, OneThatCantBeDeletedHidesNoOther) {
    back_again("first");
    back_again("second");
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "REMOVE of-first") return std::nullopt;
        return Error{Errc::conflict, "glance: it is in use"};
    };
    start();
    pass(ShelvedImages::step * 3);
    EXPECT_THAT(left(), ElementsAre("of-first"));
    EXPECT_EQ(told(), 1);
}

TEST_F(ShelvedImagesTest, NoneIsDeletedDuringAPauseOrWhereNothingIsShelved) {
    back_again("back");
    pause.why = "paused by alice";
    start();
    pass(ShelvedImages::step * 2);
    crash();
    pause.why.reset();
    settings.policy.shelve = {};
    start();
    pass(ShelvedImages::step * 2);
    EXPECT_THAT(left(), SizeIs(1));
    EXPECT_EQ(cloud.count("snapshots"), 0U);
}

TEST_F(ReturnTest, EachProjectHasItsTurn) {
    room_for(8);
    has_shelved("a1", cloud.own_user_id, "spot", 50);
    has_shelved("a2", cloud.own_user_id, "spot", 40);
    has_shelved("a3", cloud.own_user_id, "spot", 30);
    has_shelved("b1", cloud.own_user_id, "other", 20);
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), ElementsAre("a1", "b1", "a2", "a3"));
}

TEST_F(ReturnTest, NoMoreComeBackThanThereIsRoomFor) {
    room_for(2);
    for (const char* id : {"a1", "a2", "a3"}) has_shelved(id, cloud.own_user_id, "spot");
    cloud.shelving.no_host = true;  // so that the room stays free in the picture
    start();
    run_until([&] { return !returned().empty(); });
    pass(seconds{5});
    EXPECT_EQ(returned().size(), 2U);
}

TEST_F(ReturnTest, OneThatFindsNoHostIsTriedLessAndLess) {
    room_for(2);
    has_shelved("a1", cloud.own_user_id, "spot");
    cloud.shelving.no_host = true;
    start();
    pass(minutes{100});
    EXPECT_GE(returned().size(), 5U);
    EXPECT_LE(returned().size(), 7U);
}

/// As where the cache shows room that Nova does not give.
TEST_F(ReturnTest, OfServersThatAreAlikeAFewAreTriedUntilOneFindsAHost) {
    with_events = true;
    cloud.add_host("host2", small);
    cloud.add_server("regular", "host2", "regular", small);
    room_for(20);
    for (int i = 0; i < 20; ++i) has_shelved("a" + std::to_string(i), cloud.own_user_id, "spot");
    cloud.shelving.no_host = true;
    start();
    pass(minutes{10});
    const auto tried = returned().size();
    EXPECT_LE(tried, 12U) << "those of the first look, and two";
    cloud.shelving.no_host = false;
    has_shelved("b1", cloud.own_user_id, "other");
    pass(minutes{2});
    EXPECT_EQ(status_of("b1"), "ACTIVE") << "of another project";
    EXPECT_EQ(returned().size(), tried + 1);
    cloud.remove("regular");
    events->tell(ServerGone{ServerId{"regular"}, "host2", clock.now()});
    pass(minutes{2});
    EXPECT_GT(returned().size(), tried + 1) << "there is room on another host";
    pass(minutes{20});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(status_of("a" + std::to_string(i)), "ACTIVE");
}

TEST_F(ReturnTest, NoneComesBackDuringAPauseOrWhereThatIsOff) {
    room_for(2);
    has_shelved("a1", cloud.own_user_id, "spot");
    pause.why = "paused by alice";
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), IsEmpty());
    crash();
    pause.why.reset();
    settings.policy.shelve.returns_per_hour = 0;
    start();
    pass(minutes{5});
    EXPECT_THAT(returned(), IsEmpty());
}

}  // namespace
}  // namespace reaper::test::shelve_test
