#include "config/yaml_writer.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace reaper::config::yaml_writer_test {
namespace {

std::string one_text(const std::string& text) {
    YamlWriter out;
    out.begin_map();
    out.key("k");
    out.text(text);
    out.end_map();
    return out.finish();
}

TEST(YamlWriter, WritesMapsListsAndValues) {
    YamlWriter out;
    out.begin_map();
    out.key("hosts");
    out.begin_list();
    out.begin_map();
    out.key("name");
    out.text("host-1");
    out.key("free");
    out.plain("-5");
    out.key("why");
    out.null();
    out.end_map();
    out.text("plain words");
    out.end_list();
    out.key("none");
    out.begin_list();
    out.end_list();
    out.key("nothing");
    out.begin_map();
    out.end_map();
    out.end_map();
    EXPECT_EQ(out.finish(),
              "hosts:\n  - name: host-1\n    free: -5\n    why: ~\n  - plain words\n"
              "none:\n  []\nnothing:\n  {}\n");
}

/// What looks like another kind of value, or like YAML.
TEST(YamlWriter, TextsAreReadAsTheSameTexts) {
    const std::vector<std::string> texts{"",
                                         "true",
                                         "No",
                                         "on",
                                         "y",
                                         "null",
                                         "~",
                                         "123",
                                         "1e3",
                                         "0x1f",
                                         "-",
                                         ".inf",
                                         "NaN",
                                         "a: b",
                                         "a #b",
                                         "- a",
                                         "[a]",
                                         "{a: b}",
                                         "*a",
                                         "&a",
                                         "!a",
                                         "|",
                                         ">",
                                         "%a",
                                         "@a",
                                         "`a",
                                         "'a'",
                                         "\"a\"",
                                         "a\nb",
                                         "a\tb",
                                         " a",
                                         "a ",
                                         "\u00e9",
                                         "2026-11-01",
                                         "12:30:00",
                                         "a\\b",
                                         "a,b",
                                         "?",
                                         ": a",
                                         "---",
                                         "...",
                                         "a\rb",
                                         "\xe2\x80\xae",
                                         "\x7f",
                                         "a\x1b[2J",
                                         "<<",
                                         "=",
                                         "VCPU=4 MEMORY_MB=2048",
                                         "5e2d0c3a-0000-4000-8000-000000000001"};
    for (const std::string& text : texts) {
        const std::string written = one_text(text);
        const YAML::Node read = YAML::Load(written)["k"];
        ASSERT_TRUE(read.IsScalar()) << written;
        EXPECT_EQ(read.Scalar(), text) << written;
    }
}

TEST(YamlWriter, WhatIsNoTextToOthersIsQuoted) {
    for (const char* const text : {"true", "No", "on", "y", "null", "~", "123", "1e3", "0x1f",
                                   ".inf", "nan", "2026-11-01", "12:30:00", ""})
        EXPECT_EQ(one_text(text), "k: \"" + std::string{text} + "\"\n");
    EXPECT_EQ(one_text("host-1"), "k: host-1\n");
}

TEST(YamlWriter, NothingThatATerminalObeysStandsInTheDocument) {
    const std::string written = one_text("a\x1b[2J\x07\nb\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\x8b");
    EXPECT_EQ(written.find('\n'), written.size() - 1) << written;
    for (const char c : written)
        EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << int{c} << written;
}

TEST(YamlWriter, LettersOfOtherAlphabetsStay) {
    EXPECT_EQ(one_text("caf\u00e9"), "k: \"caf\u00e9\"\n");
}

}  // namespace
}  // namespace reaper::config::yaml_writer_test
