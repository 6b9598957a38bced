// Name look-up that can be given up in time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <variant>
#include <vector>

#include "clients/http/failure.hpp"
#include "clients/http/url.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;

/// The system's resolver can't be interrupted: at the limit its answer is no longer waited for. An
/// address needs no look-up.
Task<std::variant<Addresses, Failure>> resolve(boost::asio::any_io_executor executor,
                                               const Endpoint& endpoint, TimeLimit limit);

}  // namespace reaper::http
