// What operators read in their terminals, but lists (table.hpp). Pure: from values to text, several
// lines, each ending in a newline. Words from the cloud (names, reasons) are made safe: no control
// character reaches the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::report {

struct RenderOptions {
    int width = 100;       ///< columns; reasons wrap to it
    bool color = false;    ///< ANSI
    int max_rejected = 5;  ///< rejected hosts shown in full for each reason; the rest is counted
    std::optional<TimePoint> now;  ///< for ages; creation times are shown without it
};

/// The request, what happens on each host with room before and after, the victims with their
/// reasons, the rejected hosts, and the verdict as the last line.
std::string render_decision(const Decision& decision, const Request& request,
                            const RenderOptions& options = {});

/// One request from its message to its outcome, in order of time.
std::string render_record(const RequestRecord& record, const RenderOptions& options = {});

/// Hosts whose freed room is held.
std::string render_holds(const std::vector<InventoryHold>& holds,
                         const RenderOptions& options = {});

/// One line for each kind of thing that is counted.
std::string render_totals(const JournalTotals& totals, const RenderOptions& options = {});

}  // namespace reaper::report
