#include "config/yaml_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <yaml-cpp/yaml.h>

#include "reaper/model/text.hpp"

namespace reaper::config {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// YAML 1.1 has more words for truth than 1.2.
bool is_word_of_yaml(std::string_view text) {
    constexpr std::array<std::string_view, 10> words{"true", "false", "yes",  "no",  "on",
                                                     "off",  "y",     "null", "nan", "n"};
    return std::ranges::find(words, to_lower(text)) != words.end();
}

/// Can it stand without quotes, and be read as a text?
bool is_plain(const std::string& text) {
    if (text.empty() || !is_letter(text.front()) || text.back() == ' ' || is_word_of_yaml(text))
        return false;
    return std::ranges::all_of(text, [](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') ||
               std::string_view{" _-./+="}.find(c) != std::string_view::npos;
    });
}

/// Only a quoted text can hold it.
std::string escape_of(char32_t value) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), value < 0x10000 ? "\\u%04x" : "\\U%08x",
                  static_cast<unsigned>(value));
    return text.data();
}

}  // namespace

YamlWriter::YamlWriter() : out_(std::make_unique<YAML::Emitter>()) {}
YamlWriter::~YamlWriter() = default;

void YamlWriter::begin_map() {
    *out_ << YAML::BeginMap;
}
void YamlWriter::end_map() {
    *out_ << YAML::EndMap;
}
void YamlWriter::begin_list() {
    *out_ << YAML::BeginSeq;
}
void YamlWriter::end_list() {
    *out_ << YAML::EndSeq;
}

void YamlWriter::key(const std::string& name) {
    *out_ << YAML::Key;
    text(name);
    *out_ << YAML::Value;
}

void YamlWriter::text(const std::string& value) {
    if (is_plain(value)) {
        *out_ << value;
        return;
    }
    *out_ << YAML::DoubleQuoted << value;
}

void YamlWriter::plain(const std::string& value) {
    *out_ << value;
}

void YamlWriter::null() {
    *out_ << YAML::Null;
}

std::string YamlWriter::finish() const {
    std::string document;
    for (std::string_view rest{out_->c_str()}; !rest.empty();) {
        const Character next = first_character(rest);
        const std::size_t size = std::max<std::size_t>(next.size, 1);
        if (rest.front() != '\n' && next.size > 0 && is_invisible(next.value))
            document += escape_of(next.value);
        else
            document += rest.substr(0, size);
        rest.remove_prefix(size);
    }
    return document + "\n";
}

}  // namespace reaper::config
