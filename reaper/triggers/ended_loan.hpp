// Trigger: a reservation takes back what it lent, because the loan lasted long enough or the room
// is to be unreserved. Its tenants go by the same way as other victims, under all limits; no other
// server is deleted, and the room is the reservation's when it comes free.
#pragma once

#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/reservations/reservation_lending.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

class EndedLoanTrigger {
public:
    /// References must outlive it, and the requests that it submitted; `settings` may change.
    struct Dependencies {
        Clock& clock;
        const config::Trigger& settings;
        const MessageSource& messages;  ///< knows which reaper serves the queue
        RequestSink& sink;
        const bool& stopping;
    };
    explicit EndedLoanTrigger(Dependencies dependencies) : dependencies_(dependencies) {}

    /// Nothing happens if this reaper does not serve: the one that does takes it back.
    void submit(const EndedLoan& loan);

private:
    Dependencies dependencies_;
    unsigned made_ = 0;
};

}  // namespace reaper
