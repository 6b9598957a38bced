// TLS towards the broker: what is trusted, who we are, and why a handshake failed.
// Internal to clients/amqp.
#pragma once

#include <amqp.h>
#include <string>

#include "config/broker_url.hpp"
#include "config/settings.hpp"
#include "reaper/model/error.hpp"

namespace reaper::amqp {

/// What OpenSSL reported during a handshake. Must stay where it is while the socket lives.
struct TlsDiagnosis {
    std::string certificate;  ///< what is wrong with the broker's
    std::string alert;        ///< what the broker said about us

    /// One clause, with what to do.
    std::string describe() const;
    bool empty() const { return certificate.empty() && alert.empty(); }
};

/// A TLS socket for the connection (which owns it), not yet opened. TLS 1.2 or later; certificate
/// and host name (or address) are verified during the handshake, before the password is sent.
/// Errors: `bad_input` for files that can't be used.
Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t connection, const BrokerUrl& url,
                                       const config::Broker& broker, TlsDiagnosis& diagnosis);

}  // namespace reaper::amqp
