// `scheduler.select_destinations.start` and `.end`: what the scheduler was asked. Internal to the
// parser of events.
// Source: nova's RequestSpecPayload 1.1, DestinationPayload 1.0, ImageMetaPropsPayload 1.x.
#pragma once

#include <string_view>

#include "reaper/model/schedule.hpp"

namespace reaper::amqp {

/// `message`: the JSON inside the envelope. Throws WrongJson.
Schedule schedule_of(std::string_view message);

}  // namespace reaper::amqp
