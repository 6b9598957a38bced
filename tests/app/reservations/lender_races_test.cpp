// The races that the design of Mesos names, of lenders and tenants, at the worst times: through a
// whole service whose nova-scheduler asks through the gateway.
#include <functional>
#include <gmock/gmock.h>
#include <utility>

#include "app/lending_house.hpp"

namespace reaper::test::lender_races_test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class LenderRacesTest : public LendingHouse {
protected:
    /// Once, in the middle of the first call that begins with this.
    void in_the_middle_of(const std::string& what, std::function<void()> happens) {
        cloud.on_call = [what, happens = std::move(happens),
                         done = false](const std::string& call) mutable -> std::optional<Error> {
            if (call.starts_with(what) && !std::exchange(done, true)) happens();
            return std::nullopt;
        };
    }
};

// A lender comes while a tenant goes by itself: what terminates counts once, and no other server is
// deleted.
TEST_F(LenderRacesTest, OverEvicting1) {
    start_and_hold();
    borrow("one", "req-1");
    borrow("two", "req-2");
    EXPECT_EQ(lent(), 4);
    booting("lender", "eng");
    bool leaves = false;
    // As the reaper looks at the host for its plan.
    in_the_middle_of("room rp-host1", [&] {
        leaves = true;
        cloud.server_at(uuid_of("one")).record.server.task_state = "deleting";
        tell_of(uuid_of("one"));
    });
    FakeSearch& made = search("req-3");
    run_until([&] { return leaves; });
    pass(seconds{3});
    cloud.remove(uuid_of("one"));
    tell_gone(uuid_of("one"));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(cloud.exists(uuid_of("two")));
}

// A lender comes while tenants go for another one: it evicts only what it lacks itself.
TEST_F(LenderRacesTest, OverEvicting2) {
    start_on_host3();
    for (const char* const name : {"one", "two", "three"})
        borrow(name, std::string{"req-"} + name, "host3");
    EXPECT_EQ(lent(), 6);
    const ServerId first = booting("first", "eng");
    const ServerId second = booting("second", "eng");
    FakeSearch* another = nullptr;
    in_the_middle_of("DELETE", [&] { another = &search("req-second"); });
    EXPECT_THAT(search_for("req-first"), ElementsAre("rp-host3"));
    ASSERT_NE(another, nullptr);
    EXPECT_THAT(found(*another), ElementsAre("rp-host3"));
    EXPECT_EQ(claimed(claim("req-first", first, "rp-host3")), 204);
    EXPECT_EQ(claimed(claim("req-second", second, "rp-host3")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 2U) << "one for each";
    pass(seconds{30});
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_THAT(only().tenants, SizeIs(1));
}

}  // namespace
}  // namespace reaper::test::lender_races_test
