// Waits between tries of something outside.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

/// Ends early when `stopping` (which must outlive the sleep, as the clock must) becomes true.
Task<void> sleep_unless(const bool& stopping, Clock& clock, Duration duration);

/// The duration, by up to a tenth shorter or longer.
Duration spread(Duration duration);

/// Pauses between tries: each twice the last, from `first` to `longest`. The wait is a random part
/// of it, from half to all, so that many waiting clients do not come back at the same time.
class GrowingPause {
public:
    GrowingPause(Duration first, Duration longest);
    Duration next();
    /// It worked: the next pause is the first one again.
    void reset() { next_ = first_; }
    /// What will not recover soon (wrong credentials, say) is tried at the longest interval.
    void slow_down() { next_ = longest_; }
    Duration longest() const { return longest_; }

private:
    Duration first_, longest_, next_;
};

/// Waits such pauses, by the given clock.
class Backoff {
public:
    explicit Backoff(Clock& clock, Duration longest = std::chrono::seconds{15},
                     Duration first = std::chrono::milliseconds{250});
    /// Ends early when `stopping` (which must outlive the pause) becomes true.
    Task<void> pause(const bool& stopping);
    /// The jitter of this thread's pauses, from a seed: for tests that are to be repeated exactly.
    static void seed(unsigned seed);
    /// What will not recover soon (wrong credentials, say) is tried at the longest interval.
    void slow_down() { pause_.slow_down(); }
    /// It worked: the next pause is the first one again.
    void reset() { pause_.reset(); }

private:
    Clock& clock_;
    GrowingPause pause_;
};

// Writing to the journal until it works: what is not journalled must not be acknowledged.

/// Whether a caller waits for the journal to take a write, and why it does not.
class JournalTrouble {
public:
    /// While it lives, a caller waits.
    class Wait {
    public:
        Wait(JournalTrouble& trouble, std::string why) : trouble_(trouble) {
            ++trouble_.waiting_;
            trouble_.why_ = std::move(why);
        }
        ~Wait() { --trouble_.waiting_; }
        Wait& operator=(Wait&&) = delete;

    private:
        JournalTrouble& trouble_;
    };
    /// None if no caller waits.
    std::optional<std::string> why() const {
        return waiting_ > 0 ? std::optional{why_} : std::nullopt;
    }

private:
    int waiting_ = 0;
    std::string why_;
};

/// Calls `write` (a callable that returns ResultTask<void>) until it succeeds. False: `stopping`
/// became true, and it still fails. `clock`, `stopping` and `trouble`, which is informed of the
/// wait, must outlive the call.
template <class Write>
Task<bool> retry_until_journaled(Clock& clock, const bool& stopping, std::string what, Write write,
                                 JournalTrouble* trouble = nullptr) {
    std::optional<JournalTrouble::Wait> wait;
    Backoff backoff{clock, std::chrono::seconds{30}};
    while (true) {
        auto written = co_await write();
        if (written) co_return true;
        spdlog::error("{}: not journalled, so not acknowledged; trying again: {}", what,
                      written.error().what);
        if (stopping) co_return false;
        if (trouble != nullptr) wait.emplace(*trouble, written.error().what);
        co_await backoff.pause(stopping);
    }
}

}  // namespace reaper
