// Writing to the journal until it works: what is not journalled must not be acknowledged.
#pragma once

#include <optional>
#include <spdlog/spdlog.h>
#include <string>
#include <utility>

#include "reaper/runtime/backoff.hpp"

namespace reaper {

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
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

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
