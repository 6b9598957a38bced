// Nova's INFO notifications, from bytes on the wire to a CloudEvent. Pure; made for thousands of
// messages per second, nearly all of which are of no interest.
// Source: nova's notification objects (InstancePayload 1.x and what extends it,
// ServiceStatusPayload 1.x, AggregatePayload 1.x) inside oslo.messaging's envelope 2.0 or bare.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "reaper/model/cloud_event.hpp"
#include "reaper/model/failure_notice.hpp"
#include "reaper/model/schedule.hpp"

namespace reaper {

// What Nova's API would show as a server's `status`, from what its notifications show.

/// `active` with `resize_prep` is `RESIZE`, ...; `UNKNOWN` for a vm_state that Nova does not have.
/// `task_state` is empty if there is none. Source: nova/api/openstack/common.py, _STATE_MAP (Zed);
/// `pending` is the patched Nova's.
std::string nova_status(std::string_view vm_state, std::string_view task_state);

}  // namespace reaper

namespace reaper::amqp {

// `scheduler.select_destinations.start` and `.end`: what the scheduler was asked. Internal to the
// parser of events.
// Source: nova's RequestSpecPayload 1.1, DestinationPayload 1.0, ImageMetaPropsPayload 1.x.

/// `message`: the JSON inside the envelope. Throws WrongJson.
Schedule schedule_of(std::string_view message);

}  // namespace reaper::amqp

namespace reaper {

/// An event that changes nothing that we look at.
struct NoEvent {
    friend bool operator==(const NoEvent&, const NoEvent&) = default;
};

using ParsedEvent = std::variant<CloudEvent, NoEvent, Malformed>;

class CloudEventParser {
public:
    CloudEventParser();
    ~CloudEventParser();
    CloudEventParser& operator=(CloudEventParser&&) = delete;

    /// Never throws and never trusts: any bytes give one of the three. Reads no further than it
    /// must, so what follows the payload and the time of a message may be anything.
    ParsedEvent parse(std::string_view body);

private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;  // memory that the next message uses again
};

}  // namespace reaper
