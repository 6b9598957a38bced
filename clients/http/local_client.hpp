// One request over a Unix socket, for commands that wait for the answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "reaper/model/error.hpp"

namespace reaper::http {

struct LocalAnswer {
    int status = 0;
    std::string body;  ///< what came in pieces is not in it
};

/// POSTs the JSON and waits for the end of the answer. An answer of status 200 is told line by
/// line, as it comes. `unreachable`: nobody listens there; `forbidden`: the socket is another
/// user's.
Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body,
                                 const std::function<void(const std::string&)>& on_line);

/// The same of a GET.
Result<LocalAnswer> get_locally(const std::string& socket, const std::string& target,
                                const std::function<void(const std::string&)>& on_line);

/// POSTs the JSON, or GETs; the answer has its whole body, whatever its status. `timeout`: nothing
/// came for so long, for a POST a minute. `connected`: false if surely nothing was sent.
Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body, bool& connected);
Result<LocalAnswer> get_locally(const std::string& socket, const std::string& target,
                                std::chrono::milliseconds longest_silence = std::chrono::seconds{
                                    60});

}  // namespace reaper::http
