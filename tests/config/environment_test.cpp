#include "config/environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/values.hpp"
#include "reaper/model/time.hpp"
#include "support/unprivileged_user.hpp"

namespace reaper::config::test::environment_test {
namespace {

class SystemFiles : public testing::Test {
protected:
    SystemFiles() {
        std::string name = (std::filesystem::temp_directory_path() / "reaper-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~SystemFiles() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text, mode_t mode) {
        const std::string path = folder_ + "/" + name;
        std::ofstream{path} << text;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    std::string folder_;
    Environment environment_ = system_environment();
};

TEST_F(SystemFiles, AreReadWithWhoMayReadThem) {
    const auto open = environment_.read_file(write("open", "text\n", 0644));
    ASSERT_TRUE(open.has_value());
    EXPECT_EQ(open->text, "text\n");
    EXPECT_TRUE(open->others_can_read);
    EXPECT_FALSE(environment_.read_file(write("closed", "text", 0640))->others_can_read);
}

TEST_F(SystemFiles, ThatCantBeReadSayWhy) {
    EXPECT_EQ(environment_.read_file(folder_ + "/none").error().code, Errc::not_found);
    EXPECT_EQ(environment_.read_file(folder_).error().code, Errc::bad_input);
    const auto large = environment_.read_file(write("large", std::string(2'000'000, 'x'), 0600));
    EXPECT_EQ(large.error().what, "larger than 1 MiB");
}

/// `sudo -u reaper` in root's home: its content is not ours, and not in the way.
TEST_F(SystemFiles, InAFolderThatMayNotBeLookedIntoAreNotThere) {
    const std::string hidden = write("clouds.yaml", "clouds: {}\n", 0600);
    const std::string closed = folder_ + "-closed";
    ASSERT_TRUE(std::filesystem::create_directory(closed));
    std::ofstream{closed + "/clouds.yaml"} << "clouds: {}\n";
    ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    if (::geteuid() != 0) {
        ASSERT_EQ(::chmod(closed.c_str(), 0), 0);
        ASSERT_EQ(::chmod(hidden.c_str(), 0), 0);
    }
    {
        const reaper::test::UnprivilegedUser unprivileged({});
        EXPECT_EQ(environment_.read_file(closed + "/clouds.yaml").error().code, Errc::not_found);
        EXPECT_EQ(environment_.read_file(hidden).error().code, Errc::bad_input);
    }
    ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
    std::filesystem::remove_all(closed);
}

TEST_F(SystemFiles, AFifoWithoutAWriterDoesNotHang) {
    const std::string path = folder_ + "/fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto file = environment_.read_file(path);
    ASSERT_TRUE(file.has_value());
    EXPECT_TRUE(file->text.empty());
}

TEST(SystemVariables, AreTheProcesss) {
    ASSERT_EQ(::setenv("REAPER_TEST_VARIABLE", "here", 1), 0);
    EXPECT_EQ(system_environment().variable("REAPER_TEST_VARIABLE"), "here");
    ASSERT_EQ(::unsetenv("REAPER_TEST_VARIABLE"), 0);
    EXPECT_EQ(system_environment().variable("REAPER_TEST_VARIABLE"), std::nullopt);
}

TEST(Values, DurationsComeBackAsTheyWere) {
    for (const char* const text : {"0s", "1ms", "1500ms", "10s", "90s", "5min", "2h"}) {
        const auto duration = parse_duration(text);
        ASSERT_TRUE(duration) << text;
        EXPECT_EQ(exact_duration(*duration), text);
    }
    for (const char* const text : {"", "5", "s", "-5s", "+5s", " 5s", "5 s", "5S", "1.5s", "5sec",
                                   "9223372036854775807h", "99999999999999999999s", "0x5s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

}  // namespace
}  // namespace reaper::config::test::environment_test
