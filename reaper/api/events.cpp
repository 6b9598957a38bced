#include "reaper/api/events.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

/// The result of a request in short: its record has the rest.
struct Told {
    json operator()(const Admitted& admitted) const {
        return {{"what", "received"}, {"at", iso_time(admitted.at)}};
    }
    json operator()(const PlanEntry& plan) const {
        const json whole = report::to_json(plan.decision);
        json data = {{"what", "plan"},
                     {"at", iso_time(plan.at)},
                     {"round", plan.round},
                     {"decision", whole.at("decision")}};
        if (const auto* const decided = std::get_if<Plan>(&plan.decision))
            data["victims"] = decided->victims().size();
        return data;
    }
    json operator()(const StepEntry& step) const {
        return {{"what", "step"}, {"at", iso_time(step.at)}, {"step", report::to_json(step)}};
    }
    json operator()(const Outcome& outcome) const {
        return {{"what", "outcome"},
                {"at", iso_time(outcome.at)},
                {"outcome", report::to_json(outcome)}};
    }
    json operator()(const FreedRoomResult& freed_room) const {
        return {{"what", "freed_room"},
                {"at", iso_time(freed_room.at)},
                {"freed_room", report::to_json(freed_room)}};
    }
    json operator()(const JournalEvent& event) const { return report::to_json(event); }
};

}  // namespace

struct EventHub::Memory {
    explicit Memory(std::string of) : process(std::move(of)) {}

    std::string id(std::uint64_t number) const { return process + "-" + std::to_string(number); }
    /// The number that follows the id's; none: it is none of this process, or not known yet.
    std::optional<std::uint64_t> after(std::string_view id) const {
        if (!id.starts_with(process + "-")) return std::nullopt;
        id.remove_prefix(process.size() + 1);
        std::uint64_t number = 0;
        const auto [end, failure] = std::from_chars(id.data(), id.data() + id.size(), number);
        const bool whole = failure == std::errc{} && end == id.data() + id.size();
        if (!whole || number >= first + kept.size()) return std::nullopt;
        return number + 1;
    }

    std::string process;
    std::deque<std::string> kept;
    std::uint64_t first = 1;  ///< the number of the first one that is kept
    std::size_t bytes = 0;
    std::vector<std::weak_ptr<Listener>> listeners;
};

EventHub::EventHub(RecordFeed& feed, std::string process, Limits limits)
    : memory_(std::make_shared<Memory>(std::move(process))), limits_(limits) {
    subscription_ = feed.watch([this](const JournalNews& news) { on_news(news); });
}

EventHub::EventHub(RecordFeed& feed, std::string process)
    : EventHub(feed, std::move(process), Limits{}) {}

EventHub::~EventHub() = default;

std::shared_ptr<EventHub::Listener> EventHub::listen(const boost::asio::any_io_executor& executor,
                                                     std::string_view last_seen) {
    std::erase_if(memory_->listeners, [](const auto& each) { return each.expired(); });
    if (memory_->listeners.size() >= limits_.listeners) return nullptr;
    auto listener = std::make_shared<Listener>(memory_, limits_, executor, last_seen);
    memory_->listeners.push_back(listener);
    return listener;
}

void EventHub::on_news(const JournalNews& news) {
    json data = std::visit(Told{}, news.what);
    data["version"] = report::json_version;
    const bool of_request = !news.request.empty();
    if (of_request) data["request"] = news.request.str();
    add(of_request ? "request" : "reaper", data);
}

void EventHub::add(const std::string& kind, const json& data) {
    Memory& memory = *memory_;
    const std::uint64_t number = memory.first + memory.kept.size();
    // The document is one line: JSON escapes what would end it.
    memory.kept.push_back("id: " + memory.id(number) + "\nevent: " + kind +
                          "\ndata: " + report::dump(data) + "\n\n");
    memory.bytes += memory.kept.back().size();
    while (memory.kept.size() > limits_.events ||
           (memory.bytes > limits_.bytes && memory.kept.size() > 1)) {
        memory.bytes -= memory.kept.front().size();
        memory.kept.pop_front();
        ++memory.first;
    }
    for (const auto& each : memory.listeners)
        if (const auto listener = each.lock()) listener->news_.cancel();
}

EventHub::Listener::Listener(std::shared_ptr<Memory> memory, Limits limits,
                             const boost::asio::any_io_executor& executor,
                             std::string_view last_seen)
    : memory_(std::move(memory)),
      limits_(limits),
      news_(executor),
      next_(memory_->first + memory_->kept.size()) {
    if (last_seen.empty()) return;
    const auto after = memory_->after(last_seen);
    reset_ = !after || *after < memory_->first;
    if (!reset_) next_ = *after;
}

std::string EventHub::Listener::greeting() const {
    const json data = {{"version", report::json_version}};
    return "retry: 3000\nid: " + memory_->id(next_ - 1) +
           "\nevent: " + (reset_ ? "reset" : "hello") + "\ndata: " + report::dump(data) + "\n\n";
}

bool EventHub::Listener::behind() const {
    return next_ < memory_->first;
}

std::string EventHub::Listener::take() {
    std::string piece;
    while (piece.size() < limits_.piece && next_ < memory_->first + memory_->kept.size())
        piece += memory_->kept[static_cast<std::size_t>(next_++ - memory_->first)];
    return piece;
}

Task<std::optional<std::string>> EventHub::Listener::next(std::shared_ptr<Listener> self) {
    if (self->behind()) co_return std::nullopt;
    std::string piece = self->take();
    if (!piece.empty()) co_return piece;
    self->news_.expires_after(self->limits_.silence);
    co_await self->news_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (self->behind()) co_return std::nullopt;
    piece = self->take();
    if (piece.empty()) piece = ": nothing happened\n\n";
    co_return piece;
}

Task<HttpResponse> get_events(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.events == nullptr) co_return refuse(503, "the daemon has not started yet");
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto listener = backend.events->listen(executor, request.last_event_id);
    if (!listener) {
        HttpResponse refused = refuse(503, "too many listen already; try again in a moment");
        refused.headers.emplace_back("Retry-After", "30");
        co_return refused;
    }
    HttpResponse response;
    response.content_type = "text/event-stream";
    // What is between must not collect it.
    response.headers.emplace_back("X-Accel-Buffering", "no");
    response.body = listener->greeting();
    response.more = [listener] { return EventHub::Listener::next(listener); };
    co_return response;
}

}  // namespace reaper::api
