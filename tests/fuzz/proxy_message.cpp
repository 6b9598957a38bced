// What the proxy reads of its clients and of its upstream: heads, framing, chunks, targets.
#include <algorithm>
#include <cstring>

#include "clients/http_proxy/message.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace reaper;
using namespace reaper::proxy;

/// What comes of a message that arrives in pieces of `step` bytes.
template <bool is_request>
struct Read {
    MessageReader<is_request> reader;
    std::string body;
    bool has_head = false;

    Read(std::string_view text, std::size_t step) {
        Input input;
        while (!text.empty() && !reader.done() && !reader.bad()) {
            const auto room = input.room();
            const auto piece = text.substr(0, std::min({step, text.size(), room.size()}));
            std::memcpy(room.data(), piece.data(), piece.size());
            input.commit(piece.size());
            text.remove_prefix(piece.size());
            has_head = has_head || reader.read_head(input);
            if (has_head) body += reader.read_body(input);
        }
    }
};

/// However it is cut, it is the same message.
template <bool is_request>
Read<is_request> read_in_pieces(std::string_view text) {
    Read<is_request> whole(text, std::max<std::size_t>(text.size(), 1));
    for (const std::size_t step : {1U, 3U, 7U}) {
        const Read<is_request> pieces(text, step);
        fuzz::require(pieces.has_head == whole.has_head && pieces.body == whole.body &&
                          pieces.reader.done() == whole.reader.done() &&
                          pieces.reader.bad().has_value() == whole.reader.bad().has_value(),
                      "pieces change nothing");
    }
    return whole;
}

/// What we pass on, the next reader understands as we did.
void check_request(std::string_view text) {
    const auto read = read_in_pieces<true>(text);
    if (!read.has_head) return;
    const RequestHead& head = read.reader.head();
    std::string passed = head.method + " " + head.target + " HTTP/1." + std::to_string(head.minor);
    passed += "\r\n";
    append_end_to_end(passed, head.headers);
    const Framing& framing = read.reader.framing();
    if (framing.kind == Framing::Kind::chunked)
        append_header(passed, "Transfer-Encoding", "chunked");
    passed += "\r\n";
    const Read<true> again(passed, passed.size());
    fuzz::require(again.has_head, "a head that is passed on can be read");
    const RequestHead& second = again.reader.head();
    fuzz::require(second.target == head.target && second.method == head.method &&
                      end_to_end(second.headers) == end_to_end(head.headers),
                  "a head is passed on as it came");
    fuzz::require(again.reader.framing().kind == framing.kind &&
                      again.reader.framing().length == framing.length,
                  "a body keeps its length");
    fuzz::require_one_line(shown(head.target));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    check_request(text);
    if (const auto read = read_in_pieces<false>(text); read.has_head) {
        const AnswerHead& head = read.reader.head();
        fuzz::require(head.status >= 100 && head.status <= 999, "a status has three digits");
        fuzz::require(head.reason.find_first_of("\r\n") == std::string::npos, "a reason is a line");
    }
    const PathPrefixes prefixes{"/a", "/b/c"};
    if (const auto target = upstream_target(prefixes, text); target && text.starts_with('/'))
        fuzz::require(target->starts_with("/b/c"), "a target stays under the prefix");
    return 0;
}
