// What the journal knows of room in the making, for commands that look.
#pragma once

#include <boost/asio/io_context.hpp>

#include "config/settings.hpp"
#include "reaper/safeguards/safeguards.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper::cli {

/// Empty without a journal; a journal that can't be read is warned of in the log, as `doing` (such
/// as `planned`) is then done without it.
Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing);

/// What it knows of the past that brakes plans: victims, doubted hosts. The same without one.
Brakes known_brakes(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing);

}  // namespace reaper::cli
