// `reaper history`: reads the journal, also while the daemon writes it, or asks the daemon that
// --api names.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/cli/arguments/past_arguments.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/cli/past/journals.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/history_tables.hpp"
#include "reaper/report/journal_news.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"

namespace reaper::cli {
namespace {

// Follows a daemon by its event stream, over its restarts, or a journal of this machine.

using std::chrono::milliseconds;

/// Of server-sent events, those that may have changed what the journal lists.
bool tells_news(const std::string& line) {
    return line == "event: request" || line == "event: reset" || line == "event: hello";
}

/// False: a signal ended it.
bool waited(milliseconds span) {
    boost::asio::io_context io{1};
    boost::asio::steady_timer timer{io, span};
    boost::asio::signal_set signals{io, SIGINT, SIGTERM};
    bool interrupted = false;
    timer.async_wait([&](const boost::system::error_code&) { io.stop(); });
    signals.async_wait([&](const boost::system::error_code& error, int) {
        if (error) return;
        interrupted = true;
        io.stop();
    });
    io.run();
    return !interrupted;
}

/// Longer and longer, and not the same for all that wait for one daemon.
class Waits {
public:
    milliseconds next() {
        const milliseconds span = next_;
        next_ = std::min(2 * next_, longest);
        std::uniform_int_distribution<milliseconds::rep> some{span.count() / 2, span.count()};
        return milliseconds{some(random_)};
    }
    void begin_again() { next_ = shortest; }

private:
    static constexpr milliseconds shortest{1'000};
    static constexpr milliseconds longest{30'000};
    milliseconds next_ = shortest;
    std::minstd_rand random_{std::random_device{}()};
};

class Follower {
public:
    Follower(DaemonApi& api, const std::function<bool(ExitCode&)>& look, const Terminal& terminal)
        : api_(api), look_(look), terminal_(terminal) {}

    ExitCode run() {
        if (!look_(code_)) return code_;
        api_.complain_to([this](const std::string& why) { why_ = why; });
        const ExitCode code = follow();
        api_.complain_to({});
        return code;
    }

private:
    ExitCode follow() {
        while (true) {
            bool interrupted = false;
            why_.clear();
            const auto on_line = [this](const std::string& line) { take(line); };
            const bool ended = api_.get_lines("/v1/events", on_line, interrupted, code_);
            if (interrupted) return ExitCode::ok;
            if (over_ || (!ended && !api_.may_pass())) return end();
            tell_lost();
            if (!waited(waits_.next())) return ExitCode::ok;
        }
    }
    void take(const std::string& line) {
        if (lost_) {
            terminal_.warn(api_.name() + ": connected again");
            lost_ = false;
            waits_.begin_again();
        }
        if (over_ || !(tells_news(line) || missed_)) return;
        missed_ = !look_(code_);
        over_ = missed_ && !api_.may_pass();
    }
    void tell_lost() {
        if (!lost_)
            terminal_.warn(api_.name() + ": the connection ended" +
                           (why_.empty() ? "" : " (" + why_ + ")") + "; connecting again");
        lost_ = true;
    }
    ExitCode end() const {
        if (!why_.empty()) terminal_.complain(why_);
        return code_;
    }

    DaemonApi& api_;
    const std::function<bool(ExitCode&)>& look_;
    const Terminal& terminal_;
    Waits waits_;
    ExitCode code_{};
    std::string why_;      ///< the last complaint
    bool lost_ = false;    ///< the connection; that was printed
    bool missed_ = false;  ///< a look failed: the next line, whatever it is, asks for another
    bool over_ = false;    ///< no other try would help
};

/// Calls `look` at once, and whenever the daemon says that something may have happened. A daemon
/// that goes away, or that does not answer as it should for a while, is connected to again, later
/// and later, and looked at again then; stderr says so. `look` asks the daemon, and is false if it
/// did not answer; it remembers what it saw, so nothing comes twice or is left out. Ends on Ctrl-C
/// (`ok`), with the first look if that fails, and with an answer that no other try would change.
ExitCode follow_events(DaemonApi& api, const std::function<bool(ExitCode&)>& look,
                       const Terminal& terminal) {
    return Follower{api, look, terminal}.run();
}

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t most_in_one = 1000;

/// The filters of lists that have all of them.
QueryParameters filters_of(const JournalQuery& query) {
    const std::string outcome = query.under_way ? "none"
                                : query.outcome ? std::string{to_string(*query.outcome)}
                                                : "";
    return {{"outcome", outcome},
            {"project", query.project},
            {"host", query.host},
            {"flavor", query.flavor},
            {"server", query.server}};
}

void add_times(QueryParameters& parameters, const JournalQuery& query) {
    if (query.since) parameters.emplace_back("since", iso_time(*query.since));
    if (query.until) parameters.emplace_back("until", iso_time(*query.until));
}

/// Of one list, for it is in memory.
constexpr int most_lines = 100'000;

/// A list, page by page, and no more than is asked for.
template <class Line>
struct Pages {
    const char* path;
    const char* name;
    Result<std::vector<Line>> (*read)(const nlohmann::json&);
    QueryParameters parameters;
    /// Remarks that are on stderr already; shared, as followers look again and again.
    std::shared_ptr<std::set<std::string>> told = std::make_shared<std::set<std::string>>();

    /// None: the reason was printed.
    std::optional<std::vector<Line>> take(DaemonApi& api, int limit, const Terminal& terminal,
                                          ExitCode& code) const {
        const auto wanted = static_cast<std::size_t>(std::clamp(limit, 0, most_lines));
        std::vector<Line> all;
        std::string target = target_of(path, asked(wanted));
        while (!target.empty() && all.size() < wanted) {
            const auto said = api.get(target, code, ExitCode::unknown);
            if (!said) return std::nullopt;
            tell_remarks(*said, terminal);
            auto page = taken(read(said->value(name, nlohmann::json{})), api, terminal, code);
            if (!page) return std::nullopt;
            target = page->empty() ? "" : next_of(*said);
            std::move(page->begin(), page->end(), std::back_inserter(all));
        }
        if (limit > most_lines && !target.empty())
            terminal.warn("only the newest " + std::to_string(most_lines) + " are listed");
        if (all.size() > wanted) all.erase(all.begin() + static_cast<long>(wanted), all.end());
        return all;
    }

private:
    /// Each once.
    void tell_remarks(const nlohmann::json& said, const Terminal& terminal) const {
        const auto remarks = said.find("remarks");
        if (remarks == said.end()) return;
        for (const auto& each : *remarks)
            if (each.is_string() && told->insert(each.get<std::string>()).second)
                terminal.warn(each.get<std::string>());
    }
    QueryParameters asked(std::size_t wanted) const {
        QueryParameters all{
            {"limit", std::to_string(std::clamp(wanted, std::size_t{1}, most_in_one))}};
        all.insert(all.end(), parameters.begin(), parameters.end());
        return all;
    }
    /// Where the next page is; nothing if it is elsewhere.
    std::string next_of(const nlohmann::json& said) const {
        const nlohmann::json links =
            said.value(std::string{name} + "_links", nlohmann::json::array());
        for (const auto& link : links) {
            const std::string href = link.is_object() ? link.value("href", "") : "";
            if (href.starts_with(std::string{path} + "?")) return href;
        }
        return {};
    }
};

Pages<RequestSummary> requests_of(const JournalQuery& query) {
    Pages<RequestSummary> pages{"/v1/requests", "requests", report::requests_from_json,
                                filters_of(query)};
    add_times(pages.parameters, query);
    return pages;
}

Pages<VictimEntry> victims_of(const JournalQuery& query) {
    Pages<VictimEntry> pages{"/v1/victims", "victims", report::victims_from_json,
                             filters_of(query)};
    if (query.planned) pages.parameters.emplace_back("planned", "true");
    add_times(pages.parameters, query);
    return pages;
}

/// `asked`: a server's id or name, or how the ids of several requests begin.
void warn_of_several(const std::string& asked, const RequestId& newest, const Terminal& terminal) {
    const bool begins = newest.str().starts_with(asked);
    terminal.warn("several requests " +
                  std::string{begins ? "have an id that begins with " : "are about server "} +
                  in_quotes(asked) +
                  "; this is the newest, and 'reaper history --server' lists them");
}

ExitCode show_record(Past& past, const std::string& asked, const Terminal& terminal) {
    FoundRecord found = shown_by(past, asked, terminal);
    if (found.record) {
        if (found.several) warn_of_several(asked, found.record->request.id, terminal);
        return show_document(
            terminal, [&] { return report::to_json(*found.record); },
            [&] { return report::render_record(*found.record, terminal.render_options(now())); });
    }
    if (found.code == ExitCode::unknown && !past.own.remote())
        found.why = "the journal knows no request and no server " + in_quotes(asked) +
                    "; 'reaper history' lists the requests that it knows";
    if (!found.why.empty()) terminal.complain(found.why);
    return found.code;
}

ExitCode show_totals(DaemonApi& api, const JournalQuery& query,
                     const std::function<void()>& tell_rest, const Terminal& terminal) {
    ExitCode code{};
    const std::string since = query.since ? iso_time(*query.since) : "";
    const auto said = api.get(target_of("/v1/totals", {{"since", since}}), code);
    if (!said) return code;
    const auto totals = taken(report::totals_from_json(said->value("totals", nlohmann::json{})),
                              api, terminal, code);
    if (!totals) return code;
    tell_rest();
    return show_document(
        terminal, [&] { return report::to_json(*totals); },
        [&] { return report::render_totals(*totals, terminal.render_options(now())); });
}

/// A view that is not followed.
ExitCode show_view(Past& past, const HistoryCommand& command, const JournalQuery& query,
                   const std::function<void()>& tell_rest, const Terminal& terminal) {
    using View = HistoryCommand::What;
    const auto show_pages = [&](const auto& pages, auto table) {
        ExitCode code{};
        const auto lines = pages.take(past.own, query.limit, terminal, code);
        if (!lines) return code;
        tell_rest();
        return show_list(
            terminal,
            {table(*lines), [&] { return report::list_of(pages.name, report::array_of(*lines)); },
             pages.name});
    };
    QueryParameters times;
    add_times(times, query);
    switch (command.what) {
        case View::show: return show_record(past, command.request, terminal);
        case View::totals: return show_totals(past.own, query, tell_rest, terminal);
        case View::victims: return show_pages(victims_of(query), report::victims_table);
        case View::messages:
            return show_pages(
                Pages<MessageEntry>{"/v1/messages", "messages", report::messages_from_json, times},
                report::messages_table);
        case View::events:
            return show_pages(Pages<JournalEvent>{"/v1/journal_events", "events",
                                                  report::events_from_json, times},
                              report::events_table);
        case View::list: break;
    }
    return show_pages(requests_of(query), [](const std::vector<RequestSummary>& requests) {
        return report::requests_table(requests, now());
    });
}

/// The last `most` of what is new, a line each.
void tell_news(const std::vector<report::NewsLine>& lines, std::size_t most,
               const Terminal& terminal) {
    for (std::size_t i = lines.size() - std::min(lines.size(), most); i < lines.size(); ++i)
        terminal.answer((terminal.json() ? report::dump(lines[i].json) : lines[i].text) + "\n");
}

/// `reaper history --follow`: begins with the last `first` lines. Ends on Ctrl-C.
template <class Line, class News>
ExitCode follow(DaemonApi& api, const Pages<Line>& pages, News news, int first,
                const std::function<void()>& tell_rest, const Terminal& terminal) {
    constexpr int looked_at = 200;  // the newest, at which a look looks first
    constexpr int at_most = 20'000;
    bool began = false;
    const auto look = [&](ExitCode& code) {
        int limit = began ? looked_at : std::max(first, looked_at);
        auto found = pages.take(api, limit, terminal, code);
        while (found && static_cast<int>(found->size()) >= limit && limit < at_most &&
               !news.reach(*found)) {
            limit = std::min(limit * 2, at_most);
            found = pages.take(api, limit, terminal, code);
        }
        if (!found) return false;
        if (!began) tell_rest();
        const bool all = static_cast<int>(found->size()) < limit;
        const std::size_t most = began ? std::numeric_limits<std::size_t>::max()
                                       : static_cast<std::size_t>(std::max(first, 0));
        tell_news(news.look(*found, all), most, terminal);
        began = true;
        return true;
    };
    return follow_events(api, look, terminal);
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const HistoryCommand& command,
                   const Terminal& terminal) {
    using View = HistoryCommand::What;
    if (const auto fits = check_span(command.span, command.until, now()); !fits)
        return terminal.fail(ExitCode::usage, fits.error());
    const bool of_victims = command.what == View::victims;
    const Reading how = command.follow ? Reading::followed
                        : of_victims   ? Reading::together
                                       : Reading::apart;
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto opened = open_past(io, global, command.journal, how, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    Past& past = std::get<Past>(opened);
    const JournalQuery query = query_of(command, now());
    // Of views of one journal alone.
    const auto tell_rest = [&] {
        if (!of_victims) return tell_of_other(io, past.journals, terminal);
        if (command.follow) warn_of_followed_alone(past.journals, command.planned, terminal);
    };
    const auto follow_pages = [&](const auto& pages, auto news) {
        return follow(past.own, pages, std::move(news), query.limit, tell_rest, terminal);
    };
    if (command.follow && of_victims) return follow_pages(victims_of(query), report::VictimNews{});
    if (command.follow) return follow_pages(requests_of(query), report::RequestNews{});
    return show_view(past, command, query, tell_rest, terminal);
}

// `reaper explain`: why a server went, by the journal alone, or by the daemon that --api names.

ExitCode carry_out(const GlobalOptions& global, const ExplainCommand& command,
                   const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto opened = open_past(io, global, command.journal, Reading::apart, terminal);
    if (const auto* const code = std::get_if<ExitCode>(&opened)) return *code;
    Past& past = std::get<Past>(opened);
    if (command.asked.empty())  // it is no part of a path
        return terminal.fail(ExitCode::unknown, Error{Errc::not_found, report::not_explained("")});
    const std::string target = "/v1/explain/" + http::escape(command.asked);
    ExitCode code{};
    std::string why;
    const auto said = asked_quietly(past.own, target, code, why);
    if (said && said->contains("never_chosen"))
        return show_document(
            terminal, [&said] { return *said; },
            [&said] { return report::safe(said->value("never_chosen", "")) + "\n"; });
    std::optional<report::Explanation> told;
    if (said) told = taken(report::explanation_from_json(*said), past.own, terminal, code);
    if (told || code == ExitCode::unknown)
        told = explained_by(past, target, std::move(told), terminal);
    if (!told && !said) terminal.complain(why);
    if (!told) return code;
    return show_document(
        terminal, [&] { return report::to_json(*told); },
        [&] { return report::render_explanation(*told, terminal.render_options(now())); });
}

}  // namespace reaper::cli
