#include "reaper/cli/output/whole_file.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

#include "app/cli/program.hpp"

namespace reaper::cli::whole_file_test {
namespace {

std::string content(const std::string& path) {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

std::size_t files_beside(const std::string& path) {
    std::size_t count = 0;
    const auto folder = std::filesystem::path(path).parent_path();
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

TEST(WholeFile, ReplacesTheOldOneAndIsForItsOwnerOnly) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.write("a", "old and longer");
    ASSERT_TRUE(write_whole_file(path, [](std::ostream& out) { out << "new"; }));
    EXPECT_EQ(content(path), "new");
    EXPECT_EQ(files_beside(path), 1U);
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
}

TEST(WholeFile, AFailedWriteLeavesTheOldOneAndNothingElse) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.write("a", "old");
    const auto fails = [](std::ostream& out) {
        out << "half";
        out.setstate(std::ios::badbit);
    };
    const auto done = write_whole_file(path, fails);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what.find(path + " can't be written: "), 0U) << done.error().what;
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(files_beside(path), 1U);
    const auto throws = [](std::ostream&) { throw std::runtime_error("x"); };
    EXPECT_THROW((void)write_whole_file(path, throws), std::runtime_error);
    EXPECT_EQ(files_beside(path), 1U);
}

TEST(WholeFile, APlaceThatCantBeIsNamed) {
    const test::TemporaryDirectory directory;
    const auto nothing = [](std::ostream&) {};
    EXPECT_FALSE(write_whole_file(directory.file("no/such"), nothing));
    EXPECT_FALSE(write_whole_file(directory.file(""), nothing));
}

TEST(WholeFile, ADeviceStaysOne) {
    ASSERT_TRUE(write_whole_file("/dev/null", [](std::ostream& out) { out << "gone"; }));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace reaper::cli::whole_file_test
