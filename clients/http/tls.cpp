#include "clients/http/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/error.hpp>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "reaper/model/text.hpp"

namespace reaper::http {

namespace {

namespace ssl = boost::asio::ssl;

Error unusable(const std::string& file, std::string_view what,
               const boost::system::error_code& error) {
    return {Errc::bad_input, "cannot use " + one_line(file, 300) + " as " + std::string(what) +
                                 ": " + one_line(error.message(), 200)};
}

bool is_address(const std::string& host) {
    boost::system::error_code error;
    boost::asio::ip::make_address(host, error);
    return !error;
}

std::string explain_certificate(long verdict, const TlsOptions& options, const Endpoint& endpoint) {
    const std::string words =
        std::string("certificate verify failed: ") + X509_verify_cert_error_string(verdict);
    switch (verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return words + ": the certificate is not for " + endpoint.host;
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:  // another authority of the same name
            return words + (options.ca_file.empty()
                                ? "; set " + options.ca_key + " to the PEM file of its authority"
                                : "; " + options.ca_key + " holds another authority");
        default: return words;
    }
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(TlsOptions options) {
    auto context = std::make_shared<TlsContext>(
        TlsContext{ssl::context(ssl::context::tls_client), std::move(options)});
    const TlsOptions& wanted = context->options;
    SSL_CTX_set_min_proto_version(context->ssl.native_handle(), TLS1_2_VERSION);
    boost::system::error_code error;
    if (!wanted.ca_file.empty()) {
        context->ssl.load_verify_file(wanted.ca_file, error);
        if (error) return unusable(wanted.ca_file, "certificates of authorities (PEM)", error);
    } else {
        context->ssl.set_default_verify_paths(error);
        if (error) return unusable("the system's certificates", "authorities", error);
    }
    context->ssl.set_verify_mode(wanted.verify ? ssl::verify_peer : ssl::verify_none, error);
    if (wanted.cert_file.empty() != wanted.key_file.empty())
        return Error{Errc::bad_input, "a client certificate needs both cert_file and key_file"};
    if (!wanted.cert_file.empty()) {
        // A key that asks for a passphrase must fail, not ask on the terminal.
        SSL_CTX_set_default_passwd_cb(context->ssl.native_handle(),
                                      [](char*, int, int, void*) { return 0; });
        context->ssl.use_certificate_chain_file(wanted.cert_file, error);
        if (error) return unusable(wanted.cert_file, "a client certificate (PEM)", error);
        context->ssl.use_private_key_file(wanted.key_file, ssl::context::pem, error);
        if (error)
            return unusable(wanted.key_file,
                            "the key of the client certificate (PEM, no passphrase)", error);
    }
    return context;
}

bool prepare_tls(SSL* ssl, const Endpoint& endpoint, bool verify) {
    const bool address = is_address(endpoint.host);
    if (!address && SSL_set_tlsext_host_name(ssl, endpoint.host.c_str()) != 1) return false;
    if (!verify) return true;
    if (address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), endpoint.host.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, endpoint.host.c_str()) == 1;
}

Failure explain_handshake(const boost::system::error_code& error, SSL* ssl,
                          const TlsOptions& options, const Endpoint& endpoint) {
    const bool ours =
        error == boost::asio::error::operation_aborted || error == boost::beast::error::timeout;
    const long verdict = SSL_get_verify_result(ssl);
    if (!ours && options.verify && verdict != X509_V_OK)
        return {Errc::tls, explain_certificate(verdict, options, endpoint), false};
    return explain(error, Stage::handshake, 0);
}

}  // namespace reaper::http
