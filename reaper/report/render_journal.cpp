// Holds and totals.
#include "reaper/model/time_text.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

std::string word(const std::string& text) {
    return text;
}

template <class Kind>
std::string word(Kind kind) {
    return std::string{to_string(kind)};
}

/// `freed 3, refused 1`; a dash for nothing.
std::string counts_line(const auto& counts) {
    std::string line;
    for (const auto& [what, count] : counts)
        line += (line.empty() ? "" : ", ") + word(what) + " " + std::to_string(count);
    return line.empty() ? "-" : line;
}

}  // namespace

std::string render_holds(const std::vector<InventoryHold>& holds, const RenderOptions& options) {
    if (holds.empty()) return "No holds.\n";
    TextTable table{{{"SINCE"}, {"HOST"}, {"CLASS"}, {"RESERVED"}, {"BEFORE"}, {"FOR REQUEST"}}};
    for (const auto& hold : holds)
        table.row({iso_time(hold.since), hold.host_name, hold.resource_class.str(),
                   std::to_string(hold.set), std::to_string(hold.before), hold.request.str()});
    return table.text(0, width_of(options), Paint{options.color});
}

std::string render_totals(const JournalTotals& totals, const RenderOptions& options) {
    const std::pair<const char*, std::string> lines[] = {
        {"under way now  ", std::to_string(totals.under_way)},
        {"outcomes       ", counts_line(totals.outcomes)},
        {"victims        ", std::to_string(totals.victims)},
        {"freed room     ", counts_line(totals.freed_rooms)},
        {"refused by     ", counts_line(totals.safeguards)},
        {"messages       ", counts_line(totals.messages)},
        {"events         ", counts_line(totals.events)}};
    constexpr std::size_t margin = 17;
    std::string text;
    for (const auto& [head, line] : lines)
        text += std::string{"  "} + head + wrapped(line, margin, width_of(options)).substr(margin);
    return text;
}

}  // namespace reaper::report
