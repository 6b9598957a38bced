#include "clients/http_proxy/message.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "reaper/ports/url.hpp"

namespace reaper::proxy {

namespace {

/// Where the path begins: behind the authority of an absolute URL.
std::size_t path_start(std::string_view target) {
    if (target.starts_with('/')) return 0;
    const auto authority = target.find("://");
    if (authority == std::string_view::npos) return std::string_view::npos;
    const auto path = target.find_first_of("/?", authority + 3);
    return path == std::string_view::npos ? target.size() : path;
}

/// `.` or `..`, however it is written: behind it the path may lead out of the prefix.
bool is_dots(std::string_view segment) {
    std::size_t dots = 0;
    while (!segment.empty()) {
        const bool escaped = segment.starts_with("%2e") || segment.starts_with("%2E");
        if (!escaped && segment.front() != '.') return false;
        segment.remove_prefix(escaped ? 3 : 1);
        ++dots;
    }
    return dots == 1 || dots == 2;
}

bool has_dots(std::string_view path) {
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        if (is_dots(path.substr(0, slash))) return true;
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return false;
}

}  // namespace

std::string path_prefix(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    while (path.starts_with('/')) path.remove_prefix(1);
    return path.empty() ? "" : "/" + std::string(path);
}

std::optional<std::string> upstream_target(const PathPrefixes& prefixes, std::string_view target) {
    const auto start = path_start(target);
    if (start == std::string_view::npos) return std::string(target);  // `*`
    const auto rest = target.substr(start);
    if (!rest.starts_with(prefixes.ours)) return std::nullopt;
    const auto behind = rest.substr(prefixes.ours.size());
    if (!prefixes.ours.empty() && !behind.empty() && behind.front() != '/' && behind.front() != '?')
        return std::nullopt;
    const bool bounded = !prefixes.ours.empty() || !prefixes.upstream.empty();
    if (bounded && has_dots(behind.substr(0, behind.find('?')))) return std::nullopt;
    if (prefixes.ours == prefixes.upstream) return std::string(target);
    std::string mapped(target.substr(0, start));
    mapped += prefixes.upstream;
    if (prefixes.upstream.empty() && !behind.starts_with('/')) mapped += '/';
    mapped += behind;
    return mapped;
}

std::string shown(std::string_view target) {
    // An authority may have a password.
    if (const auto start = path_start(target); start != std::string_view::npos)
        target.remove_prefix(start);
    const auto mark = target.find('?');
    http::Url url;
    url.path = target.substr(0, mark);
    if (mark != std::string_view::npos) url.query = target.substr(mark + 1);
    return http::shown_target(url);
}

namespace {

namespace beast = boost::beast;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_version(std::string_view text) {
    return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
           is_digit(text[7]);
}

bool is_target(std::string_view text, std::string_view method) {
    if (text == "*") return method == "OPTIONS";
    return text.starts_with('/') || text.starts_with("http://") || text.starts_with("https://");
}

constexpr std::array<std::string_view, 6> of_the_connection{
    "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade"};
constexpr std::array<std::string_view, 3> never_dropped{"Content-Length", "Host", "Expect"};

bool is_one_of(std::string_view name, const auto& names) {
    return std::ranges::any_of(names,
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

bool is_hop_by_hop(std::string_view name) {
    return is_one_of(name, of_the_connection) || is_same_name(name.substr(0, 6), "proxy-");
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

boost::asio::mutable_buffer Input::room() {
    constexpr std::size_t first = 4 * 1024;
    constexpr std::size_t further = 16 * 1024;
    return prepare(std::min(capacity() == 0 ? first : further, max_size() - size()));
}

template <bool is_request>
MessageReader<is_request>::MessageReader(bool to_head) {
    this->header_limit(max_head);
    this->body_limit(boost::none);
    this->skip(to_head);
}

template <bool is_request>
bool MessageReader<is_request>::read_head(Input& input) {
    const bool whole = ends_in(input.text());
    if (!whole && !bad_ && input.full()) bad_ = BadMessage{431, "the head is too large"};
    if (!whole || bad_) return false;
    while (!this->is_header_done() && !bad_) {
        Code code;
        const std::size_t taken = this->put(input.cdata(), code);
        if (code) explain(code, input.text());
        input.consume(taken);
    }
    has_head_ = true;
    if (!bad_) judge_head();
    if (!bad_) judge_framing();
    this->eager(true);
    return !bad_;
}

/// Beast unfolds lines, and waits for more of a line that does not end as it should.
template <bool is_request>
bool MessageReader<is_request>::ends_in(std::string_view text) {
    for (auto at = text.find('\n', checked_); at != text.npos; at = text.find('\n', at + 1)) {
        checked_ = at;
        if (at == 0 || text[at - 1] != '\r')
            bad_ = BadMessage{400, "a line does not end with CR LF"};
        else if (text.substr(0, at + 1).ends_with("\r\n\r\n"))
            return true;
        else if (at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\t'))
            bad_ = BadMessage{400, "a header goes on in a second line"};
        if (bad_) return false;
    }
    return false;
}

template <bool is_request>
void MessageReader<is_request>::explain(const Code& code, std::string_view text) {
    using beast::http::error;
    const auto line = text.substr(0, text.find("\r\n"));
    const auto space = line.rfind(' ');
    const bool other_version = code == error::bad_version && space != line.npos &&
                               is_version(line.substr(space + 1)) && line[space + 6] != '1';
    if (is_request && other_version)
        bad_ = BadMessage{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    else if (code == error::header_limit)
        bad_ = BadMessage{431, "the head is too large"};
    else
        bad_ = BadMessage{400, "this is not HTTP: " + code.message()};
}

template <bool is_request>
void MessageReader<is_request>::judge_head() {
    if (head_.headers.size() > max_headers) {
        bad_ = BadMessage{431, "there are too many headers"};
        return;
    }
    if constexpr (is_request) {
        const auto hosts = values_of(head_.headers, "Host").size();
        if (head_.method == "CONNECT")
            bad_ = BadMessage{501, "there are no tunnels here"};
        else if (!is_target(head_.target, head_.method))
            bad_ = BadMessage{400, "the target of the request is no path"};
        else if (hosts > 1)
            bad_ = BadMessage{400, "the request has several Host headers"};
        else if (hosts == 0 && head_.minor == 1)
            bad_ = BadMessage{400, "the request has no Host header"};
    } else if (head_.status < 100) {
        bad_ = BadMessage{502, "this is no HTTP answer"};
    }
}

template <bool is_request>
void MessageReader<is_request>::judge_framing() {
    const auto lengths = values_of(head_.headers, "Content-Length");
    const auto codings = values_of(head_.headers, "Transfer-Encoding");
    const auto bad = [this](int status, const char* why) { bad_ = BadMessage{status, why}; };
    if (!codings.empty() && !lengths.empty())
        return bad(400, "there are both Content-Length and Transfer-Encoding");
    if (codings.size() > 1) return bad(400, "there are several Transfer-Encoding headers");
    if (lengths.size() > 1) return bad(400, "there are several Content-Length headers");
    if (!codings.empty() && !is_same_name(codings.front(), "chunked"))
        return bad(501, "no Transfer-Encoding but chunked is understood");
    if (!codings.empty() && head_.minor == 0)
        return bad(400, "HTTP/1.0 knows no Transfer-Encoding");
    if (!lengths.empty() && !std::all_of(lengths.front().begin(), lengths.front().end(), is_digit))
        return bad(400, "Content-Length is no number");
    if (done()) return;
    if (!codings.empty())
        framing_.kind = Framing::Kind::chunked;
    else if (!lengths.empty())
        framing_ = {Framing::Kind::length, this->content_length().value_or(0)};
    else
        framing_.kind = Framing::Kind::until_close;
}

template <bool is_request>
std::string_view MessageReader<is_request>::read_body(Input& input) {
    body_.clear();
    if (input.empty() || done() || bad_) return body_;
    // Beast's assertions want the last chunk, which has five bytes, in one piece.
    const bool last_begins = left_ == 0 && input.text().starts_with('0') && input.size() < 5;
    if (framing_.kind == Framing::Kind::chunked && last_begins) return body_;
    Code code;
    const std::size_t taken = this->put(input.cdata(), code);
    const bool stuck = code == beast::http::error::need_more && taken == 0 && input.full();
    input.consume(taken);
    // A chunk ends with CR LF. Beast looks at it only together with what follows.
    const bool no_end =
        after_chunk_ && left_ == 0 && !done() && !input.empty() && !input.text().starts_with('\r');
    if (stuck || no_end || (code && code != beast::http::error::need_more))
        bad_ = BadMessage{400, "the chunks of the body are broken"};
    return body_;
}

template <bool is_request>
bool MessageReader<is_request>::end_with_connection() {
    if (framing_.kind != Framing::Kind::until_close) return false;
    Code code;
    this->put_eof(code);
    return !code;
}

template <bool is_request>
void MessageReader<is_request>::on_request_impl(beast::http::verb, Text method, Text target,
                                                int version, Code&) {
    if constexpr (is_request) {
        head_.method.assign(method.data(), method.size());
        head_.target.assign(target.data(), target.size());
        head_.minor = version % 10;
    }
}

template <bool is_request>
void MessageReader<is_request>::on_response_impl(int status, Text reason, int version, Code&) {
    if constexpr (!is_request) {
        head_.status = status;
        head_.reason.assign(reason.data(), reason.size());
        head_.minor = version % 10;
    }
}

template <bool is_request>
void MessageReader<is_request>::on_field_impl(beast::http::field, Text name, Text value, Code&) {
    // Those behind the body are trailers.
    if (!has_head_)
        head_.headers.emplace_back(std::string(name.data(), name.size()),
                                   std::string(value.data(), value.size()));
}

template <bool is_request>
std::size_t MessageReader<is_request>::on_body_impl(Text bytes, Code&) {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
}

template <bool is_request>
void MessageReader<is_request>::on_chunk_header_impl(std::uint64_t size, Text, Code&) {
    left_ = size;
    after_chunk_ = true;
}

template <bool is_request>
std::size_t MessageReader<is_request>::on_chunk_body_impl(std::uint64_t, Text bytes, Code&) {
    left_ -= bytes.size();
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
}

template class MessageReader<true>;
template class MessageReader<false>;

bool is_same_name(std::string_view one, std::string_view other) {
    return beast::iequals({one.data(), one.size()}, {other.data(), other.size()});
}

std::vector<std::string_view> values_of(const HttpHeaders& headers, std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& [key, value] : headers)
        if (is_same_name(key, name)) values.push_back(value);
    return values;
}

std::string chunk_head(std::size_t size) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16);
    return std::string(digits.data(), end) + "\r\n";
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

std::string_view usual_reason(int status) {
    const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
    if (known == boost::beast::http::status::unknown) return {};
    const auto words = boost::beast::http::obsolete_reason(known);
    return {words.data(), words.size()};
}

OwnAnswer error_answer(int status, std::string_view detail) {
    nlohmann::json error = {
        {"status", status}, {"title", usual_reason(status)}, {"detail", detail}};
    // Nova reads it of a claim's refusal, whatever the status.
    if (status == 503) error["code"] = "reaper.not_sent";
    const nlohmann::json document = {{"errors", nlohmann::json::array({error})}};
    OwnAnswer answer;
    answer.status = status;
    answer.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}};
    answer.body = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    return answer;
}

int status_of(Errc code) {
    switch (code) {
        case Errc::timeout: return 504;
        case Errc::bad_answer: return 502;
        case Errc::bad_input: return 500;
        default: return 503;
    }
}

Errc code_of(const http::Failure& failure) {
    const bool broke = failure.sent && failure.code == Errc::unreachable;
    return broke ? Errc::bad_answer : failure.code;
}

int status_of(const http::Failure& failure) {
    return status_of(code_of(failure));
}

}  // namespace reaper::proxy
