// Nova's notifications of changes: read only as far as needed, with memory that is used again.
#include "reaper/notifications/cloud_event_parser.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    static CloudEventParser used_before;
    CloudEventParser fresh;
    const auto text = fuzz::text_of(data, size);
    const ParsedEvent first = used_before.parse(text);
    const ParsedEvent second = fresh.parse(text);
    fuzz::require(first == second, "what was read before changes nothing");
    if (const auto* bad = std::get_if<Malformed>(&second)) fuzz::require_one_line(bad->reason);
    return 0;
}
