#include "reaper/cli/arguments/history_arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/arguments/past_arguments.hpp"

namespace reaper::cli {
namespace {

using What = HistoryCommand::What;

constexpr const char* no_outcome_word = "none";
constexpr int few_lines = 20;
constexpr int all_lines = 1'000'000;  ///< more than are ever listed

/// How requests end, and `none`.
std::vector<std::string> outcome_words() {
    std::vector<std::string> words;
    for (int i = 0; i <= static_cast<int>(OutcomeKind::revocable_only); ++i)
        words.emplace_back(to_string(static_cast<OutcomeKind>(i)));
    words.emplace_back(no_outcome_word);
    return words;
}

bool can_be_filtered(What what) {
    return what == What::list || what == What::victims;
}

/// What was given of the options that choose lines; empty: nothing.
std::string first_filter(const HistoryTexts& texts) {
    for (const auto& [option, text] : {std::pair{"--project", &texts.project},
                                       {"--host", &texts.host},
                                       {"--flavor", &texts.flavor},
                                       {"--server", &texts.server},
                                       {"--outcome", &texts.outcome}})
        if (!text->empty()) return option;
    return "";
}

Error wrong_place(const std::string& option) {
    return wrong(option + " goes with 'reaper history' and 'reaper history victims'");
}

Result<void> check_view(What what, const HistoryTexts& texts) {
    if (can_be_filtered(what)) {
        if (texts.follow && !texts.until.empty())
            return wrong("--follow has no end: leave out --until");
        return {};
    }
    if (texts.follow) return wrong_place("--follow");
    const std::string filter = first_filter(texts);
    if (!filter.empty()) return wrong_place(filter);
    const bool timed = what == What::messages || what == What::events;
    if (!texts.until.empty() && !timed) return wrong_place("--until");
    if (!texts.since.empty() && !timed && what != What::totals) return wrong_place("--since");
    return {};
}

Result<void> read_times(const HistoryTexts& texts, HistoryCommand& history) {
    Duration span{};
    const auto read = read_past({texts.since, texts.until}, history.since, span, history.until);
    if (!read) return read.error();
    if (span != Duration{}) history.span = span;
    // Without any wish, victims are those of a day.
    const bool wishes = !texts.since.empty() || !texts.until.empty() || texts.limit > 0 ||
                        texts.follow || texts.planned || !first_filter(texts).empty();
    const bool of_a_day =
        history.what == What::totals || (history.what == What::victims && !wishes);
    if (of_a_day && texts.since.empty()) history.span = std::chrono::days{1};
    return {};
}

}  // namespace

void add_journal_option(CLI::App& command, std::string& journal) {
    option(command, "--journal", "PATH", journal,
           "Read this journal alone (default: as configured; deletions of both)");
}

void add_history_limit(CLI::App& command, HistoryTexts& texts) {
    option(command, "--limit", "N", texts.limit, "How many lines at most (default 20)")
        ->check(quiet(CLI::Range(1, all_lines)));
}

void add_history_times(CLI::App& command, HistoryTexts& texts, const std::string& since) {
    add_history_limit(command, texts);
    option(command, "--since", "WHEN", texts.since, since);
    option(command, "--until", "DATE", texts.until, "Before then, UTC (default now)");
}

void add_history_filters(CLI::App& command, HistoryTexts& texts, const std::string& since) {
    option(command, "--since", "WHEN", texts.since, since);
    option(command, "--until", "DATE", texts.until, "Before then, UTC (default now)");
    option(command, "--project", "PROJECT", texts.project,
           "Only of this project, id or name: the requester's; of victims their own");
    option(command, "--host", "HOST", texts.host, "Only where servers of this host were deleted");
    option(command, "--flavor", "FLAVOR", texts.flavor,
           "Only of this flavor, by its name: the requester's; of victims their own");
    option(command, "--server", "SERVER", texts.server,
           "Only about this server, by its id or name");
    option(command, "--outcome", "OUTCOME", texts.outcome,
           "Only of requests that ended so; none: those under way")
        ->check(quiet(CLI::IsMember{outcome_words()}));
    command.add_flag("-f,--follow", texts.follow,
                     "Go on with what comes, a line each, oldest first, until Ctrl-C");
}

Result<HistoryCommand> history_command(const CLI::App& app, const std::string& shown,
                                       const HistoryTexts& texts) {
    static const std::map<std::string, What> views{{"show", What::show},
                                                   {"messages", What::messages},
                                                   {"victims", What::victims},
                                                   {"totals", What::totals},
                                                   {"events", What::events}};
    HistoryCommand history;
    history.request = shown;
    for (const CLI::App* view : app.get_subcommands()) history.what = views.at(view->get_name());
    const bool all = history.what == What::victims && !texts.follow;
    history.limit = texts.limit > 0 ? texts.limit : all ? all_lines : few_lines;
    if (auto fits = check_view(history.what, texts); !fits) return fits.error();
    if (auto read = read_times(texts, history); !read) return read.error();
    history.project = texts.project;
    history.host = texts.host;
    history.flavor = texts.flavor;
    history.server = texts.server;
    history.under_way = texts.outcome == no_outcome_word;
    history.outcome = outcome_kind_from(texts.outcome);
    history.follow = texts.follow;
    history.planned = texts.planned;
    history.journal = texts.journal;
    return history;
}

JournalQuery query_of(const HistoryCommand& command, TimePoint now) {
    JournalQuery query;
    query.since = command.since;
    if (command.span) query.since = now - *command.span;
    query.until = command.until;
    query.project = command.project;
    query.host = command.host;
    query.flavor = command.flavor;
    query.server = command.server;
    query.outcome = command.outcome;
    query.under_way = command.under_way;
    query.planned = command.planned;
    query.limit = command.limit;
    return query;
}

std::optional<std::string> why_not_followed(const HistoryTexts& texts, const ListOptions& list) {
    if (!texts.follow) return std::nullopt;
    const bool plain = list.format == ListFormat::table || list.format == ListFormat::json;
    if (plain && list.sort.empty() && list.columns.empty()) return std::nullopt;
    return "--follow tells lines as they come: it goes with -o table or json, without --sort and "
           "--columns";
}

}  // namespace reaper::cli
