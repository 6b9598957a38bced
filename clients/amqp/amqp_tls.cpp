#include "clients/amqp/amqp_tls.hpp"

#include <amqp_ssl_socket.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace reaper::amqp {
namespace {

std::string openssl_reason() {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    return reason ? reason : "unknown reason";
}

Error unusable(const std::string& key, const std::string& file) {
    return {Errc::bad_input, "broker." + key + ": " + file + " can't be used: " + openssl_reason()};
}

TlsDiagnosis* diagnosis_of(const SSL* ssl) {
    return static_cast<TlsDiagnosis*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

/// OpenSSL's verdict stands; it is only noted.
int note_certificate(int good, X509_STORE_CTX* store) {
    if (good == 1) return 1;
    const auto* ssl = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    diagnosis_of(ssl)->certificate = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    return 0;
}

void note_alert(const SSL* ssl, int where, int value) {
    constexpr int close_notify = 0;
    if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || (value & 0xff) == close_notify) return;
    diagnosis_of(ssl)->alert = SSL_alert_desc_string_long(value);
}

/// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) {
    return 0;
}

Result<void> trust(SSL_CTX* context, const config::Broker& broker) {
    if (broker.ca_file.empty()) {
        if (SSL_CTX_set_default_verify_paths(context) != 1) {
            return Error{Errc::bad_input, "the system's certificates can't be read: " +
                                              openssl_reason() + "; set broker.ca_file"};
        }
    } else if (SSL_CTX_load_verify_locations(context, broker.ca_file.c_str(), nullptr) != 1) {
        return unusable("ca_file", broker.ca_file);
    }
    return {};
}

Result<void> identify(SSL_CTX* context, const config::Broker& broker) {
    if (broker.cert_file.empty()) return {};
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(context, broker.cert_file.c_str()) != 1) {
        return unusable("cert_file", broker.cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(context, broker.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return unusable("key_file", broker.key_file);
    }
    return {};
}

/// The library's own check of names knows no addresses; OpenSSL's does.
Result<void> expect_name(SSL_CTX* context, const std::string& host) {
    X509_VERIFY_PARAM* expected = SSL_CTX_get0_param(context);
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return {};
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1) return {};
    return Error{Errc::bad_input, "broker URL: the host name can't be used for TLS"};
}

}  // namespace

std::string TlsDiagnosis::describe() const {
    if (!certificate.empty()) {
        return "the broker's certificate is not accepted: " + certificate +
               " (see broker.ca_file, and the host name in the URL)";
    }
    if (!alert.empty()) {
        return "the broker refused TLS: " + alert +
               " (see broker.cert_file and key_file: it may ask for a client certificate that "
               "its CA has signed)";
    }
    return "TLS failed: " + openssl_reason() +
           " (does this port speak TLS? if not, write amqp:// with its plain port)";
}

Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t connection, const BrokerUrl& url,
                                       const config::Broker& broker, TlsDiagnosis& diagnosis) {
    ERR_clear_error();
    amqp_socket_t* socket = amqp_ssl_socket_new(connection);
    if (!socket) return Error{Errc::tls, "OpenSSL can't be set up: " + openssl_reason()};
    auto* context = static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket));
    SSL_CTX_set_app_data(context, &diagnosis);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_info_callback(context, note_alert);
    if (const auto done = identify(context, broker); !done) return done.error();
    amqp_ssl_socket_set_verify_hostname(socket, 0);  // expect_name does it
    amqp_ssl_socket_set_verify_peer(socket, broker.verify_tls ? 1 : 0);
    if (!broker.verify_tls) return socket;
    if (const auto done = trust(context, broker); !done) return done.error();
    if (const auto done = expect_name(context, url.host); !done) return done.error();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_certificate);
    return socket;
}

}  // namespace reaper::amqp
