// Trigger: servers have to go from a host that is loaded too much, or that sold more than it has,
// or for a duty. They go by the same way as other victims, under all limits; the room that they
// leave is promised to no request.
#pragma once

#include <functional>

#include "reaper/model/correction.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

class CorrectionTrigger {
public:
    /// References must outlive it, and the requests that it submitted.
    struct Dependencies {
        Clock& clock;
        const MessageSource& messages;  ///< knows which reaper serves the queue
        RequestSink& sink;
        const bool& stopping;
        bool dry_run = false;  ///< it works beside the reaper that serves
    };
    /// What is not begun by then is found out again.
    static constexpr Duration valid_for = std::chrono::seconds{60};

    explicit CorrectionTrigger(Dependencies dependencies) : dependencies_(dependencies) {}

    /// False, and nothing happens: there are no servers, or this reaper does not serve; the one
    /// that does finds out by itself. `done` receives the outcome, unless the reaper stops first.
    bool submit(Correction correction, CorrectionSource source,
                std::function<void(const Outcome&)> done);

private:
    Dependencies dependencies_;
    unsigned made_ = 0;
};

}  // namespace reaper
