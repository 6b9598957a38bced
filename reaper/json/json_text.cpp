#include "reaper/json/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using nlohmann::json;

constexpr std::size_t longest_name = 64;

/// Of the byte, counted from 1.
std::string place_of(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto last = before.rfind('\n');
    const std::size_t column = before.size() - (last == before.npos ? 0 : last + 1) + 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Finds members that are there twice, as the text is read.
class Twice {
public:
    void see(json::parse_event_t event, const json& value) {
        if (event == json::parse_event_t::object_start) names_.emplace_back();
        if (event == json::parse_event_t::object_end) names_.pop_back();
        if (event != json::parse_event_t::key) return;
        const auto& name = value.get_ref<const std::string&>();
        if (!names_.back().insert(name).second && !found_) found_ = name;
    }
    const std::optional<std::string>& found() const { return found_; }

private:
    std::vector<std::set<std::string>> names_;
    std::optional<std::string> found_;
};

/// `slaveId=...&resources=...`
bool is_form(std::string_view text) {
    const auto end = text.find_first_of("={[\"\n ");
    return end != text.npos && end > 0 && text[end] == '=';
}

bool is_of_mesos(const json& document) {
    return document.contains("slaveId") || document.contains("agent_id") ||
           document.contains("reserve_resources") || document.contains("unreserve_resources");
}

/// Of the escape `\uXXXX` at this place; 0 if it is another one, or none.
std::uint32_t escaped_code(std::string_view text, std::size_t at) {
    const std::string_view escape = text.substr(at, 6);
    if (escape.size() < 6 || !escape.starts_with("\\u")) return 0;
    std::uint32_t code = 0;
    const char* const end = escape.data() + escape.size();
    return std::from_chars(escape.data() + 2, end, code, 16).ptr == end ? code : 0;
}

bool is_high_half(std::uint32_t code) {
    return code >= 0xd800 && code < 0xdc00;
}

bool is_low_half(std::uint32_t code) {
    return code >= 0xdc00 && code < 0xe000;
}

}  // namespace

bool is_too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size() && depth <= max_json_depth; ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return depth > max_json_depth;
}

std::string_view without_lone_surrogates(std::string_view text, std::string& copy) {
    constexpr std::size_t length = 6;
    bool copied = false;
    for (std::size_t at = text.find('\\'); at != text.npos; at = text.find('\\', at)) {
        const std::uint32_t code = escaped_code(text, at);
        if (is_high_half(code) && is_low_half(escaped_code(text, at + length))) {
            at += 2 * length;
        } else if (is_high_half(code) || is_low_half(code)) {
            if (!std::exchange(copied, true)) copy = text;
            copy.replace(at, length, "\\ufffd");
            at += length;
        } else {
            at += 2;
        }
    }
    return copied ? copy : text;
}

json parse_bounded(std::string_view text) {
    if (is_too_deep(text)) return json::value_t::discarded;
    std::string copy;
    return json::parse(without_lone_surrogates(text, copy), nullptr, false);
}

Result<json> parse_json(const std::string& text) {
    if (is_too_deep(text))
        return Error{Errc::bad_input, "nested too deeply: expected at most " +
                                          std::to_string(max_json_depth) + " levels"};
    Twice twice;
    try {
        json document = json::parse(text, [&](int, json::parse_event_t event, json& value) {
            twice.see(event, value);
            return true;
        });
        if (!twice.found()) return {boost::system::in_place_value, std::move(document)};
        return Error{Errc::bad_input, "member " +
                                          in_quotes(printable(*twice.found(), longest_name)) +
                                          " is there twice: keep one of the two"};
    } catch (const json::parse_error& wrong) {
        const std::size_t byte = std::min(wrong.byte, text.size() + 1);
        const bool over = byte > text.size();
        std::string what = place_of(text, byte) + ": not JSON: ";
        what += over ? "it ends too early"
                     : "unexpected " + in_quotes(printable(text.substr(byte - 1, 1), longest_name));
        return Error{Errc::bad_input, std::move(what)};
    } catch (const json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

Result<json> parse_body(const std::string& body, const std::string& example) {
    const std::string instead = example.empty() ? "" : ", as " + example;
    if (trimmed(body).empty())
        return Error{Errc::bad_input, "the body: is empty; expected an object" + instead};
    if (is_form(body))
        return Error{Errc::bad_input, "the body: is a form; expected JSON" + instead};
    auto document = parse_json(body);
    if (!document) return Error{Errc::bad_input, "the body: " + document.error().what};
    if (!document->is_object())
        return Error{Errc::bad_input, "the body: expected an object" + instead};
    if (!example.empty() && is_of_mesos(*document))
        return Error{Errc::bad_input, "the body: is a call of Mesos; expected JSON" + instead};
    return document;
}

}  // namespace reaper
