// `reaper pause`, `reaper resume`, `reaper status`: pausing deletions. They need no daemon.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "clients/journal/sqlite_journal.hpp"
#include "clients/pause/pause_file.hpp"
#include "reaper/cli/active_reaper.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/gateway_state.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/now.hpp"
#include "reaper/cli/operator_name.hpp"
#include "reaper/cli/pause_state.hpp"
#include "reaper/controllers/safeguards_journal.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/machine.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr std::chrono::hours status_span{24};

void answer(const Terminal& terminal, const nlohmann::json& document, const std::string& text) {
    terminal.answer((terminal.json() ? report::dump(document, 2) : text) + "\n");
}

/// What the journal tells of the last day, and of now.
struct Recorded {
    JournalTotals totals;
    std::vector<InventoryHold> holds;
    Safeguards safeguards;
};

/// None if it can't be read.
std::optional<Recorded> recorded_in(const config::LocalSettings& settings,
                                    const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) {
        terminal.warn(journal.error().what);
        return std::nullopt;
    }
    auto totals = run_task(io, (*journal)->totals(now() - status_span));
    auto holds = run_task(io, (*journal)->holds());
    auto known = run_task(io, read_safeguards(**journal, settings.safeguards, now()));
    if (totals && holds && known)
        return Recorded{std::move(*totals), std::move(*holds), std::move(known->safeguards)};
    terminal.warn(!totals ? totals.error().what : !holds ? holds.error().what : known.error().what);
    return std::nullopt;
}

/// Is the circuit breaker half open, for all that the journal tells? It has no file then.
bool tries_a_cull(const config::LocalSettings& settings) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto journal = open_journal_for_reading(settings.journal.path);
    if (!journal) return false;
    const auto known = run_task(io, read_safeguards(**journal, settings.safeguards, now()));
    return known && known->safeguards.breaker().state(now()) == CircuitState::half_open;
}

std::string_view word(CircuitState state) {
    switch (state) {
        case CircuitState::closed: return "closed";
        case CircuitState::open: return "open";
        case CircuitState::half_open: return "half-open";
    }
    return "unknown";
}

nlohmann::json time_or_null(const std::optional<TimePoint>& at) {
    return at ? nlohmann::json(iso_time(*at)) : nlohmann::json(nullptr);
}

nlohmann::json json_of(const std::vector<Safeguards::LeftAlone>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& each : all)
        list.push_back({{"safeguard", each.safeguard},
                        {"project", each.project.str()},
                        {"shape", each.what},
                        {"state", word(each.state)},
                        {"wasted", each.wasted},
                        {"until", time_or_null(each.until)}});
    return list;
}

/// `project 77cb...: 3 culls went unused; no servers are deleted for it until 12:30 UTC`
std::string text_of(const std::vector<Safeguards::LeftAlone>& all) {
    std::string text;
    for (const auto& each : all) {
        text += "  project " + report::safe(each.project.str());
        if (!each.what.empty()) text += ", " + report::safe(each.what);
        text += ": " + counted(each.wasted, "cull") + " in a row went unused; ";
        text += each.state == CircuitState::half_open ? "one cull at a time is tried\n"
                : each.until
                    ? "no servers are deleted for it until " + format_time(*each.until) + " UTC\n"
                    : "no servers are deleted for it until 'reaper resume'\n";
    }
    return text;
}

/// Whoever pauses a reaper that only stands by has paused nothing.
void warn_if_elsewhere(const Activity& activity, const Terminal& terminal) {
    if (!activity.active || activity.here) return;
    terminal.warn("the active reaper is " + to_text(activity) +
                  ": it goes on deleting; pause it there");
}

nlohmann::json json_of(const std::optional<GatewayState>& state, const config::Gateway& gateway) {
    if (!state) return nullptr;
    return {{"listen", gateway.listen},
            {"answers", state->answers},
            {"helps", state->answers && state->why_not.empty()},
            {"why_not", state->why_not},
            {"full", state->full}};
}

nlohmann::json json_of(const std::vector<InventoryHold>& holds) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& hold : holds) list.push_back(report::to_json(hold));
    return list;
}

}  // namespace

ExitCode pause_reaper(const GlobalOptions& global, const PauseCommand& command,
                      const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
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
    // The pause stands; whom it holds for is asked after that.
    const Activity activity = activity_of(*settings);
    const nlohmann::json document = {
        {"version", report::json_version},  {"paused", json_of(after)},
        {"was_paused", before.has_value()}, {"machine", machine_name()},
        {"active", to_json(activity)},      {"file", file.path()}};
    answer(terminal, document,
           before ? "already paused " + before->line() + "; that stays as it is"
                  : "paused: the reaper of this machine (" + machine_name() +
                        ") deletes no servers until 'reaper resume' (" + file.path() + ")");
    warn_if_elsewhere(activity, terminal);
    return ExitCode::ok;
}

ExitCode resume_reaper(const GlobalOptions& global, const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    PauseFile file{settings->pause_file};
    PauseFile breaker{breaker_file(settings->pause_file)};
    const auto before = file.note();
    const auto opened = breaker.note();
    for (PauseFile* const each : {&file, &breaker}) {
        const auto done = each->resume();
        if (done) continue;
        terminal.complain(done.error().what);
        return ExitCode::failed;
    }
    const std::string here = "on this machine (" + machine_name() + ")";
    const nlohmann::json document = {{"version", report::json_version},
                                     {"was", json_of(before ? before : opened)},
                                     {"breaker_was", json_of(opened)},
                                     {"file", file.path()}};
    std::string text;
    if (before) text = "resumed " + here + "; it was paused " + before->line();
    if (opened)
        text += (text.empty() ? "resumed " + here + "; it was stopped " : "; and stopped ") +
                opened->line();
    if (text.empty()) text = "it was not paused " + here + " (no " + file.path() + ")";
    if (!before && !opened && tries_a_cull(*settings))
        text +=
            "; its circuit breaker is half open, and stays so until the room of a cull is taken; "
            "to close it now: 'reaper pause', and 'reaper resume' when 'reaper history events' "
            "has the pause";
    answer(terminal, document, text);
    return ExitCode::ok;
}

ExitCode show_status(const GlobalOptions& global, const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    const PauseFile file{settings->pause_file};
    const PauseFile breaker_kept{breaker_file(settings->pause_file)};
    const auto pause = pause_in_force(settings->pause_file);
    const auto recorded = recorded_in(*settings, terminal);
    const TimePoint at = now();
    const CircuitState breaker =
        breaker_kept.note() ? CircuitState::open
        : recorded && recorded->safeguards.breaker().state(at) == CircuitState::half_open
            ? CircuitState::half_open
            : CircuitState::closed;
    std::vector<Safeguards::LeftAlone> left_alone;
    if (recorded) left_alone = recorded->safeguards.left_alone(at);
    const Activity activity = activity_of(*settings);
    const auto gateway = gateway_state(settings->gateway);
    if (terminal.json()) {
        const nlohmann::json document = {
            {"version", report::json_version},
            {"machine", machine_name()},
            {"active", to_json(activity)},
            {"paused", json_of(pause)},
            {"file", file.path()},
            {"breaker",
             {{"state", word(breaker)},
              {"reason", breaker_kept.note() ? breaker_kept.note()->reason : ""}}},
            {"left_alone", json_of(left_alone)},
            {"gateway", json_of(gateway, settings->gateway)},
            {"since", iso_time(at - status_span)},
            {"totals", recorded ? report::to_json(recorded->totals) : nlohmann::json(nullptr)},
            {"holds", recorded ? json_of(recorded->holds) : nlohmann::json(nullptr)}};
        terminal.answer(report::dump(document, 2) + "\n");
    } else {
        const std::string here = "on this machine (" + machine_name() + ")";
        terminal.answer(pause ? "paused " + here + ' ' + report::safe(pause->line()) +
                                    "\nits reaper deletes no servers until " +
                                    (file.note() ? "'reaper resume'\n" : "then\n")
                              : "not paused " + here + "\n");
        if (breaker == CircuitState::half_open)
            terminal.answer("circuit breaker half open: one cull at a time is tried\n");
        terminal.answer("active reaper: " + to_text(activity) + "\n");
        if (gateway) terminal.answer(to_text(*gateway, settings->gateway) + "\n");
        const auto options = terminal.render_options(at);
        if (!left_alone.empty()) terminal.answer("\nLeft alone\n" + text_of(left_alone));
        if (recorded && !recorded->holds.empty())
            terminal.answer("\nRoom held for requests\n" +
                            report::render_holds(recorded->holds, options));
        if (recorded)
            terminal.answer("\nThe last 24 hours, by the journal of this machine\n" +
                            report::render_totals(recorded->totals, options));
    }
    return pause ? ExitCode::attention : ExitCode::ok;
}

}  // namespace reaper::cli
