// What is configured of the end of servers: notice before it (notice.hpp), and shelving instead
// (shelving.hpp).
#pragma once

#include <string>
#include <vector>

#include "reaper/model/time.hpp"

namespace reaper {

/// Not more is configured: RabbitMQ keeps the message of a request for half an hour.
inline constexpr Duration longest_notice = std::chrono::minutes{20};

/// `notice:` as written; 0 is none.
struct NoticeSettings {
    Duration period{0};                ///< of every revocable server
    std::vector<std::string> periods;  ///< `NAME=DURATION`: a flavor, project id or tagger
    std::string owner_key;             ///< of a server's metadata; empty: owners have no say
    Duration longest{600'000};         ///< that an owner gets
    Duration stop_before{0};           ///< before its end: then a server is stopped

    friend bool operator==(const NoticeSettings&, const NoticeSettings&) = default;
};

/// `shelve:`
struct ShelveSettings {
    std::vector<std::string> servers;  ///< flavors, project ids and taggers; or `all`
    std::string owner_key;             ///< of a server's metadata; empty: owners have no say
    int returns_per_hour = 60;         ///< servers that come back, at most; 0: none

    friend bool operator==(const ShelveSettings&, const ShelveSettings&) = default;
};

}  // namespace reaper
