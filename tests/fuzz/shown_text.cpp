// Names and reasons from the cloud on a terminal: cells of tables and wrapped lines.
#include <algorithm>

#include "reaper/report/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

/// Nothing but what is seen: no controls (C1 in UTF-8, too), no change of direction.
void require_plain(std::string_view text, const char* allowed = "") {
    using reaper::fuzz::require;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool control = byte < 0x20 || byte == 0x7f;
        require(!control || std::string_view(allowed).find(text[at]) != std::string_view::npos,
                "no control character is shown", text);
        const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
        require(byte != 0xc2 || next >= 0xa0, "no C1 control character is shown", text);
    }
    for (const std::string_view hidden : {"\u202e", "\u2066", "\u200b", "\ufeff", "\u2028"})
        require(text.find(hidden) == std::string_view::npos, "nothing hides or turns", text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::report;
    const auto text = fuzz::text_of(data, size);
    const std::string clean = safe(text);
    require_plain(clean);
    fuzz::require(safe(clean) == clean, "what is safe stays as it is", clean);
    for (const std::size_t width : {std::size_t(0), std::size_t(1), std::size_t(20)}) {
        const std::string cut = shortened(clean, width);
        fuzz::require(columns(cut) <= std::max<std::size_t>(width, 3), "it fits its width", cut);
        require_plain(cut);
    }
    require_plain(wrapped(text, 2, 40), "\n");
    TextTable table({{"NAME"}, {"SIZE", TextTable::Align::right}, {"WHY"}});
    const auto third = text.size() / 3;
    table.row({std::string(text.substr(0, third)), std::string(text.substr(third, third)),
               std::string(text.substr(2 * third))});
    table.note(std::string(text));
    require_plain(table.text(2, 60, Paint(false)), "\n");
    return 0;
}
