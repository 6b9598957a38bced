// Virtual time: nothing sleeps, the test moves on to the next sleeper when all is quiet.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>

#include "reaper/runtime/clock.hpp"

namespace reaper::test {

class FakeClock final : public Clock {
public:
    TimePoint now() const override { return now_ + step_; }
    Duration steady() const override { return now_.time_since_epoch(); }
    Task<void> sleep(Duration duration) override;

    void advance(Duration duration) { now_ += duration; }
    /// The wall clock is set forward or back; the steady one and sleepers know nothing of it.
    void step(Duration duration) { step_ += duration; }
    /// Runs everything that can run, and lets time jump to the next sleeper, until `done`. False if
    /// nothing moves, or `limit` of virtual time passed.
    bool run_until(boost::asio::io_context& io, const std::function<bool()>& done,
                   Duration limit = std::chrono::hours{2});
    /// Who slept is no more (its io_context was destroyed).
    void forget_sleepers() { sleepers_.clear(); }

private:
    using Alarm = boost::asio::experimental::channel<void(boost::system::error_code)>;
    bool wake_next();

    TimePoint now_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
    Duration step_{};
    std::multimap<TimePoint, std::shared_ptr<Alarm>> sleepers_;
};

}  // namespace reaper::test
