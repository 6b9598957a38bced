#include "clients/http_proxy/framing.hpp"

#include <charconv>
#include <optional>

namespace reaper::proxy {

namespace {

std::optional<std::uint64_t> length_of(std::string_view text) {
    std::uint64_t length = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, length);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return length;
}

/// None: neither header says anything.
std::variant<std::optional<Framing>, BadMessage> framing_told(const HttpHeaders& headers) {
    using Kind = Framing::Kind;
    const auto lengths = values_of(headers, "Content-Length");
    const auto codings = values_of(headers, "Transfer-Encoding");
    if (!codings.empty() && !lengths.empty())
        return BadMessage{400, "there are both Content-Length and Transfer-Encoding"};
    if (codings.size() > 1) return BadMessage{400, "there are several Transfer-Encoding headers"};
    if (lengths.size() > 1) return BadMessage{400, "there are several Content-Length headers"};
    if (!codings.empty()) {
        if (!is_same_name(codings.front(), "chunked"))
            return BadMessage{501, "no Transfer-Encoding but chunked is understood"};
        return Framing{Kind::chunked, 0};
    }
    if (lengths.empty()) return std::nullopt;
    const auto length = length_of(lengths.front());
    if (!length) return BadMessage{400, "Content-Length is no number"};
    return Framing{*length == 0 ? Kind::none : Kind::length, *length};
}

}  // namespace

std::variant<Framing, BadMessage> framing_of(const RequestHead& head) {
    auto told = framing_told(head.headers);
    if (auto* bad = std::get_if<BadMessage>(&told)) return std::move(*bad);
    const auto& framing = std::get<std::optional<Framing>>(told);
    if (!framing) return Framing{};
    if (framing->kind == Framing::Kind::chunked && head.minor == 0)
        return BadMessage{400, "HTTP/1.0 knows no Transfer-Encoding"};
    return *framing;
}

std::variant<Framing, BadMessage> framing_of(const AnswerHead& head, bool to_head) {
    auto told = framing_told(head.headers);
    if (auto* bad = std::get_if<BadMessage>(&told)) return BadMessage{502, std::move(bad->why)};
    const bool no_body = to_head || head.status < 200 || head.status == 204 || head.status == 304;
    if (no_body) return Framing{};
    const auto& framing = std::get<std::optional<Framing>>(told);
    if (!framing) return Framing{Framing::Kind::until_close, 0};
    if (framing->kind == Framing::Kind::chunked && head.minor == 0)
        return BadMessage{502, "HTTP/1.0 knows no Transfer-Encoding"};
    return *framing;
}

}  // namespace reaper::proxy
