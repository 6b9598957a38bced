#include "clients/http/failure.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "clients/http/text.hpp"

namespace reaper::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

Failure explain_tls(const boost::system::error_code& error) {
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
    switch (reason) {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return {Errc::tls,
                    "the server refuses the TLS handshake (" + one_line(error.message(), 100) +
                        "); if it asks for a client certificate, set cloud.cert_file and "
                        "cloud.key_file",
                    false};
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
            return {Errc::tls, "the server does not speak TLS here; is it http instead of https?",
                    false};
        default: return {Errc::tls, "TLS: " + one_line(error.message(), 200), false};
    }
}

std::string describe(const boost::system::error_code& error) {
    if (error == asio::error::connection_refused) return "connection refused";
    if (error == asio::error::connection_reset || error == asio::error::broken_pipe)
        return "the server closed the connection";
    if (error == asio::error::host_not_found || error == asio::error::no_data)
        return "no such host name";
    if (error == asio::error::host_not_found_try_again)
        return "the name of the host can't be looked up now";
    if (error == asio::error::host_unreachable || error == asio::error::network_unreachable)
        return "no route to the host";
    return one_line(error.message(), 200);
}

}  // namespace

Failure explain(const boost::system::error_code& error, Stage stage, std::uint64_t max_body_bytes) {
    namespace http_error = beast::http;
    if (error == asio::error::operation_aborted) return {Errc::cancelled, "cancelled", false};
    if (error == beast::error::timeout) return {Errc::timeout, "no answer in time"};
    if (error == http_error::error::body_limit)
        return {Errc::bad_answer,
                "the answer is larger than " + std::to_string(max_body_bytes) + " bytes", false};
    if (error == http_error::error::header_limit || error == http_error::error::buffer_overflow)
        return {Errc::bad_answer, "the answer's headers are too large", false};
    if (error == http_error::error::end_of_stream)
        return {Errc::unreachable, "the server closed the connection without an answer"};
    if (error == http_error::error::partial_message)
        return {Errc::unreachable, "the answer broke off in the middle"};
    if (error == asio::ssl::error::stream_truncated || error == asio::error::eof)
        return {Errc::unreachable, stage == Stage::handshake
                                       ? "the server closed the connection in the TLS handshake"
                                       : "the server closed the connection"};
    if (error.category() == asio::error::get_ssl_category()) return explain_tls(error);
    if (stage == Stage::reading &&
        error.category() == make_error_code(http_error::error::bad_version).category())
        return {Errc::bad_answer, "the answer is not HTTP (" + one_line(error.message(), 100) + ")",
                false};
    return {Errc::unreachable, describe(error)};
}

}  // namespace reaper::http
