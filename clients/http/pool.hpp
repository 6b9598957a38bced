// The connections to one endpoint: a limit on how many work at a time, a queue of those who wait
// for one, first come first served, and idle ones kept for the next call.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <list>
#include <memory>

#include "clients/http/connection.hpp"
#include "clients/http/idle_connections.hpp"
#include "reaper/model/time.hpp"

namespace reaper::http {

class Pool;

/// The right to use one connection of the pool; returned by the destructor.
class Lease {
public:
    explicit Lease(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    /// The most recently used connection that still looks alive; null if there is none.
    std::unique_ptr<Connection> take_idle();
    void put_back(std::unique_ptr<Connection> connection);

private:
    std::shared_ptr<Pool> pool_;
};

struct PoolLimits {
    std::size_t max_connections = 8;
    std::size_t max_waiting = 65'536;
    Duration idle_timeout{30'000};
};

class Pool : public std::enable_shared_from_this<Pool> {
public:
    Pool(boost::asio::any_io_executor executor, PoolLimits limits);

    /// Waits its turn; a Failure at the limit, or at once if too many wait.
    Task<std::variant<Lease, Failure>> acquire(TimeLimit limit);

    /// Closes connections that have been idle for too long.
    void drop_old() { idle_.drop_old(); }
    std::size_t idle() const { return idle_.size(); }

private:
    friend class Lease;
    struct Waiter;
    class Place;

    void release();

    boost::asio::any_io_executor executor_;
    PoolLimits limits_;
    std::size_t active_ = 0;
    std::list<Waiter*> waiting_;
    IdleConnections<std::unique_ptr<Connection>> idle_;
};

}  // namespace reaper::http
