// Opening a connection: name look-up, TCP, TLS.
#pragma once

#include <optional>

#include "clients/http/client.hpp"
#include "clients/http/failure.hpp"
#include "clients/http/socket_stream.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

/// Connects the stream, address by address, and shakes hands if it has TLS. Why it can't, or none.
/// The stream and the options must live until then.
Task<std::optional<Failure>> dial(SocketStream& stream, const Endpoint& endpoint,
                                  const TlsOptions& options, TimeLimit limit);

}  // namespace reaper::http
