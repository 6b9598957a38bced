// The ids of requests that carry out corrections say who found out.
#pragma once

#include "reaper/model/correction.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// `qos-1800000000000-1`, `estimator-1800000000000-2`: `number` is another one each time.
RequestId correction_request_id(CorrectionSource source, TimePoint now, unsigned number);

/// Is it one of a QoS controller's?
bool is_of_qos(const RequestId& request);

}  // namespace reaper
