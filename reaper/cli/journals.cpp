#include "reaper/cli/journals.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "clients/journal/sqlite_journal.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

const char* kind_of_other(const Journals& journals) {
    return journals.dry_run ? "the journal of real deletions" : "the journal of dry runs";
}

/// Requests that it holds, and when the newest of them came.
struct Contents {
    std::int64_t requests = 0;
    TimePoint newest{};
};

Result<Contents> contents_of(boost::asio::io_context& io, Journal& journal) {
    constexpr TimePoint always{};
    const auto totals = run_task(io, journal.totals(always));
    if (!totals) return totals.error();
    Contents contents;
    contents.requests = totals->under_way;
    for (const auto& [kind, count] : totals->outcomes) contents.requests += count;
    const auto newest = run_task(io, journal.list(1));
    if (!newest) return newest.error();
    if (!newest->empty()) contents.newest = newest->front().received_at;
    return contents;
}

void warn_of_unread(const Journals& journals, const Error& error, const Terminal& terminal) {
    terminal.warn(std::string{kind_of_other(journals)} + " was not read: " + error.what);
}

Result<Journals> open_both(const config::LocalSettings& settings, const Terminal& terminal) {
    Journals journals;
    journals.own_path = settings.journal.path;
    journals.other_path = settings.other_journal;
    journals.dry_run = settings.dry_run;
    auto own = open_journal_for_reading(journals.own_path);
    if (!journals.other_path.empty()) {
        auto other = open_journal_for_reading(journals.other_path);
        if (other)
            journals.other = std::move(*other);
        else if (other.error().code != Errc::not_found)
            warn_of_unread(journals, other.error(), terminal);
    }
    if (own) {
        journals.own = std::move(*own);
        return journals;
    }
    if (own.error().code != Errc::not_found || !journals.other) return own.error();
    terminal.warn("no journal at " + journals.own_path +
                  " yet; taken instead: " + kind_of_other(journals) + ", " + journals.other_path);
    journals.own = std::move(journals.other);
    journals.own_path = std::exchange(journals.other_path, {});
    journals.dry_run = !journals.dry_run;
    return journals;
}

Result<Journals> open_at(const std::string& path) {
    Journals journals;
    journals.own_path = path;
    auto own = open_journal_for_reading(path);
    if (!own) return own.error();
    journals.own = std::move(*own);
    return journals;
}

}  // namespace

std::variant<Journals, ExitCode> open_journals(const GlobalOptions& global, const std::string& only,
                                               const Terminal& terminal) {
    std::optional<config::LocalSettings> settings;
    if (only.empty()) {
        settings = local_settings(global, terminal);
        if (!settings) return ExitCode::usage;
    }
    auto journals = settings ? open_both(*settings, terminal) : open_at(only);
    if (!journals) return terminal.fail(ExitCode::failed, journals.error());
    return std::move(*journals);
}

void tell_of_other(boost::asio::io_context& io, Journals& journals, const Terminal& terminal) {
    if (!journals.other) return;
    const auto own = contents_of(io, *journals.own);
    const auto other = contents_of(io, *journals.other);
    if (!other) return warn_of_unread(journals, other.error(), terminal);
    if (!own || other->requests == 0) return;
    if (!journals.dry_run && other->newest <= own->newest) return;
    terminal.warn(std::string{"this is the journal of "} +
                  (journals.dry_run ? "dry runs" : "real deletions") + "; " +
                  kind_of_other(journals) + " has " +
                  counted(static_cast<std::size_t>(other->requests), "request") +
                  " ('reaper history --journal " + journals.other_path + "')");
}

void tell_of_other(const config::LocalSettings& settings, const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto journals = open_both(settings, terminal);
    if (journals) tell_of_other(io, *journals, terminal);
}

Result<std::vector<VictimEntry>> victims_in(boost::asio::io_context& io, Journals& journals,
                                            const JournalQuery& query, const Terminal& terminal) {
    auto victims = run_task(io, journals.own->find_victims(query));
    if (!victims || !journals.other) return victims;
    auto others = run_task(io, journals.other->find_victims(query));
    if (!others) {
        warn_of_unread(journals, others.error(), terminal);
        return victims;
    }
    std::move(others->begin(), others->end(), std::back_inserter(*victims));
    std::stable_sort(victims->begin(), victims->end(),
                     [](const VictimEntry& a, const VictimEntry& b) { return a.at > b.at; });
    const auto most = static_cast<std::size_t>(std::max(query.limit, 0));
    if (victims->size() > most) victims->erase(victims->begin() + query.limit, victims->end());
    return victims;
}

Result<std::optional<report::Explanation>> explained_in(boost::asio::io_context& io,
                                                        Journals& journals,
                                                        const std::string& asked,
                                                        const Terminal& terminal) {
    auto told = run_task(io, report::find_explanation(*journals.own, asked));
    if (!told || !journals.other) return told;
    auto elsewhere = run_task(io, report::find_explanation(*journals.other, asked));
    if (!elsewhere) {
        warn_of_unread(journals, elsewhere.error(), terminal);
        return told;
    }
    if (!*elsewhere || (*told && !report::tells_a_later_deletion(**elsewhere, **told))) return told;
    terminal.warn("told by " + std::string{kind_of_other(journals)} + ", " + journals.other_path);
    return elsewhere;
}

}  // namespace reaper::cli
