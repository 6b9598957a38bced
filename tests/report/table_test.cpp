// The model of lists, and what each format makes of it.
#include "reaper/report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::report::table_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const TimePoint then{std::chrono::milliseconds{1'700'000'000'123}};

Table example() {
    Table table;
    table.columns = {column("name"), number("VCPU_free"), number("hours"), column("at"),
                     wide("id"),     under("reason"),     under("parts")};
    table.rows = {
        {std::string{"b"}, std::int64_t{10}, Decimal{1.26}, then, std::string{"i-1"},
         std::string{"two words"}, Lines{"one", "two, three"}},
        {std::string{"a"}, std::int64_t{9}, Cell{}, Cell{}, std::string{"i-2"}, Cell{}, Cell{}},
        {std::string{"c"}, Cell{}, Decimal{0.5}, then - Duration{1}, Cell{},
         std::string{"said \"no\""}, Cell{}}};
    table.none = "No rows.";
    table.title = "A title";
    table.summary = "3 rows";
    return table;
}

std::vector<std::size_t> order(const Table& table, std::string_view how) {
    const auto found = order_of(table, how);
    EXPECT_TRUE(found) << found.error().what;
    return found ? *found : std::vector<std::size_t>{};
}

TEST(TableOrder, IsByTheKindOfTheCellsAndNothingComesLast) {
    EXPECT_THAT(order(example(), "name"), ElementsAre(1, 0, 2));
    EXPECT_THAT(order(example(), "vcpu_FREE"), ElementsAre(1, 0, 2)) << "9 before 10";
    EXPECT_THAT(order(example(), "-VCPU_free"), ElementsAre(0, 1, 2));
    EXPECT_THAT(order(example(), "hours:desc"), ElementsAre(0, 2, 1));
    EXPECT_THAT(order(example(), "at"), ElementsAre(2, 0, 1));
    EXPECT_THAT(order(example(), "at:asc"), ElementsAre(2, 0, 1));
}

TEST(TableOrder, LeavesEqualRowsAsTheyWere) {
    Table table;
    table.columns = {column("kind"), column("name")};
    for (const char* const name : {"x", "y", "z"})
        table.rows.push_back({std::string{"same"}, std::string{name}});
    EXPECT_THAT(order(table, "kind"), ElementsAre(0, 1, 2));
    EXPECT_THAT(order(table, "-kind"), ElementsAre(0, 1, 2));
    EXPECT_EQ(table_names(ordered(with_columns(table, {"name"}).value(), {2, 0, 1})), "z\nx\ny\n");
}

TEST(TableColumns, AreChosenInOrderAndAnUnknownOneListsThoseThereAre) {
    const auto chosen = with_columns(example(), {"REASON", "name"});
    ASSERT_TRUE(chosen);
    EXPECT_EQ(table_lines(*chosen, false, Paint{false}),
              "REASON     NAME\n"
              "two words  b\n"
              "-          a\n"
              "said \"no\"  c\n");
    const std::string known = "; there are: name, vcpu_free, hours, at, id, reason, parts";
    EXPECT_EQ(with_columns(example(), {"name", "nmae\n"}).error().what,
              "--columns: there is no column 'nmae\\x0a'" + known);
    EXPECT_EQ(order_of(example(), "-x").error().what, "--sort: there is no column 'x'" + known);
    EXPECT_FALSE(order_of(example(), ""));
}

TEST(TableText, FoldsUnderTheRowWhatHasNoPlace) {
    EXPECT_EQ(table_text(example(), 100, Paint{false}),
              "A title\n"
              "NAME  VCPU_FREE  HOURS  AT\n"
              "b            10    1.3  2023-11-14T22:13:20.123Z\n"
              "    two words\n"
              "    one\n"
              "    two, three\n"
              "a             9      -  -\n"
              "c             -    0.5  2023-11-14T22:13:20.122Z\n"
              "    said \"no\"\n"
              "\n"
              "3 rows\n");
    EXPECT_THAT(table_text(example(), 40, Paint{false}), HasSubstr("\n    at 2023-11-14T"));
}

TEST(TableText, SaysThatThereIsNothing) {
    Table none = example();
    none.rows.clear();
    none.title = none.summary = "";
    EXPECT_EQ(table_text(none, 100, Paint{false}), "No rows.\n");
    EXPECT_EQ(table_lines(none, false, Paint{false}),
              "NAME  VCPU_FREE  HOURS  AT  REASON  PARTS\n");
}

TEST(TableLines, AreOneForEachRowHoweverLong) {
    EXPECT_EQ(table_lines(example(), false, Paint{false}),
              "NAME  VCPU_FREE  HOURS  AT                        REASON     PARTS\n"
              "b            10    1.3  2023-11-14T22:13:20.123Z  two words  one; two, three\n"
              "a             9      -  -                         -          -\n"
              "c             -    0.5  2023-11-14T22:13:20.122Z  said \"no\"  -\n");
    EXPECT_THAT(table_lines(example(), true, Paint{false}), HasSubstr("  ID   REASON"));
    Table table = example();
    table.rows[1][0] = std::string(5'000, 'x');
    const std::string text = table_lines(table, true, Paint{false});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(TableCsv, IsAsRfc4180HasIt) {
    EXPECT_EQ(table_csv(example()),
              "name,VCPU_free,hours,at,id,reason,parts\r\n"
              "b,10,1.260,2023-11-14T22:13:20.123Z,i-1,two words,\"one; two, three\"\r\n"
              "a,9,,,i-2,,\r\n"
              "c,,0.500,2023-11-14T22:13:20.122Z,,\"said \"\"no\"\"\",\r\n");
}

/// A spreadsheet would run it; a number below zero is none.
TEST(TableCsv, HasNoFormulas) {
    Table table;
    table.columns = {column("a"), number("b"), column("c")};
    for (const char* const text : {"=1+1", "+1", "-1", "@x"})
        table.rows.push_back({std::string{text}, std::int64_t{-1}, Lines{text}});
    EXPECT_EQ(table_csv(table),
              "a,b,c\r\n'=1+1,-1,'=1+1\r\n'+1,-1,'+1\r\n'-1,-1,'-1\r\n'@x,-1,'@x\r\n");
}

TEST(TableFormats, LetNoControlCharacterThrough) {
    const std::string hostile = "a\x1b[2J\nforged\r\t\xe2\x80\xae\xff\x7f";
    Table table;
    table.columns = {column("name"), under("reason"), under("lines")};
    table.rows = {{hostile, hostile, Lines{hostile}}};
    for (const std::string& text :
         {table_text(table, 80, Paint{false}), table_lines(table, true, Paint{false}),
          table_csv(table), table_names(table)}) {
        for (const char c : text)
            EXPECT_TRUE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n' ||
                        c == '\r')
                << int{c};
        EXPECT_EQ(text.find("\nforged"), std::string::npos);
        EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
        EXPECT_EQ(text.find('\xff'), std::string::npos);
    }
}

TEST(TableNames, AreTheKeysEachOnce) {
    Table table = example();
    table.rows.push_back(table.rows.front());
    EXPECT_EQ(table_names(table), "b\na\nc\n");
    table.key = 4;
    EXPECT_EQ(table_names(table), "i-1\ni-2\n");
}

TEST(TableText, ColoursOnlyTheHeadAndOnlyWhenAsked) {
    EXPECT_THAT(table_lines(example(), false, Paint{true}), HasSubstr("\x1b[2mNAME"));
    EXPECT_EQ(table_lines(example(), false, Paint{false}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace reaper::report::table_test
