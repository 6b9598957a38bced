// One try of a call: what is below the retries. The real one has sockets; tests give answers of
// their own, so that retries, Retry-After and deadlines are exercised without a network.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "clients/http/client.hpp"
#include "clients/http/failure.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

// Connections that wait for their next call.

/// `Pointer`: owns a connection that has `looks_alive()`.
template <class Pointer>
class IdleConnections {
public:
    /// Keeps at most so many, each for no longer than `max_idle`.
    IdleConnections(std::size_t most, Duration max_idle) : most_(most), max_idle_(max_idle) {}

    /// The most recently used one that still looks alive; null if there is none.
    Pointer take() { return take(max_idle_); }
    /// The same, if it was used within `freshness`.
    Pointer take(Duration freshness) {
        drop_old();
        while (!kept_.empty() && is_within(kept_.back(), freshness)) {
            Pointer connection = std::move(kept_.back().connection);
            kept_.pop_back();
            if (connection->looks_alive()) return connection;
        }
        return nullptr;
    }
    /// One beyond the limit is closed.
    void put_back(Pointer connection) {
        if (kept_.size() < most_)
            kept_.push_back({std::move(connection), std::chrono::steady_clock::now()});
    }
    /// Closes those that have been idle for too long.
    void drop_old() {
        std::erase_if(kept_, [&](const Kept& entry) { return !is_within(entry, max_idle_); });
    }
    void clear() { kept_.clear(); }
    std::size_t size() const { return kept_.size(); }

private:
    struct Kept {
        Pointer connection;
        TimeLimit since;
    };

    static bool is_within(const Kept& entry, Duration span) {
        return std::chrono::steady_clock::now() - entry.since < span;
    }

    std::size_t most_;
    Duration max_idle_;
    std::vector<Kept> kept_;  // the oldest first
};

// Coroutines of objects that may be destroyed before they end, or even before they start.

/// Does the task, which works on `owner`'s object, and keeps that alive from now until then. A
/// coroutine that copies the pointer to its own object in its first line would do so too late: it
/// runs only when it is awaited.
template <class Owner, class T>
Task<T> keeping([[maybe_unused]] std::shared_ptr<Owner> owner, Task<T> task) {
    co_return co_await std::move(task);
}

/// What goes out: a request whose URL is taken apart, under our own name for it.
struct Outgoing {
    Request request;
    Url url;
    std::string our_id;         ///< X-Openstack-Request-Id
    Duration allowed{};         ///< for all tries together, for the words of a failure
    bool may_be_heard = false;  ///< a former try went out
};

class Transport {
public:
    using Try = std::variant<Response, Failure>;

    virtual ~Transport() = default;
    /// The clock of limits: steady, of no date.
    virtual TimeLimit now() const = 0;
    /// Sends the call once and reads all of the answer; a Failure with `timeout` at the limit.
    /// Asks `still_wanted` right before it writes; if it is not, a Failure with `unwanted`.
    virtual Task<Try> exchange(const Outgoing& call, TimeLimit limit) = 0;
};

/// Keep-alive connections, pooled per endpoint. `bad_input` if a certificate or key can't be read.
Result<std::shared_ptr<Transport>> make_pooled_transport(boost::asio::any_io_executor executor,
                                                         const Options& options);

/// Calls `observer` when a try has ended, but not for one that was never sent because it was no
/// longer wanted.
std::shared_ptr<Transport> observed(std::shared_ptr<Transport> inner, CallObserver observer);

/// The client's retries over a given transport.
std::unique_ptr<Client> make_client(std::shared_ptr<Transport> transport, Options options,
                                    Clock& clock);

}  // namespace reaper::http
