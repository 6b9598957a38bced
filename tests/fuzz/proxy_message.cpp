// What the proxy reads of its clients and of its upstream: heads, framing, chunks, targets.
#include <algorithm>

#include "clients/http_proxy/body_decoder.hpp"
#include "clients/http_proxy/header_rules.hpp"
#include "clients/http_proxy/target.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace reaper;
using namespace reaper::proxy;

std::string written(const RequestHead& head) {
    std::string text = head.method + " " + head.target + " HTTP/1." + std::to_string(head.minor);
    text += "\r\n";
    append_end_to_end(text, head.headers);
    return text += "\r\n";
}

/// What we pass on, the next reader understands as we did.
void check_request(std::string_view text) {
    HeadSearch search;
    if (search.look(text) != HeadSearch::State::whole) return;
    const auto parsed = parse_request_head(text.substr(0, search.end()));
    const auto* const head = std::get_if<RequestHead>(&parsed);
    if (head == nullptr) return;
    const std::string passed = written(*head);
    HeadSearch again;
    fuzz::require(again.look(passed) == HeadSearch::State::whole && again.end() == passed.size(),
                  "a head that is passed on ends where it ends");
    const auto reread = parse_request_head(passed);
    const auto* const second = std::get_if<RequestHead>(&reread);
    fuzz::require(second != nullptr, "a head that is passed on can be read");
    fuzz::require(second->target == head->target && second->method == head->method &&
                      second->headers == end_to_end(head->headers),
                  "a head is passed on as it came");
    const auto framing = framing_of(*head);
    const auto* const good = std::get_if<Framing>(&framing);
    if (good != nullptr && good->kind == Framing::Kind::length) {
        const auto same = framing_of(*second);
        const auto* const kept = std::get_if<Framing>(&same);
        fuzz::require(kept != nullptr && kept->length == good->length, "a body keeps its length");
    }
    fuzz::require_one_line(shown(head->target));
}

struct Outcome {
    std::string body;
    std::size_t consumed = 0;
    bool bad = false, done = false;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome decoded(std::string_view text, std::size_t step) {
    BodyDecoder decoder{{Framing::Kind::chunked, 0}};
    Outcome outcome;
    std::string kept;
    for (std::size_t at = 0; at < text.size() && !outcome.bad && !outcome.done; at += step) {
        kept = text.substr(at, step);
        const auto piece = decoder.decode(kept);
        fuzz::require(piece.body <= piece.consumed && piece.consumed <= kept.size(),
                      "a decoder takes what is there");
        outcome.body += kept.substr(0, piece.body);
        outcome.consumed += piece.consumed;
        outcome.bad = piece.bad;
        outcome.done = decoder.done();
    }
    return outcome;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    check_request(text);
    if (const auto parsed = parse_answer_head(text); std::holds_alternative<AnswerHead>(parsed)) {
        const auto& head = std::get<AnswerHead>(parsed);
        fuzz::require(head.status >= 100 && head.status <= 999, "a status has three digits");
        fuzz::require(head.reason.find_first_of("\r\n") == std::string::npos, "a reason is a line");
    }
    const Outcome whole = decoded(text, std::max<std::size_t>(text.size(), 1));
    for (const std::size_t step : {1U, 3U, 7U})
        fuzz::require(decoded(text, step) == whole, "pieces change nothing");
    const PathPrefixes prefixes{"/a", "/b/c"};
    if (const auto target = upstream_target(prefixes, text); target && text.starts_with('/'))
        fuzz::require(target->starts_with("/b/c"), "a target stays under the prefix");
    return 0;
}
