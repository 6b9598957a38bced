#include "clients/http/failure.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <cmath>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "reaper/model/text.hpp"

namespace reaper::http {

Errc failure_kind(int status) {
    switch (status) {
        case 401: return Errc::unauthorized;
        case 403: return Errc::forbidden;
        case 404: return Errc::not_found;
        case 409: return Errc::conflict;
        case 429: return Errc::server_error;  // like 503: too busy, not our mistake
        default: break;
    }
    if (status >= 500) return Errc::server_error;
    return status >= 400 ? Errc::rejected : Errc::bad_answer;
}

std::string redirect_hint(const Response& response) {
    if (response.status < 300 || response.status >= 400) return {};
    const std::string hint = "; redirects are not followed: set the address that it leads to";
    const std::string_view location = response.header("location");
    return location.empty() ? hint : hint + " (" + one_line(location, 200) + ")";
}

std::string without_tags(std::string_view body) {
    std::string words;
    bool in_tag = false;
    for (const char c : body.substr(0, 4096)) {
        if (c == '<') in_tag = true;
        if (!in_tag) words += c;
        if (c == '>') {
            in_tag = false;
            words += ' ';
        }
    }
    return words;
}

std::string without(std::string text, const std::string& secret) {
    if (secret.empty()) return text;
    constexpr std::string_view mark = "...";
    // On behind the mark, which may hold the secret itself (a password of dots).
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + mark.size()))
        text.replace(at, secret.size(), mark);
    return text;
}

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

namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

}  // namespace

std::optional<TimePoint> http_date(std::string_view text) {
    static constexpr std::array<std::string_view, 12> months{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT")
        return std::nullopt;
    const auto* const month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const auto day = number(text.substr(5, 2));
    const auto year = number(text.substr(12, 4));
    const auto hour = number(text.substr(17, 2));
    const auto minute = number(text.substr(20, 2));
    const auto second = number(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(*year),
        std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
        std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return TimePoint(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
           std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

bool is_repeatable(const Request& request) {
    if (request.repeat != Repeat::by_method) return request.repeat == Repeat::safe;
    return request.method == Method::get || request.method == Method::head;
}

bool is_retryable(const Request& request, int status) {
    if (!is_repeatable(request)) return false;
    if (status == 500) return request.method == Method::get || request.method == Method::head;
    return status == 429 || status == 502 || status == 503 || status == 504;
}

Duration backoff_pause(Duration base, Duration limit, int retry, double random) {
    const double grown = static_cast<double>(base.count()) * std::pow(2.0, std::max(0, retry - 1));
    const double most = std::min(grown, static_cast<double>(limit.count()));
    return Duration(static_cast<Duration::rep>(most * std::clamp(random, 0.0, 1.0)));
}

std::optional<Duration> retry_after(std::string_view value, TimePoint now) {
    if (const auto seconds = number(value)) return std::chrono::seconds(*seconds);
    if (const auto date = http_date(value)) return std::max(Duration(0), *date - now);
    return std::nullopt;
}

}  // namespace reaper::http
