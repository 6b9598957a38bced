#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>

#include "reaper/api/handlers.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/report/json.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::api {
namespace {

namespace asio = boost::asio;

/// Sooner than a client, or what is between, gives a silent connection up.
constexpr std::chrono::seconds between_lines{15};

/// The lines that a client has not read yet.
struct Stream {
    explicit Stream(const asio::any_io_executor& executor) : news(executor) {}
    void add(const nlohmann::json& line) {
        lines.push_back(report::dump(line) + "\n");
        news.cancel();
    }

    std::deque<std::string> lines;
    bool ended = false;
    asio::steady_timer news;  ///< ended when there are some
    std::unique_ptr<RecordFeed::Subscription> subscription;
};

nlohmann::json line_of(const RequestId& id, const char* event) {
    return {{"version", report::json_version}, {"event", event}, {"id", id.str()}};
}

nlohmann::json line_of(const RequestId& id, const RecordEvent& event) {
    if (const auto* plan = std::get_if<PlanEntry>(&event)) {
        auto line = line_of(id, "plan");
        line["plan"] = report::to_json(*plan);
        return line;
    }
    if (const auto* step = std::get_if<StepEntry>(&event)) {
        auto line = line_of(id, "step");
        line["step"] = report::to_json(*step);
        return line;
    }
    auto line = line_of(id, "outcome");
    line["outcome"] = report::to_json(std::get<Outcome>(event));
    return line;
}

/// A line sometimes, although nothing happened: only a write shows that the client left.
Task<std::optional<std::string>> next_of(std::shared_ptr<Stream> stream, RequestId id) {
    while (stream->lines.empty() && !stream->ended) {
        stream->news.expires_after(between_lines);
        const auto [ended_early] =
            co_await stream->news.async_wait(asio::as_tuple(asio::use_awaitable));
        if (!ended_early) stream->add(line_of(id, "waiting"));
    }
    if (stream->lines.empty()) co_return std::nullopt;
    std::string line = std::move(stream->lines.front());
    stream->lines.pop_front();
    co_return line;
}

}  // namespace

Task<HttpResponse> post_request(const Backend& backend, ApiRequest request) {
    OperatorTrigger* const operators = backend.daemon.operators();
    if (operators == nullptr) co_return refuse(503, "the daemon has not started yet");
    auto described = described_in(request.body);
    if (!described) co_return refuse(400, described.error().what);
    if (described->approved && described->approved->victims.empty())
        co_return refuse(400, "the body: approved.victims: expected at least one server");
    if (!described->flavor.empty() && backend.compute != nullptr) {
        auto search = co_await find_flavor(*backend.compute, described->flavor);
        if (search && !search->found) co_return refuse(404, "flavor: " + search->why_not);
    }
    // A caller with a known identity does not act in another's name.
    if (described->approved && request.principal) described->approved->by = *request.principal;
    const auto executor = co_await asio::this_coro::executor;
    const auto stream = std::make_shared<Stream>(executor);
    const RequestId id = operators->id_of(*described);
    // Only a reader of the stream keeps it: what comes after it has left is dropped.
    const std::weak_ptr<Stream> weak = stream;
    stream->add(line_of(id, "accepted"));
    stream->subscription =
        backend.feed.listen([weak, id](const Request& of, const RecordEvent& event) {
            const auto open = weak.lock();
            if (open && of.id == id && !std::holds_alternative<Outcome>(event))
                open->add(line_of(id, event));
        });
    const auto done = [weak, id](const Outcome& outcome) {
        const auto open = weak.lock();
        if (!open) return;
        open->ended = true;
        open->add(line_of(id, RecordEvent{outcome}));
    };
    const auto submitted = operators->submit(*described, id, done);
    if (!submitted) co_return refuse(409, submitted.error().what);
    HttpResponse response;
    response.content_type = "application/x-ndjson";
    response.more = [stream, id] { return next_of(stream, id); };
    co_return response;
}

}  // namespace reaper::api
