// A sink of spdlog that speaks journald's own protocol, so that `journalctl` finds lines by what
// they are about: `journalctl -u reaper REAPER_REQUEST=req-...`.
#pragma once

#include <functional>
#include <memory>
#include <spdlog/sinks/sink.h>
#include <string>
#include <vector>

namespace reaper {

/// Sends one entry (`NAME=value` each); false: it did not arrive.
using JournalSend = std::function<bool(const std::vector<std::string>& fields)>;

/// `otherwise` has what did not arrive. Neither must throw.
std::shared_ptr<spdlog::sinks::sink> journal_sink(JournalSend send,
                                                  std::shared_ptr<spdlog::sinks::sink> otherwise);

/// To the journald of this machine; none if it has none.
JournalSend system_journal();

}  // namespace reaper
