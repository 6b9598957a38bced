#include "reaper/cli/cloud/known_ledger.hpp"

#include <memory>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/controllers/freed_room/ledger_journal.hpp"
#include "reaper/controllers/safeguards/safeguards_journal.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {

namespace {

/// None without a journal; warns of one that can't be read.
std::unique_ptr<JournalReader> journal_to_read(const config::Settings& settings,
                                               const char* doing) {
    auto journal = open_journal_for_reading(settings.journal.path);
    if (journal) return std::move(*journal);
    if (journal.error().code != Errc::not_found)
        spdlog::warn("{} without the journal: {}", doing, journal.error().what);
    return nullptr;
}

}  // namespace

Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing) {
    const auto journal = journal_to_read(settings, doing);
    if (!journal) return {};
    auto ledger = run_task(io, read_ledger(*journal, now, settings.cull.promise));
    if (ledger) return std::move(*ledger);
    spdlog::warn("{} without the journal: {}", doing, ledger.error().what);
    return {};
}

Safeguards known_safeguards(boost::asio::io_context& io, const config::Settings& settings,
                            TimePoint now, const char* doing) {
    const SafeguardSettings& safeguards = settings.policy.safeguards;
    const auto journal = journal_to_read(settings, doing);
    if (!journal) return Safeguards{safeguards};
    auto known = run_task(io, read_safeguards(*journal, safeguards, now));
    if (known) return std::move(known->safeguards);
    spdlog::warn("{} without what the journal knows of the past: {}", doing, known.error().what);
    return Safeguards{safeguards};
}

std::map<std::string, std::string> known_protections(const config::Settings& settings,
                                                     TimePoint now) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    const auto journal = journal_to_read(settings, "looking");
    if (!journal) return {};
    auto known = run_task(io, read_protections(*journal, now));
    if (known) return reasons_of(*known);
    spdlog::warn("looking without the servers that operators protect: {}", known.error().what);
    return {};
}

}  // namespace reaper::cli
