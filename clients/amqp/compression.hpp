// Bodies that oslo.messaging's `kombu_compression` packed, unpacked within a bound.
// Source: kombu/compression.py (content types and their other names). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"

namespace reaper::amqp {

/// `how` is the value of the message's header `compression`. Errors, `bad_input`, with what to do
/// where something can be done: not known, damaged, cut, or more than `most` bytes when unpacked.
Result<std::string> unpacked(std::string_view packed, const std::string& how, std::size_t most);

}  // namespace reaper::amqp
