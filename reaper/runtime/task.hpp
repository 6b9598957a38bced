// Asynchronous results. One thread runs all of them. Mind the compiler: pass named locals to
// co_await, never braced temporaries or capturing lambdas (g++ 12 destroys those twice).
#pragma once

#include <boost/asio/awaitable.hpp>

#include "reaper/model/error.hpp"

namespace reaper {

template <class T>
using Task = boost::asio::awaitable<T>;

/// What most port calls return: a value, or an expected failure.
template <class T>
using ResultTask = Task<Result<T>>;

}  // namespace reaper
