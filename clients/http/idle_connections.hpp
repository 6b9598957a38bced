// Connections that wait for their next call.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "clients/http/failure.hpp"
#include "reaper/model/time.hpp"

namespace reaper::http {

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

}  // namespace reaper::http
