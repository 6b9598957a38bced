#include "reaper/cli/past/history_follow.hpp"

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>

#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/cli/past/now.hpp"
#include "reaper/report/journal_news.hpp"
#include "reaper/report/json.hpp"
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

}  // namespace reaper::cli
