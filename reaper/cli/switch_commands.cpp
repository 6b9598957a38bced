// `reaper pause`, `reaper resume`, `reaper status`: pausing deletions. They need no daemon.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <pwd.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "clients/journal/sqlite_journal.hpp"
#include "clients/pause/pause_file.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr std::chrono::hours status_span{24};

/// Who types: behind sudo, the person.
std::string operator_name() {
    const passwd* const entry = getpwuid(geteuid());
    const std::string user = entry != nullptr ? entry->pw_name : std::to_string(geteuid());
    const char* const person = std::getenv("SUDO_USER");
    return person != nullptr && *person != '\0' && person != user
               ? std::string{person} + " (as " + user + ")"
               : user;
}

std::optional<config::Settings> settings_of(const GlobalOptions& global, const Terminal& terminal) {
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    const auto hint = [](const std::string& line) { spdlog::info("{}", line); };
    return load_config(global.config_file, complain, hint);
}

void answer(const Terminal& terminal, const nlohmann::json& document, const std::string& text) {
    terminal.answer((terminal.json() ? report::dump(document, 2) : text) + "\n");
}

nlohmann::json json_of(const std::optional<PauseNote>& note) {
    if (!note) return nullptr;
    return {{"by", note->by},
            {"reason", note->reason},
            {"at", iso_time(note->at)},
            {"line", note->line()}};
}

/// What the journal tells of the last day, and of now.
struct Recorded {
    JournalTotals totals;
    std::vector<InventoryHold> holds;
};

/// None if it can't be read.
std::optional<Recorded> recorded_in(const std::string& path, const Terminal& terminal) {
    auto journal = open_journal_for_reading(path);
    if (!journal) {
        terminal.warn(journal.error().what);
        return std::nullopt;
    }
    boost::asio::io_context io{1};
    auto totals = run_task(io, (*journal)->totals(now() - status_span));
    auto holds = run_task(io, (*journal)->holds());
    if (totals && holds) return Recorded{std::move(*totals), std::move(*holds)};
    terminal.warn(totals ? holds.error().what : totals.error().what);
    return std::nullopt;
}

nlohmann::json json_of(const std::vector<InventoryHold>& holds) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& hold : holds) list.push_back(report::to_json(hold));
    return list;
}

}  // namespace

ExitCode pause_reaper(const GlobalOptions& global, const PauseCommand& command,
                      const Terminal& terminal) {
    const auto settings = settings_of(global, terminal);
    if (!settings) {
        terminal.complain(
            "nothing is paused; until the configuration is mended, make the file of "
            "its pause_file by hand (default: touch " +
            config::Settings{}.pause_file + ")");
        return ExitCode::usage;
    }
    PauseFile file{settings->pause_file};
    const auto before = file.note();
    if (const auto done = file.pause(operator_name(), command.reason); !done) {
        terminal.complain(done.error().what);
        return ExitCode::failed;
    }
    const auto after = file.note();
    const nlohmann::json json = {{"version", report::json_version},
                                 {"paused", json_of(after)},
                                 {"was_paused", before.has_value()},
                                 {"file", file.path()}};
    answer(terminal, json,
           before ? "already paused " + before->line() + "; that stays as it is"
                  : "paused: no servers are deleted until 'reaper resume' (" + file.path() + ")");
    return ExitCode::ok;
}

ExitCode resume_reaper(const GlobalOptions& global, const Terminal& terminal) {
    const auto settings = settings_of(global, terminal);
    if (!settings) return ExitCode::usage;
    PauseFile file{settings->pause_file};
    const auto before = file.note();
    if (const auto done = file.resume(); !done) {
        terminal.complain(done.error().what);
        return ExitCode::failed;
    }
    const nlohmann::json json = {
        {"version", report::json_version}, {"was", json_of(before)}, {"file", file.path()}};
    answer(terminal, json,
           before ? "resumed; it was paused " + before->line()
                  : "it was not paused (no " + file.path() + ")");
    return ExitCode::ok;
}

ExitCode show_status(const GlobalOptions& global, const Terminal& terminal) {
    const auto settings = settings_of(global, terminal);
    if (!settings) return ExitCode::usage;
    const PauseFile file{settings->pause_file};
    const auto pause = file.note();
    const auto recorded = recorded_in(settings->journal.path, terminal);
    if (terminal.json()) {
        const nlohmann::json json = {
            {"version", report::json_version},
            {"paused", json_of(pause)},
            {"file", file.path()},
            {"since", iso_time(now() - status_span)},
            {"totals", recorded ? report::to_json(recorded->totals) : nlohmann::json(nullptr)},
            {"holds", recorded ? json_of(recorded->holds) : nlohmann::json(nullptr)}};
        terminal.answer(report::dump(json, 2) + "\n");
    } else {
        terminal.answer(pause ? "paused " + report::safe(pause->line()) +
                                    "\nno servers are deleted until 'reaper resume'\n"
                              : "not paused\n");
        const auto options = terminal.render_options(now());
        if (recorded && !recorded->holds.empty())
            terminal.answer("\nRoom held for requests\n" +
                            report::render_holds(recorded->holds, options));
        if (recorded)
            terminal.answer("\nThe last 24 hours\n" +
                            report::render_totals(recorded->totals, options));
    }
    return pause ? ExitCode::attention : ExitCode::ok;
}

}  // namespace reaper::cli
