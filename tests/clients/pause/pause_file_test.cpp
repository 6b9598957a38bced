#include "clients/pause/pause_file.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unprivileged_user.hpp"

namespace reaper::pause_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class PauseFileTest : public testing::Test {
protected:
    ~PauseFileTest() override {
        fs::permissions(folder_, fs::perms::owner_all);
        fs::remove_all(folder_);
    }
    std::string path(const std::string& name = "paused") const { return folder_ + "/" + name; }
    void write(const std::string& text) const { std::ofstream{path()} << text; }
    std::string why() const { return file_.paused().value_or("not paused"); }

    static std::string new_folder() {
        std::string name = (fs::temp_directory_path() / "reaper-pause-XXXXXX").string();
        return ::mkdtemp(name.data());
    }

    std::string folder_ = new_folder();
    PauseFile file_{path()};
};

TEST_F(PauseFileTest, WithoutAFileTheReaperWorks) {
    EXPECT_FALSE(file_.paused());
    EXPECT_FALSE(PauseFile{path("no/such/folder")}.paused());
}

TEST_F(PauseFileTest, APauseSaysByWhomSinceWhenAndWhy) {
    ASSERT_TRUE(file_.pause("alice", "kernel update"));
    EXPECT_THAT(why(), AllOf(testing::StartsWith("paused by alice since 20"),
                             HasSubstr("Z: kernel update")));
    EXPECT_EQ(PauseFile{path()}.paused(), file_.paused()) << "it survives restarts";
    EXPECT_EQ(file_.note()->by, "alice");
    EXPECT_EQ(file_.note()->reason, "kernel update");
}

TEST_F(PauseFileTest, ThePauseInForceStays) {
    ASSERT_TRUE(file_.pause("alice", "kernel update"));
    const auto first = file_.paused();
    ASSERT_TRUE(file_.pause("circuit breaker", "5 of 6 culls were wasted"));
    EXPECT_EQ(file_.paused(), first);
}

TEST_F(PauseFileTest, ResumingEndsItWhateverItIs) {
    ASSERT_TRUE(file_.pause("alice", ""));
    ASSERT_TRUE(file_.resume());
    EXPECT_FALSE(file_.paused());
    EXPECT_TRUE(file_.resume()) << "twice is no error";
    write("");
    ASSERT_TRUE(file_.resume());
    EXPECT_FALSE(file_.paused());
}

TEST_F(PauseFileTest, ATouchedFilePauses) {
    write("");
    EXPECT_THAT(why(), AllOf(testing::StartsWith("paused since 20"), HasSubstr(path())));
}

TEST_F(PauseFileTest, AFileOfAnyContentPauses) {
    for (const std::string text :
         {"x", "{", "[]", "7", "{\"by\": 7, \"at\": [], \"reason\": {}}", "null"}) {
        write(text);
        EXPECT_THAT(why(), HasSubstr("paused since 20")) << text;
    }
    write(std::string(1 << 20, '['));
    EXPECT_TRUE(file_.paused());
    write("{\"reason\": \"only this\"}");
    EXPECT_THAT(why(), HasSubstr("only this"));
}

TEST_F(PauseFileTest, WhatIsNoFilePausesToo) {
    fs::create_directory(path());
    EXPECT_THAT(why(), HasSubstr("not a regular file"));
    EXPECT_FALSE(file_.resume());
    fs::remove(path());
    fs::create_symlink("/nonexistent/anywhere", path());
    EXPECT_THAT(why(), HasSubstr("can't be read"));
    EXPECT_TRUE(file_.resume());
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    EXPECT_THAT(why(), HasSubstr("can't be read")) << "and is not waited for";
}

TEST_F(PauseFileTest, AFileThatCantBeReadOrSeenPauses) {
    write("{\"by\": \"alice\"}");
    fs::permissions(path(), fs::perms::none);
    const reaper::test::UnprivilegedUser unprivileged{folder_, path()};
    EXPECT_THAT(why(), HasSubstr("can't be read (Permission denied)"));
    fs::permissions(folder_, fs::perms::none);
    EXPECT_THAT(why(), HasSubstr("can't be looked at (Permission denied)"));
}

TEST_F(PauseFileTest, APathThatCantBeLookedAtPauses) {
    EXPECT_THAT(PauseFile{path(std::string(300, 'x'))}.paused().value_or("not paused"),
                HasSubstr("can't be looked at (File name too long)"));
}

TEST_F(PauseFileTest, ChangesAreSeenAtOnce) {
    for (int round = 0; round < 30; ++round) {
        const std::string reason = "reason " + std::to_string(round % 10);
        ASSERT_TRUE(file_.pause("alice", reason));
        ASSERT_THAT(why(), HasSubstr(reason));
        ASSERT_TRUE(PauseFile{path()}.resume());
        ASSERT_FALSE(file_.paused());
    }
}

TEST_F(PauseFileTest, WordsFromOutsideAreMadeSafe) {
    ASSERT_TRUE(file_.pause("mal\x1b[2Jlory", "two\nlines \xff"));
    EXPECT_THAT(why(), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n")), HasSubstr("lines")));
}

TEST_F(PauseFileTest, NothingElseIsLeftBehind) {
    ASSERT_TRUE(file_.pause("alice", ""));
    ASSERT_TRUE(file_.pause("bob", ""));
    int entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{folder_}) ++entries;
    EXPECT_EQ(entries, 1);
}

TEST_F(PauseFileTest, EveryUserMayReadIt) {
    const auto before = ::umask(0077);
    ASSERT_TRUE(file_.pause("root", ""));
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST_F(PauseFileTest, WithoutADirectorySaysWhatToDo) {
    const auto failed = PauseFile{path("no/paused")}.pause("alice", "");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::storage);
    EXPECT_THAT(failed.error().what, AllOf(HasSubstr(path("no/paused")), HasSubstr("No such file"),
                                           HasSubstr("make the directory " + path("no"))));
}

TEST_F(PauseFileTest, WithoutTheRightSaysWhatToDo) {
    const reaper::test::UnprivilegedUser unprivileged{folder_};
    ASSERT_TRUE(file_.pause("alice", ""));
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(file_.resume().error().what,
                AllOf(HasSubstr("Permission denied"), HasSubstr("run this as root")));
    EXPECT_THAT(PauseFile{path("other")}.pause("alice", "").error().what,
                HasSubstr("run this as root"));
}

}  // namespace
}  // namespace reaper::pause_file_test
