// Port: what asks for room.
//
// A trigger learns of a need for room and submits a request for it to the sink. Its source may be a
// failure message of Nova's, an unshelving that found no host, or an operator. What all triggers
// have in common is here; what one of them knows of its source stays with it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "reaper/model/request.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// The right to act for a request: while it is not held, nothing is written to the cloud for it.
class Lease {
public:
    virtual ~Lease() = default;
    /// Is it surely ours now? Cheap.
    virtual bool held() const = 0;
    /// Why it is not, for people: a clause.
    virtual std::string why_not() const {
        return "the connection to the broker was lost or can't be proven alive: another reaper may "
               "serve the request by now";
    }
    /// It is lost for good: the client that waited for the outcome has left.
    virtual bool given_up() const { return false; }
};

/// One need for room, as a trigger reports it.
struct TriggeredRequest {
    /// What is known without a question; it stands in the journal if no more can be found out.
    /// `id`, `source`, `sent_at` and `deadline` are given.
    Request request;
    /// The event that reported it: the same again in a repetition of it.
    std::string event_id;
    std::string event_type;
    /// The event was delivered before, to a reaper that may have served it and ended.
    bool maybe_served = false;
    /// Nova had found hosts, and they failed: that room was there says nothing against them.
    bool had_hosts = false;

    /// The right to serve it, from its submission.
    std::shared_ptr<const Lease> lease;
    /// Asks the source for what `request` lacks. It may be called again after an error. Empty:
    /// it is whole.
    std::function<ResultTask<std::variant<Request, Refused>>()> complete{};
    /// Reported once, when the outcome is journaled (or was long ago). Not reported if the reaper
    /// stops first: the journal has what was begun, and the event must come again. Empty: no source
    /// waits.
    std::function<void(const Outcome&)> done{};
};

class RequestSink {
public:
    virtual ~RequestSink() = default;
    /// Serves it, or lets it join the request of that id that is being served.
    virtual void submit(TriggeredRequest request) = 0;
};

}  // namespace reaper
