// `reaper journal`: the tables of the journal's database, and copies of a journal.
#include <nlohmann/json.hpp>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"

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

ExitCode copy(const config::JournalSettings& database, const JournalCommand& command,
              const Terminal& terminal) {
    const bool into_database = !command.from.empty();
    const config::JournalSettings file{into_database ? command.from : command.to};
    const auto copied =
        into_database ? copy_journal_rows(file, database) : copy_journal_rows(database, file);
    if (!copied) return terminal.fail(ExitCode::failed, copied.error());
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

ExitCode handle_journal(const GlobalOptions& global, const JournalCommand& command,
                        const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    // A dry run keeps its own in a file.
    const auto& journal = settings->dry_run ? settings->other_journal : settings->journal;
    if (journal.in_file()) {
        terminal.complain("the configuration has no journal.url: its journal is the file " +
                          journal.path);
        return ExitCode::usage;
    }
    return command.what == JournalCommand::What::copy ? copy(journal, command, terminal)
                                                      : migrate(journal, command, terminal);
}

}  // namespace reaper::cli
