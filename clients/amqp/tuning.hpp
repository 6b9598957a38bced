// What no operator needs to set of a connection to the broker.
#pragma once

#include <chrono>
#include <cstddef>

namespace reaper {

struct ConnectionTuning {
    /// How often exchange, queue and binding are checked while all is well.
    std::chrono::milliseconds recheck{10'000};
    /// Longest pause between two looks for an exchange that is not there.
    std::chrono::milliseconds recheck_missing_max{2'000};
    /// One question to the broker, and its confirmation of a dead-letter copy.
    std::chrono::milliseconds answer_timeout{10'000};
    /// How long `stop` waits for the broker before it cuts the connection.
    std::chrono::milliseconds stop_timeout{5'000};
    /// A larger body is cut, and then can't be understood.
    std::size_t max_body_bytes = 1024 * 1024;
};

}  // namespace reaper
