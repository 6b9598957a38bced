#include "clients/http/pool.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace reaper::http {

namespace asio = boost::asio;

struct Pool::Waiter {
    asio::steady_timer turn_or_late;
    bool granted = false;
};

/// A place in the queue. Leaves it in its destructor; a turn that was granted but never taken
/// (its coroutine was cancelled meanwhile) goes to the next.
class Pool::Place {
public:
    Place(Pool& pool, Waiter& waiter)
        : pool_(pool), waiter_(waiter), at_(pool.waiting_.insert(pool.waiting_.end(), &waiter)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
        if (!waiter_.granted)
            pool_.waiting_.erase(at_);
        else if (!taken_)
            pool_.release();
    }
    void take() { taken_ = true; }

private:
    Pool& pool_;
    Waiter& waiter_;
    std::list<Waiter*>::iterator at_;
    bool taken_ = false;
};

Lease::~Lease() {
    if (pool_) pool_->release();
}

std::unique_ptr<Connection> Lease::take_idle() {
    return pool_->idle_.take();
}

void Lease::put_back(std::unique_ptr<Connection> connection) {
    pool_->idle_.put_back(std::move(connection));
}

Pool::Pool(asio::any_io_executor executor, PoolLimits limits)
    : executor_(std::move(executor)),
      limits_(limits),
      idle_(limits.max_connections, limits.idle_timeout) {}

Task<std::variant<Lease, Failure>> Pool::acquire(TimeLimit limit) {
    const auto self = shared_from_this();
    if (active_ < limits_.max_connections) {
        ++active_;
        co_return Lease(self);
    }
    if (waiting_.size() >= limits_.max_waiting)
        co_return Failure{
            Errc::unreachable,
            "too many calls wait for a connection (" + std::to_string(waiting_.size()) + ")",
            false};
    Waiter waiter{asio::steady_timer(executor_, limit)};
    Place place(*this, waiter);
    boost::system::error_code ignored;
    co_await waiter.turn_or_late.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!waiter.granted)
        co_return Failure{Errc::timeout,
                          "no free connection in time (all " +
                              std::to_string(limits_.max_connections) + " were in use)",
                          false};
    place.take();
    co_return Lease(self);
}

void Pool::release() {
    if (waiting_.empty()) {
        --active_;
        return;
    }
    Waiter* const next = waiting_.front();
    waiting_.pop_front();
    next->granted = true;
    next->turn_or_late.cancel();
}

}  // namespace reaper::http
