#include "config/journal_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/world.hpp"

namespace reaper::config::test::journal_url_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string why_bad(const std::string& text) {
    const auto url = parse_journal_url(text);
    EXPECT_FALSE(url) << text;
    return url ? "" : url.error().what;
}

TEST(JournalUrl, ReadsEveryPart) {
    const auto url =
        parse_journal_url("mysql://reaper@db1,db2.example:3307,[::1]:3308/the_journal");
    ASSERT_TRUE(url) << url.error().what;
    EXPECT_THAT(url->hosts,
                ElementsAre(JournalUrl::Host{"db1", 3306}, JournalUrl::Host{"db2.example", 3307},
                            JournalUrl::Host{"::1", 3308}));
    EXPECT_EQ(url->user, "reaper");
    EXPECT_EQ(url->database, "the_journal");
    EXPECT_EQ(url->socket, "");
}

TEST(JournalUrl, NamesASocketOfThisMachine) {
    const auto url = parse_journal_url("mysql://reaper@/journal?unix_socket=/run/mysqld.sock");
    ASSERT_TRUE(url) << url.error().what;
    EXPECT_TRUE(url->hosts.empty());
    EXPECT_EQ(url->socket, "/run/mysqld.sock");
}

TEST(JournalUrl, SaysWhatIsWrong) {
    EXPECT_THAT(why_bad("postgresql://r@h/d"), HasSubstr("mysql://"));
    EXPECT_THAT(why_bad("mysql://h/d"), HasSubstr("no user"));
    EXPECT_THAT(why_bad("mysql://r@h"), HasSubstr("no database"));
    EXPECT_THAT(why_bad("mysql://r@h/"), HasSubstr("no database"));
    EXPECT_THAT(why_bad("mysql://r@/d"), HasSubstr("needs hosts"));
    EXPECT_THAT(why_bad("mysql://r@h/d?unix_socket=/s"), HasSubstr("not both"));
    EXPECT_THAT(why_bad("mysql://r@/d?unix_socket=s"), HasSubstr("absolute"));
    EXPECT_THAT(why_bad("mysql://r@h/d?ssl=1"), HasSubstr("unix_socket=PATH"));
    EXPECT_THAT(why_bad("mysql://r@h:0/d"), HasSubstr("port"));
    EXPECT_THAT(why_bad("mysql://r@h:x/d"), HasSubstr("name or address"));
    EXPECT_THAT(why_bad("mysql://r@h,/d"), HasSubstr("comma"));
    EXPECT_THAT(why_bad("mysql://r@,h/d"), HasSubstr("name or address"));
    EXPECT_THAT(why_bad("mysql://r@h/d'; DROP"), HasSubstr("no database"));
}

TEST(JournalUrl, TakesNoPasswordAndDoesNotShowIt) {
    for (const char* const text :
         {"mysql://r:sesame@h/d", "mysql://r:se@same@h/d", "mysql://:sesame@h/d"})
        EXPECT_THAT(why_bad(text),
                    testing::AllOf(HasSubstr("password_file"), Not(HasSubstr("same"))));
}

TEST(JournalSettings, AreADatabaseOrAFile) {
    World world;
    world.files["/pw"] = {"secret", false};
    const std::string url = "url: 'mysql://reaper@db1,db2/reaper'";
    const Settings good = world.good(
        minimal("journal: {" + url + ", password_file: /pw, tls: false, timeout: 9s}\n"));
    EXPECT_FALSE(good.journal.in_file());
    EXPECT_EQ(good.journal.place(), "mysql://reaper@db1,db2/reaper");
    EXPECT_EQ(good.journal.timeout, std::chrono::seconds{9});
    EXPECT_THAT(world.warning_lines(), ElementsAre(HasSubstr("journal.tls")));
    EXPECT_EQ(world.good(minimal()).journal.place(), "/var/lib/reaper/journal.db");
    const auto wrong = [&](const std::string& text) {
        return world.errors(minimal("journal: {" + text + "}\n"));
    };
    EXPECT_THAT(wrong(url + ", path: /j.db"),
                ElementsAre(HasSubstr("journal.path: is given with")));
    // One host that hangs must not cost the lease (15 s).
    EXPECT_THAT(
        wrong(url + ", tls: false, timeout: 11s"),
        ElementsAre(testing::AllOf(HasSubstr("journal.timeout"), HasSubstr("from 1s to 10s"))));
    EXPECT_THAT(wrong("password_file: /pw"), ElementsAre(HasSubstr("without journal.url")));
    EXPECT_THAT(wrong("url: 'mysql://reaper:sesame@db1/reaper'"),
                ElementsAre(testing::AllOf(HasSubstr("journal.url: has a password in it"),
                                           Not(HasSubstr("sesame")))));
}

TEST(JournalSettings, OfADryRunAreAFile) {
    World world;
    world.files["/r.yaml"] = {minimal("dry_run: true\njournal: {url: 'mysql://reaper@h/d'}\n"),
                              false};
    const auto loaded = load_local("/r.yaml", world.environment());
    const auto* const local = std::get_if<LocalSettings>(&loaded);
    ASSERT_NE(local, nullptr);
    EXPECT_EQ(local->journal.place(), "/var/lib/reaper/dry-run.db");
    EXPECT_EQ(local->other_journal.place(), "mysql://reaper@h/d");
}

}  // namespace
}  // namespace reaper::config::test::journal_url_test
