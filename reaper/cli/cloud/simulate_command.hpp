// `reaper simulate`: a notice without the end.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::cli {

struct Simulation {
    std::string name;                  ///< of the server
    std::optional<TimePoint> until{};  ///< none: its notice was taken back
    bool may_be_real = false;          ///< what was taken back: there is no journal that tells
};

/// `not_found`: there is no such server; `conflict`: it has notice already, or what is to be taken
/// back is one for a request, by the daemon's journal (null: there is none). `rules` must outlive
/// it.
ResultTask<Simulation> simulate(CloudPorts cloud, const NoticeRules& rules, SimulateCommand command,
                                JournalReader* journal);

}  // namespace reaper::cli
