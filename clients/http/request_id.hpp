// Names for our own calls, which OpenStack's services write into their logs.
#pragma once

#include <random>
#include <string>

namespace reaper::http {

/// `req-` and a random UUID (version 4), the form that OpenStack takes over from a caller.
std::string make_request_id(std::mt19937_64& random);

}  // namespace reaper::http
