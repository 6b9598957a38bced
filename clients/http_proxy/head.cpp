#include "clients/http_proxy/head.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace reaper::proxy {

namespace {

constexpr std::string_view line_end = "\r\n";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// RFC 9110, 5.6.2.
bool is_token_char(char c) {
    if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

bool is_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return is_control(c) && c != '\t'; });
}

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Cuts the first line off; none: there is no more.
std::optional<std::string_view> next_line(std::string_view& text) {
    const auto end = text.find(line_end);
    if (end == std::string_view::npos) return std::nullopt;
    const auto line = text.substr(0, end);
    text.remove_prefix(end + line_end.size());
    return line;
}

std::optional<BadMessage> parse_headers(std::string_view text, HttpHeaders& headers) {
    headers.reserve(16);
    for (auto line = next_line(text); line && !line->empty(); line = next_line(text)) {
        if (headers.size() == max_headers) return BadMessage{431, "there are too many headers"};
        if (line->front() == ' ' || line->front() == '\t')
            return BadMessage{400, "a header goes on in a second line"};
        const auto colon = line->find(':');
        if (colon == std::string_view::npos) return BadMessage{400, "a header has no colon"};
        const auto name = line->substr(0, colon);
        const auto value = trimmed(line->substr(colon + 1));
        if (!is_token(name)) return BadMessage{400, "the name of a header is no token"};
        if (!is_value(value))
            return BadMessage{400, "the value of a header has control characters"};
        headers.emplace_back(name, value);
    }
    return std::nullopt;
}

/// `HTTP/1.0` and what is compatible with `HTTP/1.1`.
std::optional<int> minor_of(std::string_view version) {
    if (version.size() != 8 || !version.starts_with("HTTP/1.") || !is_digit(version[7]))
        return std::nullopt;
    return version[7] == '0' ? 0 : 1;
}

bool is_version(std::string_view text) {
    return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
           is_digit(text[7]);
}

bool is_target(std::string_view text, std::string_view method) {
    const bool visible =
        std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) || c == ' '; });
    if (!visible) return false;
    if (text == "*") return method == "OPTIONS";
    return text.starts_with('/') || text.starts_with("http://") || text.starts_with("https://");
}

std::optional<BadMessage> parse_request_line(std::string_view line, RequestHead& head) {
    const auto first = line.find(' ');
    const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) return BadMessage{400, "this is no HTTP request"};
    const auto method = line.substr(0, first);
    const auto target = line.substr(first + 1, second - first - 1);
    const auto version = line.substr(second + 1);
    if (!is_token(method) || !is_version(version))
        return BadMessage{400, "this is no HTTP request"};
    const auto minor = minor_of(version);
    if (!minor) return BadMessage{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    if (method == "CONNECT") return BadMessage{501, "there are no tunnels here"};
    if (!is_target(target, method)) return BadMessage{400, "the target of the request is no path"};
    head.method = method;
    head.target = target;
    head.minor = *minor;
    return std::nullopt;
}

std::optional<BadMessage> parse_status_line(std::string_view line, AnswerHead& head) {
    const BadMessage no_answer{502, "this is no HTTP answer"};
    const auto minor = minor_of(line.substr(0, 8));
    if (!minor || line.size() < 12 || line[8] != ' ') return no_answer;
    const auto code = line.substr(9, 3);
    const auto [stop, error] = std::from_chars(code.data(), code.data() + 3, head.status);
    if (error != std::errc{} || stop != code.data() + 3 || head.status < 100) return no_answer;
    if (line.size() > 12 && line[12] != ' ') return no_answer;
    head.minor = *minor;
    if (line.size() > 13) head.reason = line.substr(13);
    if (!is_value(head.reason)) return no_answer;
    return std::nullopt;
}

}  // namespace

HeadSearch::State HeadSearch::look(std::string_view bytes) {
    for (auto feed = bytes.find('\n', seen_); feed != std::string_view::npos;
         feed = bytes.find('\n', seen_)) {
        if (feed == line_ || bytes[feed - 1] != '\r') return State::bad;
        seen_ = feed + 1;
        if (feed == line_ + 1) {
            end_ = seen_;
            return State::whole;
        }
        line_ = seen_;
    }
    seen_ = bytes.size();
    return State::more;
}

std::variant<RequestHead, BadMessage> parse_request_head(std::string_view text) {
    RequestHead head;
    const auto line = next_line(text);
    if (!line) return BadMessage{400, "this is no HTTP request"};
    if (auto bad = parse_request_line(*line, head)) return std::move(*bad);
    if (auto bad = parse_headers(text, head.headers)) return std::move(*bad);
    const auto hosts = values_of(head.headers, "Host").size();
    if (hosts > 1) return BadMessage{400, "the request has several Host headers"};
    if (hosts == 0 && head.minor == 1) return BadMessage{400, "the request has no Host header"};
    return head;
}

std::variant<AnswerHead, BadMessage> parse_answer_head(std::string_view text) {
    AnswerHead head;
    const auto line = next_line(text);
    if (!line) return BadMessage{502, "this is no HTTP answer"};
    if (auto bad = parse_status_line(*line, head)) return std::move(*bad);
    if (auto bad = parse_headers(text, head.headers)) return BadMessage{502, std::move(bad->why)};
    return head;
}

bool is_same_name(std::string_view one, std::string_view other) {
    return one.size() == other.size() &&
           std::equal(one.begin(), one.end(), other.begin(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string_view> values_of(const HttpHeaders& headers, std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& [key, value] : headers)
        if (is_same_name(key, name)) values.push_back(value);
    return values;
}

}  // namespace reaper::proxy
