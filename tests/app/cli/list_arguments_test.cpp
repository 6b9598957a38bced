// What lists may be asked for on the command line.
#include "reaper/cli/arguments/list_arguments.hpp"

#include <gtest/gtest.h>

#include "reaper/cli/arguments/arguments.hpp"

namespace reaper::cli::list_arguments_test {
namespace {

std::variant<Arguments, Leave> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "reaper");
    return parse_arguments(static_cast<int>(words.size()), words.data());
}

ListOptions list_of(const std::vector<const char*>& words) {
    const auto parsed = parse(words);
    if (const auto* const leave = std::get_if<Leave>(&parsed)) {
        ADD_FAILURE() << leave->err;
        return {};
    }
    return std::get<Arguments>(parsed).global.list;
}

std::string refused(const std::vector<const char*>& words) {
    const auto parsed = parse(words);
    const auto* const leave = std::get_if<Leave>(&parsed);
    return leave == nullptr ? "accepted" : leave->err;
}

TEST(ListArguments, EachListTakesThem) {
    for (const auto& words :
         std::vector<std::vector<const char*>>{{"hosts"},
                                               {"candidates", "--resources", "VCPU=1"},
                                               {"check"},
                                               {"history"},
                                               {"history", "victims"},
                                               {"history", "messages"},
                                               {"history", "events"},
                                               {"reservations"},
                                               {"oversubscription"},
                                               {"usage"},
                                               {"strategies"},
                                               {"taggers"},
                                               {"estimators"},
                                               {"qos"}}) {
        auto all = words;
        all.insert(all.end(), {"-o", "csv", "--sort", "-name", "--columns", "a,B"});
        const ListOptions options = list_of(all);
        EXPECT_EQ(options.format, ListFormat::csv);
        EXPECT_EQ(options.sort, "-name");
        EXPECT_EQ(options.columns, (std::vector<std::string>{"a", "B"}));
        const ListOptions plain = list_of(words);
        EXPECT_EQ(plain.format, ListFormat::table);
        EXPECT_EQ(plain.sort, "");
        EXPECT_TRUE(plain.columns.empty());
    }
    EXPECT_NE(refused({"plan", "--sort", "host"}), "accepted");
}

TEST(ListArguments, WhatAnswersWithOneThingTakesADocumentsFormats) {
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"plan", "--resources", "VCPU=1", "--project", "p"},
             {"request", "--resources", "VCPU=1", "--project", "p"},
             {"apply", "plan.json"},
             {"room", "--resources", "VCPU=1"},
             {"config"},
             {"estimate"},
             {"setup", "reservations"},
             {"setup", "oversubscription"},
             {"setup", "resource-tagging", "--slots", "1"},
             {"reserve", "--host", "h", "--role", "r", "--resources", "VCPU=1"},
             {"unreserve", "--host", "h", "--role", "r", "--resources", "VCPU=1"},
             {"pause"},
             {"resume"}}) {
        const auto with = [&](const char* format) {
            auto all = words;
            all.insert(all.end(), {"-o", format});
            return all;
        };
        EXPECT_EQ(list_of(with("yaml")).format, ListFormat::yaml) << words[0];
        EXPECT_EQ(list_of(with("json")).format, ListFormat::json) << words[0];
        EXPECT_EQ(list_of(with("table")).format, ListFormat::table) << words[0];
        EXPECT_NE(refused(with("csv")), "accepted") << words[0];
    }
}

TEST(ListArguments, JsonIsShortForItsFormat) {
    EXPECT_EQ(list_of({"hosts", "--json"}).format, ListFormat::json);
    EXPECT_EQ(list_of({"hosts", "--json", "-o", "json"}).format, ListFormat::json);
    EXPECT_TRUE(std::get<Arguments>(parse({"hosts", "-o", "json"})).global.json);
    EXPECT_FALSE(std::get<Arguments>(parse({"hosts", "-o", "yaml"})).global.json);
    EXPECT_EQ(list_of({"usage", "--csv"}).format, ListFormat::csv);
    EXPECT_EQ(refused({"hosts", "--json", "-o", "csv"}), "--json and -o csv: one of the two");
    EXPECT_EQ(refused({"usage", "--csv", "--json"}), "--csv and --json: one of the two");
    EXPECT_EQ(refused({"usage", "--csv", "-o", "wide"}), "--csv and -o wide: one of the two");
}

TEST(ListArguments, WhatDoesNotGoTogetherIsRefused) {
    for (const char* const format : {"json", "yaml", "name"})
        EXPECT_EQ(refused({"hosts", "-o", format, "--columns", "host"}),
                  "--columns goes with -o table, wide and csv");
    EXPECT_NE(refused({"hosts", "-o", "xml"}).find("yaml"), std::string::npos);
}

}  // namespace
}  // namespace reaper::cli::list_arguments_test
