// GET /v1/events: what happens, as it happens, as server-sent events.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/api/routes.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::api {

// What happens, for those who listen: the last events in memory, numbered, as text of server-sent
// events (HTML standard, 9.2). One thread.
//
// The memory is bounded, and shared by all who listen: each has a place in it, and nothing of its
// own. Who falls so far behind that its place is gone is cut off. An id names the process and the
// event, so that a client that comes back with its last id misses nothing; if what it missed is
// gone by now, it gets `reset`, and has to ask for everything again.

class EventHub {
public:
    struct Limits {
        std::size_t events = 1024;         ///< kept
        std::size_t bytes = 1024 * 1024;   ///< of kept events
        std::size_t listeners = 16;        ///< at a time
        std::size_t piece = 64 * 1024;     ///< sent at a time, about
        std::chrono::seconds silence{15};  ///< then a comment is sent: so it shows who has left
    };
    class Listener;

    /// Hears of everything that `feed` tells from now on. `process` is another one for each
    /// process. `feed` must outlive it.
    EventHub(RecordFeed& feed, std::string process, Limits limits);
    EventHub(RecordFeed& feed, std::string process);
    ~EventHub();

    /// From the event after `last_seen` on; empty: from now on. Null: there are too many listeners.
    /// It may outlive the hub.
    std::shared_ptr<Listener> listen(const boost::asio::any_io_executor& executor,
                                     std::string_view last_seen);

private:
    struct Memory;

    void add(const std::string& kind, const nlohmann::json& data);
    void on_news(const JournalNews& news);

    std::shared_ptr<Memory> memory_;
    Limits limits_;
    std::unique_ptr<RecordFeed::Subscription> subscription_;
};

/// One who listens.
class EventHub::Listener {
public:
    Listener(std::shared_ptr<Memory> memory, Limits limits,
             const boost::asio::any_io_executor& executor, std::string_view last_seen);

    /// The first thing to send.
    std::string greeting() const;
    /// What to send next; waits for it. None: it fell behind, and is cut off.
    static Task<std::optional<std::string>> next(std::shared_ptr<Listener> self);

private:
    friend class EventHub;
    bool behind() const;
    std::string take();

    std::shared_ptr<Memory> memory_;
    Limits limits_;
    boost::asio::steady_timer news_;  ///< ended when there are some
    std::uint64_t next_ = 0;          ///< the number of the event that it gets next
    bool reset_ = false;              ///< it missed some for good
};

/// text/event-stream. Events: `hello` (the first), `request` {request, what, at, ...}: something
/// was journaled of a request, `what` is received, plan, step, outcome or freed_room; `reaper`
/// {kind, reason, at}: something was done to the reaper itself; `reset`: what was missed since
/// `Last-Event-ID` is gone, so everything is to be asked for again. A comment each 15 s. 503: so
/// many listen already; 400: a parameter.
Task<HttpResponse> get_events(const Backend& backend, ApiRequest request);

}  // namespace reaper::api
