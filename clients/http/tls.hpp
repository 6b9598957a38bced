// TLS: what we demand of the server and what we show it.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <openssl/ssl.h>

#include "clients/http/client.hpp"
#include "clients/http/failure.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::http {

struct TlsContext {
    boost::asio::ssl::context ssl;
    TlsOptions options;
};

/// What a connection is made with; keeps the whole context alive.
inline std::shared_ptr<boost::asio::ssl::context> ssl_of(
    const std::shared_ptr<TlsContext>& context) {
    return {context, &context->ssl};
}

/// TLS 1.2 or later. `bad_input` names the file that can't be read or does not fit.
Result<std::shared_ptr<TlsContext>> make_tls_context(TlsOptions options);

/// Prepares one connection: SNI, and that the certificate must be for this host (an address is
/// compared with the certificate's addresses).
bool prepare_tls(SSL* ssl, const Endpoint& endpoint, bool verify);

/// Why the handshake failed.
Failure explain_handshake(const boost::system::error_code& error, SSL* ssl,
                          const TlsOptions& options, const Endpoint& endpoint);

}  // namespace reaper::http
