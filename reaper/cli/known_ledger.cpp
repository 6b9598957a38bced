#include "reaper/cli/known_ledger.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/run_task.hpp"
#include "reaper/service/journalled_ledger.hpp"

namespace reaper::cli {

Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing) {
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) {
        if (journal.error().code != Errc::not_found)
            spdlog::warn("{} without the journal: {}", doing, journal.error().what);
        return {};
    }
    auto ledger = run_task(io, read_ledger(**journal, now, settings.cull.promise));
    if (ledger) return std::move(*ledger);
    spdlog::warn("{} without the journal: {}", doing, ledger.error().what);
    return {};
}

}  // namespace reaper::cli
