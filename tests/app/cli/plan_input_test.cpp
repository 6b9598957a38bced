#include <gtest/gtest.h>

#include "fakes/fake_cloud.hpp"
#include "fakes/nova_messages.hpp"
#include "reaper/cli/cloud/planning.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::plan_input_test {
namespace {

using test::NovaFailure;

std::string file(const std::string& name) {
    const auto text = read_input(std::string(REAPER_TEST_DATA) + "/openstack-zed/notifications/" +
                                 name + ".json");
    EXPECT_TRUE(text) << name;
    return text ? *text : "";
}

class CompleteGroup : public testing::Test {
protected:
    Flavor flavor() const {
        Flavor flavor;
        flavor.name = "m1";
        flavor.vcpus = 2;
        flavor.memory_mb = 2048;
        flavor.root_gb = 20;
        return flavor;
    }
    Result<PlannedInput> complete(const std::vector<std::string>& bodies) {
        std::vector<std::pair<std::string, std::string>> messages;
        for (const std::string& body : bodies) messages.emplace_back("m", body);
        auto inputs = sort_messages(messages);
        EXPECT_TRUE(inputs);
        EXPECT_EQ(inputs->groups.size(), 1U);
        return run_task(io_, complete_group(cloud_.ports(), inputs->groups.front()));
    }
    test::FakeClock clock_;
    test::FakeCloud cloud_{clock_};
    boost::asio::io_context io_{1};
};

TEST(ReadInput, AFileThatIsNotThereIsBadInput) {
    const auto text = read_input("/nonexistent/message.json");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Errc::bad_input);
    EXPECT_NE(text.error().what.find("/nonexistent/message.json"), std::string::npos);
}

TEST(SortMessages, TheMessagesOfAMultiCreateAreOneRequest) {
    const auto inputs = sort_messages({{"one", file("build_instances.error.multi-1")},
                                       {"two", file("build_instances.error.multi-2")},
                                       {"again", file("build_instances.error.multi-1")}});
    ASSERT_TRUE(inputs);
    ASSERT_EQ(inputs->groups.size(), 1U);
    EXPECT_EQ(inputs->groups.front().notices.size(), 2U);
    ASSERT_EQ(inputs->ignored.size(), 1U);
    EXPECT_EQ(inputs->ignored.front().source, "again");
}

TEST(SortMessages, DifferentRequestsStayApartInOrder) {
    const auto inputs = sort_messages({{"one", file("build_instances.error.single")},
                                       {"two", file("build_instances.error.az")},
                                       {"none", file("instance.create.end")}});
    ASSERT_TRUE(inputs);
    EXPECT_EQ(inputs->groups.size(), 2U);
    ASSERT_EQ(inputs->ignored.size(), 1U);
    EXPECT_EQ(inputs->ignored.front().source, "none");
}

TEST(SortMessages, NamesTheSourceOfAnInvalidMessage) {
    const auto inputs =
        sort_messages({{"good", file("build_instances.error.single")}, {"bad", "{]"}});
    ASSERT_FALSE(inputs);
    EXPECT_EQ(inputs.error().code, Errc::bad_input);
    EXPECT_EQ(inputs.error().what.substr(0, 33), "bad is not a notification of Nova")
        << inputs.error().what;
}

TEST_F(CompleteGroup, ARequesterThatStillExistsNeedsNoRemark) {
    cloud_.add_requester(test::uuid_of("requester-1"), "regular", flavor());
    const auto planned = complete({body_of(NovaFailure{})});
    ASSERT_TRUE(planned);
    EXPECT_TRUE(planned->remarks.empty());
    const auto& request = std::get<Request>(planned->request);
    EXPECT_EQ(request.id, RequestId{"req-1"});
    EXPECT_EQ(request.resources, (Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
}

TEST_F(CompleteGroup, ARequesterThatIsGoneIsPlannedWithWhatTheMessageHas) {
    const auto planned = complete({body_of(NovaFailure{})});
    ASSERT_TRUE(planned);
    ASSERT_EQ(planned->remarks.size(), 1U);
    EXPECT_NE(planned->remarks.front().find(test::uuid_of("requester-1") + " no more"),
              std::string::npos);
    const auto& request = std::get<Request>(planned->request);
    EXPECT_EQ(request.resources.get(ResourceClass{"MEMORY_MB"}), 2048);
}

TEST_F(CompleteGroup, ARequesterThatIsBeingDeletedIsRefusedAsByTheDaemon) {
    cloud_.add_requester(test::uuid_of("requester-1"), "regular", flavor());
    cloud_.server_at(test::uuid_of("requester-1")).record.server.task_state = "deleting";
    const auto planned = complete({body_of(NovaFailure{})});
    ASSERT_TRUE(planned);
    EXPECT_TRUE(std::holds_alternative<Refused>(planned->request));
}

TEST_F(CompleteGroup, AllServersOfAMultiCreateAreRequesters) {
    cloud_.add_requester(test::uuid_of("requester-1"), "regular", flavor());
    cloud_.add_requester("requester-2", "regular", flavor());
    NovaFailure first;
    first.num_instances = 2;
    auto inputs = sort_messages({{"m", body_of(first)}});
    ASSERT_TRUE(inputs);
    FailureNotice other = inputs->groups.front().notices.front();
    other.message_id += "-2";
    other.server = ServerId{"requester-2"};
    inputs->groups.front().notices.push_back(other);
    const auto planned = run_task(io_, complete_group(cloud_.ports(), inputs->groups.front()));
    ASSERT_TRUE(planned);
    const auto& request = std::get<Request>(planned->request);
    EXPECT_EQ(request.slots, 2);
    EXPECT_EQ(request.requesters, (std::vector<ServerId>{ServerId{test::uuid_of("requester-1")},
                                                         ServerId{"requester-2"}}));
}

TEST_F(CompleteGroup, AnUnreachableNovaIsAnError) {
    cloud_.on_call = [](const std::string&) { return Error{Errc::unreachable, "nova: no"}; };
    const auto planned = complete({body_of(NovaFailure{})});
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.error().what, "nova: no");
}

TEST_F(CompleteGroup, ADescribedRequestCarriesAllThatWasSaid) {
    PlanCommand command;
    command.resources = Resources{{"VCPU", 1}};
    command.slots = 3;
    command.project = "regular";
    command.availability_zone = "nova";
    command.required_traits = {"CUSTOM_A"};
    command.forbidden_traits = {"CUSTOM_B"};
    const auto found = run_task(io_, described_request(cloud_, command, clock_.now()));
    ASSERT_TRUE(found);
    const auto* const request = std::get_if<Request>(&*found);
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->operation, Operation::manual);
    EXPECT_EQ(request->slots, 3);
    EXPECT_EQ(request->resources, command.resources);
    EXPECT_EQ(request->availability_zone, "nova");
    EXPECT_EQ(request->required_traits, std::set<Trait>{Trait{"CUSTOM_A"}});
    EXPECT_EQ(request->forbidden_traits, std::set<Trait>{Trait{"CUSTOM_B"}});
    EXPECT_FALSE(request->project.empty());
    EXPECT_EQ(request->sent_at, clock_.now());
}

}  // namespace
}  // namespace reaper::cli::plan_input_test
