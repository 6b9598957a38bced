// `reaper history`: reads the journal, also while the daemon writes it.
#include "reaper/cli/past/history_command.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <utility>
#include <variant>
#include <vector>

#include "clients/http/url.hpp"
#include "reaper/api/settled_query.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/cli/arguments/room_arguments.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/channel/history_remote.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/past/journals.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/history_tables.hpp"
#include "reaper/report/journal_news.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr std::chrono::seconds between_looks{1};
/// The newest entries, at which a look looks first.
constexpr int followed = 200;

/// Waits between looks, until a signal ends it.
class Looks {
public:
    explicit Looks(boost::asio::io_context& io)
        : io_(io), timer_(io), signals_(io, SIGINT, SIGTERM) {
        signals_.async_wait([this](const boost::system::error_code& error, int) {
            if (error) return;
            stopped_ = true;
            timer_.cancel();
        });
    }

    /// False: no further one.
    bool wait() {
        if (stopped_) return false;
        timer_.expires_after(between_looks);
        timer_.async_wait([this](const boost::system::error_code&) { io_.stop(); });
        io_.restart();
        io_.run();
        return !stopped_;
    }

private:
    boost::asio::io_context& io_;
    boost::asio::steady_timer timer_;
    boost::asio::signal_set signals_;
    bool stopped_ = false;
};

/// `find` asks the journal for so many, `news` knows what was there.
template <class Find, class News>
ExitCode follow(boost::asio::io_context& io, const Find& find, News news, std::size_t first,
                const Terminal& terminal) {
    Looks looks{io};
    std::size_t most = first;
    int limit = std::max(static_cast<int>(first), followed);
    do {
        auto found = run_task(io, find(limit));
        while (found && static_cast<int>(found->size()) >= limit && limit < followed_at_most &&
               !news.reach(*found)) {
            limit = std::min(limit * 2, followed_at_most);
            found = run_task(io, find(limit));
        }
        const bool all = found && static_cast<int>(found->size()) < limit;
        limit = followed;
        if (!found) return terminal.fail(ExitCode::failed, found.error());
        tell_news(news.look(*found, all), most, terminal);
        most = all_news;
    } while (looks.wait());
    return ExitCode::ok;
}

}  // namespace

void tell_news(std::vector<report::NewsLine> lines, std::size_t most, const Terminal& terminal) {
    const std::size_t left_out = lines.size() - std::min(lines.size(), most);
    for (std::size_t i = left_out; i < lines.size(); ++i)
        terminal.answer((terminal.json() ? report::dump(lines[i].json) : lines[i].text) + "\n");
}

ExitCode follow_history(boost::asio::io_context& io, JournalReader& journal,
                        HistoryCommand::What what, JournalQuery query, const Terminal& terminal) {
    const auto first = static_cast<std::size_t>(std::max(query.limit, 0));
    const auto victims = [&](int limit) {
        query.limit = limit;
        return journal.find_victims(query);
    };
    const auto requests = [&](int limit) {
        query.limit = limit;
        return journal.find_requests(query);
    };
    if (what == HistoryCommand::What::victims)
        return follow(io, victims, report::VictimNews{}, first, terminal);
    return follow(io, requests, report::RequestNews{}, first, terminal);
}

namespace {

ExitCode show_record(Past& past, const std::string& asked, const Terminal& terminal) {
    FoundRecord found = shown_by(past, asked, terminal);
    if (found.record) {
        const RequestRecord& record = *found.record;
        if (found.several) warn_of_several(asked, record.request.id, terminal);
        return answer_document(terminal, Result<RequestRecord>{record}, report::render_record);
    }
    if (found.code == ExitCode::unknown && !past.own.remote())
        found.why = "the journal knows no request and no server " + in_quotes(asked) +
                    "; 'reaper history' lists the requests that it knows";
    if (!found.why.empty()) terminal.complain(found.why);
    return found.code;
}

bool names_something(const JournalQuery& query) {
    return !query.project.empty() || !query.host.empty() || !query.flavor.empty();
}

/// What no journal knows is found in the cloud. Whoever may not read the configuration has none to
/// ask.
std::variant<JournalQuery, ExitCode> settled_by_cloud(boost::asio::io_context& io,
                                                      JournalReader& journal,
                                                      const GlobalOptions& global,
                                                      JournalQuery query,
                                                      const Terminal& terminal) {
    const auto nobody = [](const std::string&) {};
    const auto settings = load_config(global.config_file, nobody, nobody);
    auto cloud = settings ? connect_cloud(io, *settings)
                          : Result<Cloud>{Error{Errc::bad_input, "no configuration"}};
    WhoKnows who;
    if (cloud) who = {cloud->parts.identity.get(), cloud->parts.compute.get()};
    auto found = run_task(io, settle(std::move(query), journal, who));
    if (!found) return terminal.fail(ExitCode::failed, found.error());
    if (found->ambiguous)
        return terminal.fail(ExitCode::usage,
                             Error{Errc::bad_input, "--project: " + *found->ambiguous});
    if (found->unknown)
        return terminal.fail(ExitCode::unknown, Error{Errc::not_found, *found->unknown});
    for (const std::string& line : found->not_asked) terminal.warn(line);
    return std::move(found->query);
}

/// The query with what it names found, in the journals that answer it or else in the cloud; or how
/// the command ends.
std::variant<JournalQuery, ExitCode> settled(boost::asio::io_context& io, Journals& journals,
                                             bool both, const GlobalOptions& global,
                                             JournalQuery query, const Terminal& terminal) {
    if (!names_something(query)) return query;
    const auto known = known_in(io, journals, both, query, terminal);
    if (!known) return terminal.fail(ExitCode::failed, known.error());
    if (known->projects.size() > 1)
        return terminal.fail(
            ExitCode::usage,
            Error{Errc::bad_input,
                  "--project: " + several_projects(query.project, known->projects)});
    JournalQuery rest = query;
    if (!known->projects.empty()) {
        query.project = known->projects.front().str();
        rest.project.clear();
    }
    if (known->host) rest.host.clear();
    if (known->flavor) rest.flavor.clear();
    if (!names_something(rest)) return query;
    auto found = settled_by_cloud(io, *journals.own, global, std::move(rest), terminal);
    if (const auto* const by_cloud = std::get_if<JournalQuery>(&found)) {
        if (!by_cloud->project.empty()) query.project = by_cloud->project;
        if (!by_cloud->host.empty()) query.host = by_cloud->host;
        return query;
    }
    return found;
}

/// Of views that do not tell of both journals.
void tell_of_what_is_left_out(boost::asio::io_context& io, Journals& journals,
                              const HistoryCommand& command, const Terminal& terminal) {
    if (command.what != HistoryCommand::What::victims) return tell_of_other(io, journals, terminal);
    if (command.follow) warn_of_followed_alone(journals, command.planned, terminal);
}

}  // namespace

ExitCode show_history(const GlobalOptions& global, const HistoryCommand& command,
                      const Terminal& terminal) {
    if (const auto fits = check_span(command.span, command.until, now()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    if (command.what == HistoryCommand::What::show) {
        auto past = open_past(io, global, command.journal, terminal);
        if (const auto* const code = std::get_if<ExitCode>(&past)) return *code;
        return show_record(std::get<Past>(past), command.request, terminal);
    }
    if (!global.api.url.empty()) return history_remotely(global, command, terminal);
    auto opened = open_journals(global, command.journal, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    Journals& journals = std::get<Journals>(opened);
    JournalReader& journal = *journals.own;
    const bool both = command.what == HistoryCommand::What::victims && !command.follow;
    const auto found = settled(io, journals, both, global, query_of(command, now()), terminal);
    if (const auto* const code = std::get_if<ExitCode>(&found)) return *code;
    const JournalQuery& query = std::get<JournalQuery>(found);
    tell_of_what_is_left_out(io, journals, command, terminal);
    if (command.follow) return follow_history(io, journal, command.what, query, terminal);
    switch (command.what) {
        case HistoryCommand::What::messages:
            return answer_list(terminal, run_task(io, journal.find_messages(query)),
                               report::messages_table, "messages");
        case HistoryCommand::What::victims:
            return answer_list(terminal, victims_in(io, journals, query, terminal),
                               report::victims_table, "victims");
        case HistoryCommand::What::totals:
            return answer_document(terminal,
                                   run_task(io, journal.totals(query.since.value_or(TimePoint{}))),
                                   report::render_totals);
        case HistoryCommand::What::events:
            return answer_list(terminal, run_task(io, journal.find_events(query)),
                               report::events_table, "events");
        default: break;
    }
    return answer_list(terminal, run_task(io, journal.find_requests(query)), requests_now,
                       "requests");
}

// `reaper explain`: why a server went, by the journal alone, or by the daemon that --api names.

ExitCode show_explanation(const GlobalOptions& global, const ExplainCommand& command,
                          const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto opened = open_past(io, global, command.journal, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    Past& past = std::get<Past>(opened);
    if (command.asked.empty())  // it is no part of a path
        return terminal.fail(ExitCode::unknown, Error{Errc::not_found, report::not_explained("")});
    const std::string target = "/v1/explain/" + http::escape(command.asked);
    ExitCode code{};
    std::string why;
    const auto said = asked_quietly(past.own, target, code, why);
    std::optional<report::Explanation> own, other;
    if (said || code == ExitCode::unknown) other = explained_by_other(past, target, terminal);
    if (!said && !other) {
        terminal.complain(why);
        return code;
    }
    if (said && said->contains("never_chosen"))
        return show_document(
            terminal, [&said] { return *said; },
            [&said] { return report::safe(said->value("never_chosen", "")) + "\n"; });
    if (said) own = taken(report::explanation_from_json(*said), past.own, terminal, code);
    if (said && !own) return code;
    const auto told = explained_by_both(past, std::move(own), std::move(other), terminal);
    return show_document(
        terminal, [&] { return report::to_json(told); },
        [&] { return report::render_explanation(told, terminal.render_options(now())); });
}

}  // namespace reaper::cli
