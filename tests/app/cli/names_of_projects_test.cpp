// The names of projects: Keystone has a few seconds for them, beside all else.
#include "reaper/cli/cloud/names_of_projects.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"

namespace reaper::cli::names_of_projects_test {
namespace {

using testing::HasSubstr;

/// Tells names after a while.
class SlowKeystone : public test::FakeCloud {
public:
    SlowKeystone(test::FakeClock& clock, Duration takes)
        : FakeCloud(clock), clock_(clock), takes_(takes) {}
    ResultTask<ProjectNames> names_of_projects() override {
        co_await clock_.sleep(takes_);
        co_return co_await FakeCloud::names_of_projects();
    }

private:
    test::FakeClock& clock_;
    Duration takes_;
};

class NamesOfProjectsTest : public testing::Test {
protected:
    ~NamesOfProjectsTest() override { clock_.forget_sleepers(); }
    /// The names that it uses after the command has read for `reading_takes`.
    Result<ProjectNames> told(Duration keystone_takes, Duration reading_takes) {
        keystone_.emplace(clock_, keystone_takes);
        keystone_->listed_names = {{"p-1", "web"}};
        if (forbidden_)
            keystone_->on_call = [](const std::string&) {
                return Error{Errc::forbidden, "keystone: 403"};
            };
        NamesOfProjects names{io_.get_executor(), *keystone_, clock_};
        const TimePoint began = clock_.now();
        std::optional<Result<ProjectNames>> taken;
        boost::asio::co_spawn(io_, take_after(names, reading_takes, taken),
                              [](std::exception_ptr error) {
                                  if (error) std::rethrow_exception(error);
                              });
        EXPECT_TRUE(clock_.run_until(io_, [&] { return taken.has_value(); }));
        took_ = clock_.now() - began;
        return *taken;
    }
    Task<void> take_after(NamesOfProjects& names, Duration reading_takes,
                          std::optional<Result<ProjectNames>>& taken) {
        if (reading_takes > Duration{0}) co_await clock_.sleep(reading_takes);
        taken = co_await names.take();
    }

    test::FakeClock clock_;
    boost::asio::io_context io_{1};
    std::optional<SlowKeystone> keystone_;
    bool forbidden_ = false;
    Duration took_{};
};

TEST_F(NamesOfProjectsTest, TheyAreAskedForWhileTheCloudIsRead) {
    const auto names = told(std::chrono::seconds{2}, std::chrono::seconds{2});
    ASSERT_TRUE(names) << names.error().what;
    EXPECT_EQ(*names, (ProjectNames{{ProjectId{"p-1"}, "web"}}));
    EXPECT_EQ(took_, std::chrono::seconds{2});
}

TEST_F(NamesOfProjectsTest, AKeystoneThatHangsIsWaitedForThreeSecondsOnly) {
    const auto names = told(std::chrono::minutes{1}, Duration{0});
    ASSERT_FALSE(names);
    EXPECT_EQ(took_, std::chrono::seconds{3});
    EXPECT_THAT(why_ids_alone(names.error()).value_or(""),
                HasSubstr("their ids are shown: Keystone did not tell them within 3s"));
}

TEST_F(NamesOfProjectsTest, AReadingThatTakesLongerIsNotMadeLonger) {
    EXPECT_FALSE(told(std::chrono::minutes{1}, std::chrono::seconds{20}));
    EXPECT_EQ(took_, std::chrono::seconds{20});
}

TEST_F(NamesOfProjectsTest, WithoutTheRightNoNameIsShown) {
    forbidden_ = true;
    const auto names = told(std::chrono::seconds{1}, Duration{0});
    ASSERT_FALSE(names);
    EXPECT_EQ(why_ids_alone(names.error()), std::nullopt);
}

}  // namespace
}  // namespace reaper::cli::names_of_projects_test
