// The simulated cloud's time: runs with the real clock, faster, or by hand. All delays and all
// timestamps are of this clock. Pure: real time is injected.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace reaper::cloudsim {

using Micros = std::chrono::microseconds;
using Time = std::chrono::sys_time<Micros>;  ///< UTC

class Clock {
public:
    using Action = std::function<void()>;

    /// `real` is asked for the real time; the clock begins at `start`, or with the real time.
    explicit Clock(std::function<Time()> real, std::optional<Time> start = {});

    Time now() const;
    bool manual() const { return manual_; }
    double speed() const { return speed_; }
    /// Seconds of ours for a real second; above 0, at most 100,000.
    void set_speed(double speed);
    /// Stands still until `advance`.
    void set_manual(bool manual);
    void advance(Micros by);

    /// Runs the action when the time has come; actions of one time run in the order of the calls.
    void after(Micros delay, Action action);
    /// Runs what is due, in order. What an action schedules for now runs, too. Returns how many.
    std::size_t run_due();
    /// Real time until the next action is due; none if there is none, or nothing moves.
    std::optional<Micros> until_next() const;
    std::size_t pending() const { return agenda_.size(); }
    /// Forgets all actions.
    void clear();

private:
    struct Entry {
        Time due;
        std::uint64_t order;
        Action action;
        friend bool operator>(const Entry& a, const Entry& b) {
            return a.due != b.due ? a.due > b.due : a.order > b.order;
        }
    };
    void rebase();

    std::function<Time()> real_;
    Time base_real_;
    Time base_;
    double speed_ = 1.0;
    bool manual_ = false;
    std::uint64_t order_ = 0;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda_;
};

std::string iso_z(Time time);         ///< `2026-11-20T13:12:30Z`
std::string iso_micro(Time time);     ///< `2026-11-20T13:12:31.000000`
std::string spaced_micro(Time time);  ///< `2026-11-20 13:07:19.426801`
/// `2026-11-20T13:12:30Z`; none if it is not such a text.
std::optional<Time> parse_iso_z(const std::string& text);
Time to_seconds(Time time);  ///< rounded down, as databases of Nova keep it

}  // namespace reaper::cloudsim
