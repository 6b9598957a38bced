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
    CloudEventParser(const CloudEventParser&) = delete;
    CloudEventParser& operator=(const CloudEventParser&) = delete;

    /// Never throws and never trusts: any bytes give one of the three. Reads no further than it
    /// must, so what follows the payload and the time of a message may be anything.
    ParsedEvent parse(std::string_view body);

private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;  // memory that the next message uses again
};

}  // namespace reaper
