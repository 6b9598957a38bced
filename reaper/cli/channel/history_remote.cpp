#include "reaper/cli/channel/history_remote.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/cli/past/history_command.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/history_tables.hpp"
#include "reaper/report/journal_news.hpp"

namespace reaper::cli {

// Follows a daemon by its event stream, over its restarts.

/// Calls `look` at once, and whenever the daemon says that something may have happened. A daemon
/// that goes away, or that does not answer as it should for a while, is connected to again, later
/// and later, and looked at again then; stderr is told. `look` asks the daemon, and is false if it
/// did not answer; it remembers what it saw, so nothing is told twice or left out. Ends on Ctrl-C
/// (`ok`), with the first look if that fails, and with an answer that no other try would change.
ExitCode follow_events(DaemonApi& api, const std::function<bool(ExitCode&)>& look,
                       const Terminal& terminal);

namespace {

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
    void begin_anew() { next_ = shortest; }

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
            waits_.begin_anew();
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
    bool lost_ = false;    ///< the connection; it was told
    bool missed_ = false;  ///< a look failed: the next line, whatever it is, asks for another
    bool over_ = false;    ///< no other try would help
};

}  // namespace

ExitCode follow_events(DaemonApi& api, const std::function<bool(ExitCode&)>& look,
                       const Terminal& terminal) {
    return Follower{api, look, terminal}.run();
}

namespace {

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

/// A list of the daemon's, page by page, and no more than is asked for.
template <class Line>
struct Pages {
    const char* path;
    const char* name;
    Result<std::vector<Line>> (*read)(const nlohmann::json&);
    QueryParameters parameters;
    /// Remarks of the daemon; shared, as followers look again and again.
    std::shared_ptr<std::set<std::string>> told = std::make_shared<std::set<std::string>>();

    /// None: why not was told.
    std::optional<std::vector<Line>> take(DaemonApi& api, int limit, const Terminal& terminal,
                                          ExitCode& code) const {
        const auto wanted = static_cast<std::size_t>(std::max(limit, 0));
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

template <class Line, class Table>
ExitCode show_pages(DaemonApi& api, Pages<Line> pages, const JournalQuery& query, Table table,
                    const Terminal& terminal) {
    ExitCode code{};
    auto lines = pages.take(api, query.limit, terminal, code);
    if (!lines) return code;
    return answer_list(terminal, Result<std::vector<Line>>{std::move(*lines)}, table, pages.name);
}

ExitCode show_totals(DaemonApi& api, const JournalQuery& query, const Terminal& terminal) {
    ExitCode code{};
    const std::string since = query.since ? iso_time(*query.since) : "";
    const auto said = api.get(target_of("/v1/totals", {{"since", since}}), code);
    if (!said) return code;
    auto totals = taken(report::totals_from_json(said->value("totals", nlohmann::json{})), api,
                        terminal, code);
    if (!totals) return code;
    return answer_document(terminal, Result<JournalTotals>{std::move(*totals)},
                           report::render_totals);
}

template <class Line, class News>
ExitCode follow(DaemonApi& api, const Pages<Line>& pages, News news, std::size_t first,
                const Terminal& terminal) {
    constexpr int looked_at_first = 200;
    std::size_t most = first;
    const auto look = [&](ExitCode& code) {
        int limit = std::max(static_cast<int>(most == first ? first : 0), looked_at_first);
        auto found = pages.take(api, limit, terminal, code);
        while (found && static_cast<int>(found->size()) >= limit && limit < followed_at_most &&
               !news.reach(*found)) {
            limit = std::min(limit * 2, followed_at_most);
            found = pages.take(api, limit, terminal, code);
        }
        if (!found) return false;
        const bool all = static_cast<int>(found->size()) < limit;
        tell_news(news.look(*found, all), most, terminal);
        most = all_news;
        return true;
    };
    return follow_events(api, look, terminal);
}

ExitCode follow_remotely(DaemonApi& api, const HistoryCommand& command, const JournalQuery& query,
                         const Terminal& terminal) {
    const auto first = static_cast<std::size_t>(std::max(query.limit, 0));
    if (command.what == HistoryCommand::What::victims)
        return follow(api, victims_of(query), report::VictimNews{}, first, terminal);
    return follow(api, requests_of(query), report::RequestNews{}, first, terminal);
}

}  // namespace

ExitCode history_remotely(const GlobalOptions& global, const HistoryCommand& command,
                          const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    const JournalQuery query = query_of(command, now());
    if (command.follow) return follow_remotely(*api, command, query, terminal);
    QueryParameters times;
    add_times(times, query);
    using View = HistoryCommand::What;
    switch (command.what) {
        case View::totals: return show_totals(*api, query, terminal);
        case View::victims:
            return show_pages(*api, victims_of(query), query, report::victims_table, terminal);
        case View::messages: {
            Pages<MessageEntry> pages{"/v1/messages", "messages", report::messages_from_json,
                                      std::move(times)};
            return show_pages(*api, std::move(pages), query, report::messages_table, terminal);
        }
        case View::events: {
            Pages<JournalEvent> pages{"/v1/journal_events", "events", report::events_from_json,
                                      std::move(times)};
            return show_pages(*api, std::move(pages), query, report::events_table, terminal);
        }
        default: break;
    }
    return show_pages(*api, requests_of(query), query, requests_now, terminal);
}

}  // namespace reaper::cli
