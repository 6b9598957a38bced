#include "config/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "reaper/model/time_text.hpp"

namespace reaper::config {
namespace {

using std::chrono::milliseconds;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// `host`, `host:port`, `[v6]:port`.
std::optional<std::string> authority_problem(std::string_view authority) {
    std::string_view port;
    std::string_view host = authority;
    if (!authority.empty() && authority.front() == '[') {
        const auto close = authority.find(']');
        if (close == std::string_view::npos) return "has an unclosed [ in its host";
        host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
        if (!port.empty() && port.front() != ':') return "has text after the ] of its host";
    } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
        host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (host.empty()) return "has no host";
    if (port.empty()) return std::nullopt;
    const auto number = integer_of(port.substr(1));
    if (!number || *number < 1 || *number > 65535) return "has a port that is not 1 to 65535";
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> fraction_of(std::string_view text) {
    double value = 0;
    const char* const past = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), past, value, std::chars_format::fixed);
    // It also knows words, such as `inf`.
    if (error != std::errc{} || end != past || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string fraction_text(double fraction) {
    std::array<char, 400> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), fraction,
                                       std::chars_format::fixed);
    return std::string{buffer.data(), written.ptr};
}

std::optional<milliseconds> duration_of(std::string_view text) {
    return parse_duration(text);
}

std::string duration_text(milliseconds duration) {
    return exact_duration(duration);
}

std::optional<std::string> url_problem(std::string_view url,
                                       const std::vector<std::string_view>& schemes,
                                       bool user_allowed) {
    const bool clean =
        std::none_of(url.begin(), url.end(), [](char c) { return c == ' ' || is_control(c); });
    if (!clean) return "has a space or a control character in it";
    const auto scheme = std::find_if(schemes.begin(), schemes.end(), [&](std::string_view known) {
        return url.starts_with(known) && url.substr(known.size()).starts_with("://");
    });
    if (scheme == schemes.end()) return "has another scheme";
    std::string_view rest = url.substr(scheme->size() + 3);
    rest = rest.substr(0, rest.find_first_of("/?#"));
    if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
        if (!user_allowed) return "carries user information, which does not belong here";
        rest = rest.substr(at + 1);
    }
    return authority_problem(rest);
}

std::string shown(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string safe{text.substr(0, longest)};
    std::replace_if(safe.begin(), safe.end(), is_control, '?');
    return "\"" + safe + (text.size() > longest ? "...\"" : "\"");
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string without_newline(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

}  // namespace reaper::config
