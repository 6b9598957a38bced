#include "reaper/triggers/failure_confirmer.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <optional>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
namespace {

namespace asio = boost::asio;

/// Messages that are read one by one at the same time; further ones wait for a list.
constexpr std::size_t most_singly = 16;
/// Messages of one server for which its actions are listed, instead of each action by itself.
constexpr std::size_t many_of_one = 3;
/// Of Nova's clock and ours.
constexpr Duration clocks_differ = std::chrono::minutes{2};
/// Nova records a failure before it reports it; its database may show it that much later.
constexpr Duration written_within = std::chrono::seconds{3};

/// Of a number that is counted as long as it lives.
class Counted {
public:
    explicit Counted(std::size_t& number) : number_(number) { ++number_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --number_; }

private:
    std::size_t& number_;
};

/// Lists in a row that have to say the same; of a fresh message, shortly after each other.
constexpr int lists_of_fresh = 3;
constexpr int lists_of_old = 2;
constexpr Duration between_lists{250};

std::string shown(const ServerId& server) {
    return printable(server.str(), 64);
}

Doubt not_listed(const ServerId& server, Duration since) {
    return {Doubt::Then::refuse, "Nova lists no change of server " + shown(server) +
                                     " in the last " + format_duration(since)};
}

Doubt no_action(const ServerId& server) {
    return {Doubt::Then::refuse,
            "Nova lists no action of server " + shown(server) + " with this request id"};
}

}  // namespace

/// A message that waits for lists; it resumes when they say enough.
struct FailureConfirmer::Waiting {
    Waiting(const asio::any_io_executor& executor, const FailureNotice& notice,
            std::uint64_t number, bool is_fresh)
        : server(notice.server),
          request(notice.request_id),
          arrival(number),
          fresh(is_fresh),
          told(executor, asio::steady_timer::time_point::max()) {}

    void tell() {
        over = true;
        told.cancel();
    }

    const ServerId server;
    const RequestId request;
    const std::uint64_t arrival;
    const bool fresh;
    asio::steady_timer told;  ///< never expires
    bool over = false;
    int denied = 0;              ///< lists that say that it can't be true
    std::optional<Doubt> doubt;  ///< by the last one; none: it has to be read by itself
};

/// A step of the wall clock that is not noticed yet makes nothing old.
TimePoint FailureConfirmer::now() const {
    return std::min(cloud_.clock.now(), cloud_.clock.shown());
}

ResultTask<std::variant<RequesterFacts, Refused>> FailureConfirmer::confirm(FailureNotice notice,
                                                                            std::uint64_t arrival) {
    using Answer = std::variant<RequesterFacts, Refused>;
    const bool fresh = now() - notice.sent_at < written_within;
    const int max_looks = fresh ? 3 : 2;
    Duration pause{250};
    const std::string id = printable(notice.request_id.str());
    for (int look_number = 1;; ++look_number) {
        auto seen = co_await look(notice, arrival, fresh);
        if (!seen) co_return seen.error();
        auto* const facts = std::get_if<RequesterFacts>(&*seen);
        const auto doubt = facts ? why_not_believed(notice, *facts, now(), settings_.max_age)
                                 : std::optional<Doubt>{std::get<Doubt>(*seen)};
        if (!doubt) co_return Answer{std::move(*facts)};
        const bool last = look_number == max_looks;
        if (doubt->then == Doubt::Then::wait && last) {
            Error not_yet{Errc::conflict, doubt->reason};
            co_return not_yet;
        }
        if (doubt->then == Doubt::Then::refuse || last) {
            log_about({.request = id}, spdlog::level::warn, "{}: a message is not believed: {}", id,
                      doubt->reason);
            Refused refused{doubt->reason + ": the message is not believed",
                            std::string{unconfirmed}};
            co_return Answer{std::move(refused)};
        }
        if (fresh) co_await cloud_.clock.sleep(pause);
        pause *= 2;
    }
}

ResultTask<FailureConfirmer::Seen> FailureConfirmer::look(FailureNotice notice,
                                                          std::uint64_t arrival, bool fresh) {
    std::optional<Counted> counted;
    if (!listing_ && singly_ < most_singly) {
        counted.emplace(singly_);
    } else {
        const auto executor = co_await asio::this_coro::executor;
        const auto waiting = std::make_shared<Waiting>(executor, notice, arrival, fresh);
        waiting_.push_back(waiting);
        if (!listing_) {
            listing_ = true;
            spawn_(list_while_some_wait());
        }
        boost::system::error_code ignored;
        while (!waiting->over)
            co_await waiting->told.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (waiting->doubt) co_return Seen{std::move(*waiting->doubt)};
    }
    auto facts = co_await read_failure(cloud_, std::move(notice));
    if (!facts) co_return facts.error();
    co_return Seen{std::move(*facts)};
}

Task<void> FailureConfirmer::list_while_some_wait() {
    while (!waiting_.empty()) {
        const bool news = std::any_of(waiting_.begin(), waiting_.end(), [](const auto& waiting) {
            return waiting->denied == 0 || !waiting->fresh;
        });
        if (!news) co_await cloud_.clock.sleep(between_lists);
        Batch batch = std::exchange(waiting_, {});
        std::sort(batch.begin(), batch.end(),
                  [](const auto& a, const auto& b) { return a->arrival > b->arrival; });
        co_await judge(batch);
        for (auto& waiting : batch) {
            // One list may miss a server that goes from one of its pages to another meanwhile.
            const int enough = waiting->fresh ? lists_of_fresh : lists_of_old;
            if (waiting->doubt && ++waiting->denied < enough)
                waiting_.push_back(std::move(waiting));
            else
                waiting->tell();
        }
    }
    listing_ = false;
}

/// By what Nova lists from now on. Where it lists nothing, each is read by itself.
Task<void> FailureConfirmer::judge(const Batch& batch) {
    const Duration back = settings_.max_age + clocks_differ;
    std::set<std::string> any_status;
    auto listed = co_await cloud_.compute.servers_in(std::move(any_status), now() - back);
    if (!listed) {
        spdlog::debug("messages are confirmed one by one: {}", listed.error().what);
        for (const auto& waiting : batch) waiting->doubt.reset();
        co_return;
    }
    std::set<ServerId> changed;
    for (const auto& record : *listed) changed.insert(record.server.id);
    std::map<ServerId, Batch> by_server;
    for (const auto& waiting : batch) {
        waiting->doubt.reset();
        if (changed.contains(waiting->server))
            by_server[waiting->server].push_back(waiting);
        else
            waiting->doubt = not_listed(waiting->server, back);
    }
    std::vector<Task<void>> parts;
    for (auto& [server, of_one] : by_server)
        if (of_one.size() >= many_of_one) parts.push_back(judge_by_actions(std::move(of_one)));
    co_await run_all(std::move(parts));
}

/// Of a server that is there, whose actions say which requests there were.
Task<void> FailureConfirmer::judge_by_actions(Batch of_one) {
    auto actions = co_await cloud_.compute.actions(of_one.front()->server);
    if (!actions) co_return;
    std::set<RequestId> requests;
    for (const auto& action : *actions) requests.insert(action.request);
    for (const auto& waiting : of_one)
        if (!requests.contains(waiting->request)) waiting->doubt = no_action(waiting->server);
}

}  // namespace reaper
