// Keystone refuses our credentials: every call fails, and one line reports it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::test::refused_credentials_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* words = "refused the credentials";

class RefusedCredentialsTest : public FullHouse {
protected:
    /// As the session tells it: when it is tried again changes.
    void refuse() {
        cloud.on_call = [this](const std::string&) -> std::optional<Error> {
            return Error{Errc::unauthorized, std::string{"Keystone at K "} + words +
                                                 " of user reaper (401): check "
                                                 "password; not tried again before " +
                                                 std::to_string(++tries_)};
        };
    }

    const LogCapture log;

private:
    int tries_ = 0;
};

TEST_F(RefusedCredentialsTest, TheStartTellsThemNowhereButAtItsEnd) {
    full_host();
    refuse();
    begin();
    run_until([&] { return status.refused.has_value(); });
    pass(std::chrono::minutes{1});
    EXPECT_THAT(*status.refused, HasSubstr(words));
    EXPECT_THAT(log.lines_with(words), SizeIs(0)) << "who ends the start tells it: " << log.text();
}

TEST_F(RefusedCredentialsTest, OneLineTellsThemUntilTheyAreAccepted) {
    full_host();
    start();
    for (std::size_t times = 1; times <= 2; ++times) {
        refuse();
        pass(std::chrono::minutes{30});
        const auto lines = log.lines_with(words);
        ASSERT_THAT(lines, SizeIs(times)) << log.text();
        EXPECT_THAT(lines.back(), HasSubstr("[error]"));
        EXPECT_THAT(log.lines_with("accepts our credentials again"), SizeIs(times - 1));
        cloud.on_call = {};
        pass(std::chrono::minutes{3});
        EXPECT_THAT(log.lines_with("accepts our credentials again"), SizeIs(times));
    }
    EXPECT_THAT(status.line, testing::Not(HasSubstr(words)));
}

TEST_F(RefusedCredentialsTest, AStandbyTellsThemToo) {
    full_host();
    refuse();
    begin(true);
    pass(std::chrono::minutes{2});
    EXPECT_THAT(log.lines_with(words), SizeIs(1)) << log.text();
    ASSERT_TRUE(service().why_unfit());
    EXPECT_THAT(*service().why_unfit(), HasSubstr("Keystone refuses our credentials"));
    cloud.on_call = {};
    pass(std::chrono::minutes{3});
    EXPECT_EQ(service().why_unfit(), std::nullopt);
}

TEST_F(RefusedCredentialsTest, AServiceThatIsAwayAtTheStartIsNotToldForEachName) {
    full_host();
    bool away = true;
    cloud.on_call = [&away](const std::string& call) -> std::optional<Error> {
        if (!away || call != "resource classes") return std::nullopt;
        return Error{Errc::unreachable, "placement is away"};
    };
    begin();
    pass(std::chrono::minutes{1});
    EXPECT_THAT(log.lines_with("placement is away"), SizeIs(1)) << log.text();
    away = false;
    pass(std::chrono::minutes{3});
    EXPECT_THAT(log.lines_with("differ"), SizeIs(0)) << log.text();
}

}  // namespace
}  // namespace reaper::test::refused_credentials_test
