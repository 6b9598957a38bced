// What the journal knows of room in the making, for commands that look.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <string>

#include "config/settings.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

/// Empty without a journal; a journal that can't be read is warned of in the log, as `doing` (such
/// as `planned`) is then done without it.
Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing);

/// What it knows of the past that safeguards plans: victims, hosts in cooldown. The same without
/// one.
Safeguards known_safeguards(boost::asio::io_context& io, const config::Settings& settings,
                            TimePoint now, const char* doing);

/// Servers that operators protect, each with the reason. None without a journal.
std::map<std::string, std::string> known_protections(const config::Settings& settings,
                                                     TimePoint now);

}  // namespace reaper::cli
