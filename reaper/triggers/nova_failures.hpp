// The intake: what becomes of each message, and which messages wait for which request.
//
// A message is acknowledged when its outcome is journalled (rule 6): at once if it makes no request
// (another cause, too old), with its request otherwise. The messages of one multi-create, and
// redeliveries, join the request that is being served (rule 4). What can't be understood goes to
// the dead-letter queue.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/model/failure_notice.hpp"

namespace reaper {

/// The journal's entry for a message of a failure, without verdict and reason.
MessageEntry entry_for(const FailureNotice& notice, const RequestId& key, TimePoint at);

class Intake {
public:
    /// What the intake works with; all of it must outlive it.
    struct Parts {
        Clock& clock;
        Journal& journal;
        MessageSource& messages;
        const config::Trigger& settings;
        const bool& stopping;
    };
    using Spawn = std::function<void(Task<void>)>;
    /// `redelivered`: the broker gave its message to somebody before.
    using NewRequest = std::function<void(FailureNotice, RequestId, bool redelivered)>;

    /// `spawn` runs a coroutine of the intake; `new_request` begins to serve a request.
    Intake(Parts parts, Spawn spawn, NewRequest new_request);

    void on_message(Delivery delivery);
    /// A request that the journal left unfinished is served again: its messages will join it.
    void hold(const RequestId& key) { in_hand_[key]; }
    /// Servers of further messages that joined the request.
    std::vector<ServerId> joined(const RequestId& key) const;
    /// The request is served no more; its messages are acknowledged if its outcome is journalled.
    void close(const RequestId& key, bool journalled);
    /// Is one of its messages surely still ours (see MessageSource::holds)?
    bool holds(const RequestId& key) const;
    std::size_t in_hand() const noexcept { return in_hand_.size(); }

private:
    /// A request that is being served, and who waits for its outcome.
    struct InHand {
        std::set<DeliveryTicket> tickets;
        std::set<std::string> messages;  ///< ids
        std::vector<ServerId> joined;
    };

    void on_notice(FailureNotice notice, DeliveryTicket ticket, bool redelivered);
    void on_ignored(Ignored ignored, DeliveryTicket ticket);
    void on_malformed(Malformed malformed, Delivery delivery);
    void join(InHand& request, const FailureNotice& notice, MessageEntry entry,
              DeliveryTicket ticket);
    Task<bool> note(MessageEntry entry);
    Task<void> note_joined(MessageEntry entry);
    Task<void> note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket);
    Task<void> note_and_set_aside(MessageEntry entry, Delivery delivery);

    Parts parts_;
    Spawn spawn_;
    NewRequest new_request_;
    std::map<RequestId, InHand> in_hand_;
};

}  // namespace reaper
