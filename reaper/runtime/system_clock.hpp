// The real clock.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Reads the system's clock; sleeps on the executor. A sleep ends early, by an exception of
/// Asio's, only if its coroutine is cancelled.
std::unique_ptr<Clock> make_system_clock(boost::asio::any_io_executor executor);

}  // namespace reaper
