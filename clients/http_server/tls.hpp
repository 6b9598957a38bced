// What a server with TLS shows, and what it demands of its clients.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "clients/http_server/server.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// TLS 1.2 or later. `bad_input` names the file that can't be read or does not fit, after `name`.
Result<std::shared_ptr<boost::asio::ssl::context>> make_server_tls(const HttpServerTls& files,
                                                                   const std::string& name);

/// When the first certificate of a PEM file expires: the one that a server shows. `bad_input` if
/// there is none.
Result<TimePoint> certificate_expires(const std::string& file);

/// The common name in the subject of the certificate that the other side showed; empty: it has
/// none, several, or one with bytes that are no text.
std::string name_of_peer(SSL& connection);

}  // namespace reaper
