#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/cli/setup/setup_steps.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::setup_slots_test {
namespace {

using Kind = SlotStep::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ResourceClass spot{"CUSTOM_PREEMPTIBLE"};

class FakeSetup final : public PlacementSetup, public FlavorSetup {
public:
    std::vector<std::string> calls;
    std::optional<Error> refuse;  ///< the next call
    std::set<std::string> failing;

    ResultTask<bool> has_class(ResourceClass) override { co_return Result<bool>{false}; }
    ResultTask<void> create_class(ResourceClass name) override {
        co_return note("create " + name.str());
    }
    ResultTask<void> remove_class(ResourceClass name) override {
        co_return note("remove " + name.str());
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent) override {
        auto noted = note("create " + name + " below " + parent.str());
        if (!noted) co_return noted.error();
        co_return ProviderId{"id-of-" + name};
    }
    ResultTask<void> create_root(std::string name, ProviderId id) override {
        co_return note("create " + name + " as " + id.str());
    }
    ResultTask<void> remove_provider(ProviderId provider) override {
        co_return note("remove " + provider.str());
    }
    ResultTask<void> set_total(ProviderId provider, ResourceClass name, Amount total) override {
        co_return note("total of " + name.str() + " on " + provider.str() + " = " +
                       std::to_string(total));
    }

    ResultTask<std::string> create_flavor(Flavor wanted) override {
        auto noted = note("create flavor " + wanted.name);
        if (!noted) co_return noted.error();
        co_return "id-of-" + wanted.name;
    }
    ResultTask<void> set_extra_specs(std::string id,
                                     std::map<std::string, std::string> specs) override {
        std::string text;
        for (const auto& [key, value] : specs) text += " " + key + "=" + value;
        co_return note("set" + text + " on " + id);
    }
    ResultTask<void> remove_flavor(std::string id) override {
        co_return note("remove flavor " + id);
    }

private:
    Result<void> note(const std::string& call) {
        calls.push_back(call);
        if (failing.contains(call)) return *refuse;
        return {};
    }
};

SlotStep step(Kind kind, const std::string& host, Amount to = 0) {
    SlotStep made;
    made.kind = kind;
    made.host = host;
    made.root = HostId{host};
    made.provider = kind == Kind::create_provider ? ProviderId{} : ProviderId{host + "-slots"};
    made.name = host + "-preemptible";
    made.to = to;
    return made;
}

class SetupSlots : public ::testing::Test {
protected:
    Result<bool> run(std::vector<SlotStep> steps) {
        std::function<void(const SlotStep&)> done = [this](const SlotStep& each) {
            done_.push_back(each);
        };
        return run_task(io_, carried(std::move(steps), std::move(done)));
    }
    ResultTask<bool> carried(std::vector<SlotStep> steps,
                             std::function<void(const SlotStep&)> done) {
        const Setups setup{setup_, setup_};
        auto carried = co_await carry_out(setup, std::move(steps), slot_class_, std::move(done));
        if (!carried) co_return carried.error();
        co_return true;
    }

    boost::asio::io_context io_{1};
    FakeSetup setup_;
    ResourceClass slot_class_ = spot;
    std::vector<SlotStep> done_;
};

TEST_F(SetupSlots, DoesTheStepsInTheirOrder) {
    SlotStep create_class;
    create_class.kind = Kind::create_class;
    ASSERT_TRUE(run({create_class, step(Kind::create_provider, "h1", 4), step(Kind::keep, "h2", 4),
                     step(Kind::set_total, "h3", 6), step(Kind::refuse, "h4")}));
    EXPECT_THAT(setup_.calls,
                ElementsAre("create CUSTOM_PREEMPTIBLE", "create h1-preemptible below h1",
                            "total of CUSTOM_PREEMPTIBLE on id-of-h1-preemptible = 4",
                            "total of CUSTOM_PREEMPTIBLE on h3-slots = 6"));
    ASSERT_EQ(done_.size(), 5U);
    EXPECT_EQ(done_[1].provider, ProviderId{"id-of-h1-preemptible"});
}

TEST_F(SetupSlots, EndsWithTheFirstFailureAndSaysWhere) {
    setup_.failing = {"total of CUSTOM_PREEMPTIBLE on h1-slots = 6"};
    setup_.refuse = Error{Errc::forbidden, "placement: 403"};
    const auto ended = run({step(Kind::remove_provider, "h0"), step(Kind::set_total, "h1", 6),
                            step(Kind::set_total, "h2", 6)});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::forbidden);
    EXPECT_EQ(ended.error().what, "h1: placement: 403");
    EXPECT_EQ(done_.size(), 1U);
    EXPECT_EQ(setup_.calls.size(), 2U);
}

TEST_F(SetupSlots, AClassThatOthersUseStays) {
    SlotStep last;
    last.kind = Kind::remove_class;
    setup_.failing = {"remove CUSTOM_PREEMPTIBLE"};
    setup_.refuse = Error{Errc::conflict, "placement: 409"};
    ASSERT_TRUE(run({last}));
    EXPECT_EQ(done_.at(0).kind, Kind::keep);
    EXPECT_EQ(done_.at(0).why, "others use it");
}

TEST_F(SetupSlots, AProviderThatIsInUseByNowStays) {
    setup_.failing = {"remove h1-slots"};
    setup_.refuse = Error{Errc::conflict, "placement: 409"};
    ASSERT_TRUE(run({step(Kind::remove_provider, "h1"), step(Kind::remove_provider, "h2")}));
    EXPECT_EQ(done_.at(0).kind, Kind::refuse);
    EXPECT_THAT(done_.at(0).why, HasSubstr("placement: 409"));
    EXPECT_EQ(done_.at(1).kind, Kind::remove_provider);
}

TEST_F(SetupSlots, AProviderWithoutSlotsHasNoInventory) {
    ASSERT_TRUE(run({step(Kind::create_provider, "h1", 0)}));
    EXPECT_THAT(setup_.calls, ElementsAre("create h1-preemptible below h1"));
}

SlotStep flavor_step(Kind kind, const std::string& name, const std::string& id = {}) {
    SlotStep made;
    made.kind = kind;
    made.name = name;
    made.flavor = id;
    return made;
}

TEST_F(SetupSlots, FlavorsAreMadeWithTheirProperties) {
    slot_class_ = ResourceClass{"CUSTOM_REVOCABLE_VCPU"};
    ASSERT_TRUE(run({flavor_step(Kind::create_flavor, "revocable.medium"),
                     flavor_step(Kind::remove_flavor, "revocable.small", "some-id")}));
    EXPECT_THAT(setup_.calls,
                ElementsAre("create flavor revocable.medium",
                            "set resources:VCPU=0 resources_revocable:CUSTOM_REVOCABLE_VCPU=2 on "
                            "id-of-revocable.medium",
                            "remove flavor some-id"));
    EXPECT_EQ(done_.at(0).flavor, "id-of-revocable.medium");
}

TEST_F(SetupSlots, AFlavorWithoutItsPropertiesDoesNotStay) {
    slot_class_ = ResourceClass{"CUSTOM_REVOCABLE_VCPU"};
    setup_.failing = {
        "set resources:VCPU=0 resources_revocable:CUSTOM_REVOCABLE_VCPU=1 on "
        "id-of-revocable.small"};
    setup_.refuse = Error{Errc::forbidden, "nova: 403"};
    const auto ended = run({flavor_step(Kind::create_flavor, "revocable.small"),
                            flavor_step(Kind::create_flavor, "revocable.medium")});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().what, "revocable.small: nova: 403");
    EXPECT_EQ(setup_.calls.back(), "remove flavor id-of-revocable.small");
    EXPECT_TRUE(done_.empty());
}

TEST_F(SetupSlots, TheRegisterIsMadeWithItsId) {
    const std::string id = reservation_register::provider_id;
    ASSERT_TRUE(run(register_to_set_up({})));
    EXPECT_THAT(setup_.calls, ElementsAre("create CUSTOM_PREEMPTIBLE",
                                          "create openstack-reaper-reservations as " + id,
                                          "total of CUSTOM_PREEMPTIBLE on " + id + " = 2147483647"))
        << "of the class that carry_out was given";
}

TEST_F(SetupSlots, TheRegisterIsReadIfItIsThere) {
    test::FakeClock clock;
    test::FakeCloud cloud{clock};
    const HostId id{reservation_register::provider_id};
    const auto read = [&] { return run_task(io_, read_register(cloud.ports(), setup_)); };
    cloud.add_host("h1", Resources{{"VCPU", 8}});
    const auto none = read();
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_FALSE(none->state);
    EXPECT_EQ(cloud.count("provider "), 0U) << "nothing is read that is not needed";
    cloud.add_host("register", Resources{{reservation_register::resource_class, 7}});
    cloud.set_provider("register", id.str());
    const auto some = read();
    ASSERT_TRUE(some) << some.error().what;
    ASSERT_TRUE(some->state);
    EXPECT_EQ(cloud.count("provider "), 1U);
}

TEST_F(SetupSlots, ReadsTheHostsOfThatName) {
    test::FakeClock clock;
    test::FakeCloud cloud{clock};
    for (const char* name : {"b-10", "b-2", "a-1", "b-1"})
        cloud.add_host(name, Resources{{"VCPU", 8}});
    const auto read = [&](const std::string& pattern, bool capacities) {
        return run_task(io_,
                        read_slots(cloud.ports(), setup_, hosts_named(pattern), spot, capacities));
    };
    const auto some = read("b-*", true);
    ASSERT_TRUE(some) << some.error().what;
    ASSERT_EQ(some->hosts.size(), 3U);
    EXPECT_EQ(some->hosts[0].name, "b-1");
    EXPECT_EQ(some->hosts[1].name, "b-2");
    EXPECT_EQ(some->hosts[2].name, "b-10") << "as people count";
    EXPECT_EQ(some->hosts[0].inventories.at(ResourceClass{"VCPU"}).total, 8);
    const std::size_t before = cloud.count("provider ");
    EXPECT_EQ(read("*", false)->hosts.size(), 4U);
    EXPECT_EQ(cloud.count("provider "), before) << "nothing is read that is not needed";
    const auto none = read("c-*", false);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::bad_input);
    EXPECT_THAT(none.error().what, HasSubstr("'c-*'"));
}

}  // namespace
}  // namespace reaper::cli::setup_slots_test
