// What a proxy allows its clients and its upstream.
#pragma once

#include <cstddef>

#include "reaper/model/time.hpp"

namespace reaper {

struct HttpProxyLimits {
    std::size_t connections = 512;         ///< of clients, open at once
    std::size_t body_bytes = 1024 * 1024;  ///< of a request that the handler decides
    Duration head{30'000};                 ///< from a request's first byte to the end of its head
    Duration body{60'000};                 ///< between two pieces of a request's body
    Duration write{60'000};                ///< for each step of sending an answer to the client
    Duration idle{75'000};                 ///< between two requests
    Duration connect{5'000};               ///< to the upstream: name, TCP and TLS
    Duration upstream{300'000};            ///< until the upstream answers; between two pieces of it
    Duration upstream_idle{4'000};         ///< a connection to the upstream is kept so long
    /// A request that must not be sent twice goes out on a kept connection only if that was used
    /// within this time: its server won't close it just then.
    Duration surely_alive{1'000};
};

}  // namespace reaper
