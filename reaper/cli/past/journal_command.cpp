// `reaper journal`: the tables of the journal's database, and copies of a journal.
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/controllers/safeguards/safeguards_journal.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

ExitCode migrate(config::JournalSettings journal, const JournalCommand& command,
                 const Terminal& terminal) {
    if (!command.database_url.empty()) {
        journal.url = command.database_url;
        journal.password_file = command.password_file;
    }
    const auto statements = migrate_journal(journal, command.dry_run);
    if (!statements) return terminal.fail(ExitCode::failed, statements.error());
    if (wants_document(terminal)) {
        answer_document(
            terminal,
            {{"journal", journal.url}, {"done", !command.dry_run}, {"statements", *statements}});
        return ExitCode::ok;
    }
    if (statements->empty()) {
        terminal.answer((command.dry_run ? "-- " : "") + ("journal " + journal.url) +
                        ": all tables are there\n");
    } else if (command.dry_run) {
        std::string text = "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES';\n";
        for (const auto& statement : *statements) text += statement + ";\n";
        terminal.answer(text);
    } else {
        terminal.answer("journal " + journal.url + ": its tables were made\n");
    }
    return ExitCode::ok;
}

/// The open breaker of a database is in its journal, and that of this machine in a file.
Result<void> carry_breaker(const config::LocalSettings& settings, const config::JournalSettings& to,
                           const Switches& source, const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = journal_to_read(to);
    if (!journal) return journal.error();
    const auto known = run_task(io, read_safeguards(**journal, settings.safeguards, now()));
    if (!known) return known.error();
    const auto& breaker = known->safeguards.breaker();
    if (!known->opened_at || breaker.state(now()) != CircuitState::open ||
        source.pause->resumed_at() > known->opened_at)
        return {};
    terminal.warn("the circuit breaker is open: " + breaker.reason());
    return source.breaker->pause("circuit breaker", breaker.reason());
}

/// What the tables do not have: the operator's pause, and the open breaker.
Result<void> carry_switches(const config::LocalSettings& settings,
                            const config::JournalSettings& from, const config::JournalSettings& to,
                            const Terminal& terminal) {
    const Switches source = make_switches(settings.pause_file, from);
    if (const auto note = source.pause->note()) {
        if (note->unknown) return Error{Errc::storage, note->trouble};
        const Switches target = make_switches(settings.pause_file, to);
        if (auto done = target.pause->pause(note->by, note->reason); !done) return done;
        terminal.warn("the pause stays, " + reach_of_switch(to) +
                      ", until 'reaper resume': " + note->line());
    }
    return to.in_file() ? carry_breaker(settings, to, source, terminal) : Result<void>{};
}

ExitCode copy(const config::LocalSettings& settings, const config::JournalSettings& database,
              const JournalCommand& command, const Terminal& terminal) {
    const bool into_database = !command.from.empty();
    const config::JournalSettings file{into_database ? command.from : command.to};
    const auto copied =
        into_database ? copy_journal_rows(file, database) : copy_journal_rows(database, file);
    if (!copied) return terminal.fail(ExitCode::failed, copied.error());
    const auto carried = into_database ? carry_switches(settings, file, database, terminal)
                                       : carry_switches(settings, database, file, terminal);
    if (!carried) return terminal.fail(ExitCode::failed, carried.error());
    const auto& from = (into_database ? file : database).place();
    const auto& to = (into_database ? database : file).place();
    if (wants_document(terminal)) {
        nlohmann::json tables = nlohmann::json::array();
        for (const auto& each : *copied)
            tables.push_back({{"table", each.table}, {"rows", each.rows}, {"sha256", each.digest}});
        answer_document(terminal, {{"from", from}, {"to", to}, {"tables", std::move(tables)}});
        return ExitCode::ok;
    }
    std::string text = "journal " + to + ": the same as " + from + "\n";
    for (const auto& each : *copied)
        text += "  " + each.digest + "  " + each.table + ", " + std::to_string(each.rows) +
                (each.rows == 1 ? " row\n" : " rows\n");
    terminal.answer(text);
    return ExitCode::ok;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const JournalCommand& command,
                   const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    const auto& journal = acting_journal(*settings);
    if (journal.in_file()) {
        terminal.complain("the configuration has no journal.url: its journal is the file " +
                          journal.path);
        return ExitCode::usage;
    }
    return command.what == JournalCommand::What::copy ? copy(*settings, journal, command, terminal)
                                                      : migrate(journal, command, terminal);
}

}  // namespace reaper::cli
