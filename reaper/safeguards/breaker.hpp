// The circuit breaker: opens when culls keep going unused or deletions keep failing. It only
// tells that it opens; stopping, and going on, is the pause switch's (`reaper pause`, `resume`).
#pragma once

#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

/// What became of the room of a cull.
enum class CullWorth {
    helped,    ///< it was taken by whom it was freed for
    needless,  ///< they found room elsewhere: says nothing of the next cull
    wasted,    ///< nobody took the room
};

class Breaker {
public:
    Breaker() = default;
    explicit Breaker(const BreakerSettings& settings) : settings_{settings} {}
    void reload(const BreakerSettings& settings) { settings_ = settings; }

    /// Each returns why the breaker opens, when it does: what happened, and how to close it. Once
    /// open it says nothing more until `reset`.
    std::optional<std::string> note_freed_room(const RequestId& request, CullWorth worth);
    std::optional<std::string> note_deletion(bool succeeded, const RequestId& request);

    /// Somebody has looked (`reaper resume`): counting begins anew.
    void reset();
    bool open() const { return open_; }
    /// In a row, so far.
    int wasted() const { return wasted_; }
    int failed() const { return failed_; }

private:
    BreakerSettings settings_;
    int wasted_ = 0;
    int failed_ = 0;
    bool open_ = false;
};

}  // namespace reaper
