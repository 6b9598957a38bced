#include "reaper/cli/cloud/planning.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_cloud.hpp"
#include "fakes/fake_journal.hpp"
#include "fakes/nova_messages.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::planning_test {
namespace {

using test::NovaFailure;
using test::uuid_of;

class Planning : public testing::Test {
protected:
    ~Planning() override { clock_.forget_sleepers(); }
    void SetUp() override {
        policy_settings_.taggers.push_back({"project", {}});
        policy_settings_.strategy.name = "strict";
        // Two hosts; on each, one revocable server of half the host and a regular one.
        for (const std::string host : {"h1", "h2"}) {
            cloud_.add_host(host, half() + half());
            cloud_.add_server("spot-" + host, host, "spot", half());
            cloud_.add_server("regular-" + host, host, "regular", half());
        }
        command_.resources = half();
        command_.project = "regular";
    }
    static Resources half() { return Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}; }
    Result<Answers> plan(Inputs inputs = {}, Ledger ledger = {}) {
        auto policy = compile_policy(effective_policy(policy_settings_, command_).value());
        EXPECT_TRUE(policy);
        PlanningInputs planning{cloud_.ports(), command_, *policy,       std::move(ledger),
                                Safeguards{},   {},       reservations_, journal_};
        return run_task(io_, plan_requests(planning, std::move(inputs)));
    }
    static Inputs inputs_of(const std::vector<NovaFailure>& failures) {
        std::vector<std::pair<std::string, std::string>> messages;
        for (const NovaFailure& failure : failures) messages.emplace_back("m", body_of(failure));
        return *sort_messages(messages);
    }
    static NovaFailure failure(const std::string& number) {
        NovaFailure failure;
        failure.request_id = "req-" + number;
        failure.server = failure.spec_server = "requester-" + number;
        return failure;
    }
    /// For a role of its own project, as the daemon does.
    void reserve(const std::string& host, Resources amounts) {
        reservations_.enabled = true;
        reservations_.roles = {{Role::parse("eng").value(), {"eng-project"}}};
        RoomKeeper rooms;
        CacheRefresher refresher{io_.get_executor(), cloud_.ports(), config::Cache{},
                                 *compile_policy(policy_settings_), [] {}};
        const bool stopping = false;
        const Duration promise = std::chrono::minutes{1};
        std::set<ProviderId> taking;
        const auto turn =
            [&taking](std::set<ProviderId> ids) -> Task<std::unique_ptr<Turn<ProviderId>>> {
            co_return std::make_unique<Turn<ProviderId>>(taking, std::move(ids));
        };
        ReservationController controller{
            io_.get_executor(),
            {cloud_.ports(), refresher, rooms, journal_, reservations_, promise,
             [] { return std::uint64_t{1}; }, [] { return true; }, [](const EndedLoan&) {}, turn,
             stopping}};
        ASSERT_TRUE(run_task(io_, refresher.rebuild_unless_recent()));
        ASSERT_TRUE(run_task(io_, controller.check()));
        ReserveOrder order;
        order.host = HostId{cloud_.provider_of(host)};
        order.name.role = Role::parse("eng").value();
        order.resources = std::move(amounts);
        std::vector<ReservationOrder> orders{std::move(order)};
        const auto given = run_task(io_, controller.give("", "ops", std::move(orders)));
        ASSERT_TRUE(given) << given.error().what;
    }
    static std::vector<std::string> victims(const Answer& answer) {
        std::vector<std::string> names;
        if (const auto* plan = std::get_if<Plan>(&answer.decision))
            for (const Victim& victim : plan->victims()) names.push_back(victim.server.str());
        return names;
    }

    test::FakeClock clock_;
    test::FakeCloud cloud_{clock_};
    boost::asio::io_context io_{1};
    test::FakeJournal journal_;
    config::Reservations reservations_;
    config::Policy policy_settings_;
    PlanCommand command_;
};

TEST_F(Planning, ADescribedRequestGetsItsVictims) {
    const auto answers = plan();
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->planned.size(), 1U);
    const auto chosen = victims(answers->planned.front());
    ASSERT_EQ(chosen.size(), 1U);
    EXPECT_EQ(chosen.front().substr(0, 5), "spot-");
}

TEST_F(Planning, RoomThatIsReservedIsForItsRoleAndIsNotTouched) {
    cloud_.add_host("h3", half());
    reserve("h3", half());
    const auto consumers = cloud_.consumers;
    EXPECT_EQ(victims(plan()->planned.front()).size(), 1U) << "h3 is for one project only";
    command_.project = "eng-project";
    const auto answers = plan();
    ASSERT_TRUE(answers);
    const auto* there = std::get_if<NothingToDo>(&answers->planned.front().decision);
    ASSERT_NE(there, nullptr);
    EXPECT_NE(there->reason.find("for that a reservation releases 2 VCPU"), std::string::npos)
        << there->reason;
    EXPECT_NE(there->reason.find("of eng on h3"), std::string::npos) << there->reason;
    EXPECT_EQ(cloud_.consumers, consumers);
    EXPECT_EQ(cloud_.free_on("h3").get(ResourceClass{"VCPU"}), 0);
}

TEST_F(Planning, AFlavorSaysWhatOneServerIsAndNovaIsAskedOnce) {
    Flavor flavor{"m1.two", 2, 2048, 20, 0, 0, {}};
    cloud_.flavors = {{"id-two", flavor}};
    DescribedRequest one;
    one.project = "regular";
    one.flavor = "m1.two";
    Inputs inputs;
    inputs.described = {one, one};
    const auto answers = plan(inputs);
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->planned.size(), 2U);
    EXPECT_EQ(answers->planned[0].request.resources,
              (Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_EQ(cloud_.count("flavors"), 1U);
    inputs.described[1].flavor = "huge";
    const auto unknown = plan(inputs);
    ASSERT_TRUE(unknown);
    EXPECT_TRUE(unknown->planned.empty());
    ASSERT_EQ(unknown->unknown.size(), 1U);
    EXPECT_NE(unknown->unknown[0].find("there is no flavor 'huge'"), std::string::npos);
}

TEST_F(Planning, NothingIsWritten) {
    ASSERT_TRUE(plan());
    EXPECT_EQ(cloud_.count("DELETE"), 0U);
    EXPECT_EQ(cloud_.count("forceDelete"), 0U);
    EXPECT_EQ(cloud_.living("h1").size() + cloud_.living("h2").size(), 4U);
}

TEST_F(Planning, ARevocableRequesterDeletesNoServer) {
    command_.project = "spot";
    const auto answers = plan();
    ASSERT_TRUE(answers);
    const auto* refused = std::get_if<Refused>(&answers->planned.front().decision);
    ASSERT_NE(refused, nullptr);
    EXPECT_NE(refused->reason.find("revocable"), std::string::npos);
}

TEST_F(Planning, MoreSlotsThanCanBeFreedIsNotEnough) {
    command_.slots = 3;
    const auto answers = plan();
    ASSERT_TRUE(answers);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(answers->planned.front().decision));
}

TEST_F(Planning, TwoRequestsDoNotCountTheSameRoom) {
    command_.notifications = {"m"};
    const auto answers = plan(inputs_of({failure("1"), failure("2"), failure("3")}));
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->planned.size(), 3U);
    const auto first = victims(answers->planned[0]);
    const auto second = victims(answers->planned[1]);
    ASSERT_EQ(first.size(), 1U);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_NE(first, second);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(answers->planned[2].decision));
}

TEST_F(Planning, RoomThatIsThereIsTakenByTheFirst) {
    cloud_.add_host("h3", half());
    command_.notifications = {"m"};
    const auto answers = plan(inputs_of({failure("1"), failure("2"), failure("3"), failure("4")}));
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->planned.size(), 4U);
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(answers->planned[0].decision));
    const auto second = victims(answers->planned[1]);
    const auto third = victims(answers->planned[2]);
    ASSERT_EQ(second.size(), 1U);
    ASSERT_EQ(third.size(), 1U);
    EXPECT_NE(second, third);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(answers->planned[3].decision));
}

TEST_F(Planning, RoomPromisedToAnotherRequestIsLeftAlone) {
    Request other;
    other.id = RequestId{"req-other"};
    other.project = ProjectId{"regular"};
    other.resources = half();
    command_.slots = 2;
    const auto before = plan();
    ASSERT_TRUE(before);
    const auto* both = std::get_if<Plan>(&before->planned.front().decision);
    ASSERT_NE(both, nullptr);
    Plan of_other = *both;
    of_other.request = other.id;
    of_other.hosts.resize(1);
    Ledger ledger;
    ledger.enter(other, of_other, clock_.now());
    const auto after = plan({}, std::move(ledger));
    ASSERT_TRUE(after);
    EXPECT_TRUE(std::holds_alternative<NotEnough>(after->planned.front().decision));
}

TEST_F(Planning, ARefusedRequestIsReportedAndTheOthersArePlanned) {
    command_.notifications = {"m"};
    cloud_.add_requester(uuid_of("requester-1"), "regular", Flavor{});
    cloud_.server_at(uuid_of("requester-1")).record.server.task_state = "deleting";
    const auto answers = plan(inputs_of({failure("1"), failure("2")}));
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->ignored.size(), 1U);
    EXPECT_EQ(answers->ignored.front().source, "req-1");
    EXPECT_EQ(answers->planned.size(), 1U);
}

TEST_F(Planning, MessagesWithoutARequestNeedNoPicture) {
    command_.notifications = {"m"};
    Inputs inputs;
    inputs.ignored.push_back({"m", "another event"});
    const auto answers = plan(inputs);
    ASSERT_TRUE(answers);
    EXPECT_TRUE(answers->planned.empty());
    EXPECT_EQ(answers->ignored.size(), 1U);
    EXPECT_TRUE(cloud_.calls.empty());
}

TEST_F(Planning, AFailedReadIsAnError) {
    cloud_.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::timeout, "nova: no answer"};
    };
    const auto answers = plan();
    ASSERT_FALSE(answers);
    EXPECT_EQ(answers.error().what, "nova: no answer");
}

TEST_F(Planning, TheCommandLineWinsOverTheConfiguration) {
    policy_settings_.strategy.parameters["leftover_order"] = std::vector<std::string>{"VCPU"};
    command_.alternatives = 3;
    command_.strategy = "chance";
    const auto changed = effective_policy(policy_settings_, command_).value();
    EXPECT_EQ(changed.alternatives, 3);
    EXPECT_EQ(changed.strategy.name, "chance");
    EXPECT_TRUE(changed.strategy.parameters.empty()) << "parameters of another strategy";
    command_.strategy = "strict";
    EXPECT_EQ(effective_policy(policy_settings_, command_)->strategy.parameters.size(), 1U);
}

}  // namespace
}  // namespace reaper::cli::planning_test
