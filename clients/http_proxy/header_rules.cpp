#include "clients/http_proxy/header_rules.hpp"

#include <algorithm>
#include <array>

namespace reaper::proxy {

namespace {

constexpr std::array<std::string_view, 6> of_the_connection{
    "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade"};
constexpr std::array<std::string_view, 3> never_dropped{"Content-Length", "Host", "Expect"};

bool is_one_of(std::string_view name, const auto& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view each) { return is_same_name(name, each); });
}

/// `a, b ,c` as its parts.
std::vector<std::string_view> parts_of(std::string_view list) {
    std::vector<std::string_view> parts;
    while (!list.empty()) {
        auto part = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), part.size() + 1));
        const auto from = part.find_first_not_of(" \t");
        if (from == std::string_view::npos) continue;
        parts.push_back(part.substr(from, part.find_last_not_of(" \t") - from + 1));
    }
    return parts;
}

std::vector<std::string_view> connection_options(const HttpHeaders& headers) {
    std::vector<std::string_view> options;
    for (const auto value : values_of(headers, "Connection"))
        for (const auto part : parts_of(value)) options.push_back(part);
    return options;
}

void each_end_to_end(const HttpHeaders& headers, const auto& told) {
    const auto named = connection_options(headers);
    for (const auto& header : headers) {
        const std::string_view name = header.first;
        if (is_hop_by_hop(name)) continue;
        if (!named.empty() && is_one_of(name, named) && !is_one_of(name, never_dropped)) continue;
        told(header);
    }
}

}  // namespace

bool is_hop_by_hop(std::string_view name) {
    return is_one_of(name, of_the_connection) || is_same_name(name.substr(0, 6), "proxy-");
}

HttpHeaders end_to_end(const HttpHeaders& headers) {
    HttpHeaders kept;
    each_end_to_end(headers, [&](const auto& header) { kept.push_back(header); });
    return kept;
}

void append_end_to_end(std::string& text, const HttpHeaders& headers) {
    each_end_to_end(headers,
                    [&](const auto& header) { append_header(text, header.first, header.second); });
}

bool keeps_connection(int minor, const HttpHeaders& headers) {
    const auto options = connection_options(headers);
    if (is_one_of("close", options)) return false;
    return minor == 1 || is_one_of("keep-alive", options);
}

bool expects_continue(const RequestHead& head) {
    if (head.minor == 0) return false;
    const auto values = values_of(head.headers, "Expect");
    return values.size() == 1 && is_same_name(values.front(), "100-continue");
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace reaper::proxy
