// Nova's failure notifications, from bytes on the wire to a FailureNotice. Pure.
// Source: nova's notification objects (ComputeTaskPayload 1.0, RequestSpecPayload 1.x,
// ExceptionPayload 1.x) inside oslo.messaging's envelope 2.0 or bare.
#pragma once

#include <string_view>
#include <variant>

#include "reaper/model/failure_notice.hpp"

namespace reaper {

using Notification = std::variant<FailureNotice, Ignored, Malformed>;

/// Never throws and never trusts: any bytes give one of the three. Texts that end up in logs
/// (exception, event type, reasons) have control characters escaped and are cut to a sane length.
Notification parse_notification(std::string_view body);

}  // namespace reaper
