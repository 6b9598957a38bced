// Virtual time for a whole schedule: what the reaper sleeps for, what the cloud does by itself and
// what the fault plan brings all stand in one agenda, and time jumps from one entry to the next.
//
// There is one true time. The reaper's wall clock may be stepped away from it.
#pragma once

#include <boost/asio/execution_context.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "reaper/runtime/clock.hpp"

namespace reaper::faults {

class Timeline final : public Clock {
public:
    // The reaper's clock.
    TimePoint now() const override { return true_ + step_; }
    Duration steady() const override { return true_.time_since_epoch(); }
    Task<void> sleep(Duration duration) override;

    /// The time that the cloud and the checker know.
    TimePoint true_now() const { return true_; }
    /// The reaper's wall clock is set forward or back.
    void step(Duration by) { step_ += by; }
    Duration stepped() const { return step_; }

    /// Entries of one time run in the order of the calls. They outlive the reaper's process.
    void at(TimePoint time, std::function<void()> action);
    void after(Duration delay, std::function<void()> action) {
        at(true_ + delay, std::move(action));
    }
    std::optional<TimePoint> next() const;
    /// Moves time on; an entry before it is still to be run.
    void move_to(TimePoint time) { true_ = std::max(true_, time); }
    /// Runs the first entry if its time has come.
    bool run_due();
    /// Who slept there is no more: its process was killed.
    void forget_sleepers(const boost::asio::execution_context& process);

private:
    using Alarm = boost::asio::experimental::channel<void(boost::system::error_code)>;
    struct Entry {
        std::function<void()> action;  ///< empty: a sleeper
        std::shared_ptr<Alarm> alarm;
    };

    TimePoint true_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
    Duration step_{};
    std::uint64_t order_ = 0;
    std::map<std::pair<TimePoint, std::uint64_t>, Entry> agenda_;
};

}  // namespace reaper::faults
