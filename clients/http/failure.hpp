// What goes wrong between us and a server, in plain words.
#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "reaper/model/error.hpp"

namespace reaper::http {

/// The moment when a call or a part of it is given up; the real, steady clock.
using TimeLimit = std::chrono::steady_clock::time_point;

struct Failure {
    Errc code{};
    std::string cause;      ///< without method and endpoint
    bool retryable = true;  ///< may pass by itself
    bool answer_began = false;
    bool unwanted = false;  ///< not sent: `Request::still_wanted` said no
    bool sent = true;       ///< false: surely not a byte of the request went out
};

/// The stage of a connection that failed; it changes the words.
enum class Stage { connecting, handshake, sending, reading };

Failure explain(const boost::system::error_code& error, Stage stage, std::uint64_t max_body_bytes);

}  // namespace reaper::http
