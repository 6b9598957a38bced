#include "reaper/api/events.hpp"

#include <boost/asio/this_coro.hpp>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/event_hub.hpp"

namespace reaper::api {

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
