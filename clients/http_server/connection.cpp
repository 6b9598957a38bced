#include "clients/http_server/connection.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "clients/http/wire.hpp"
#include "clients/http_server/address.hpp"
#include "clients/http_server/tls.hpp"
#include "reaper/ports/http_handler.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

// May this request be answered? A browser sends requests that its user did not make: to any name
// that an attacker lets resolve to our address (DNS rebinding), and from the pages of any site. So
// the name that was asked for must be ours, and no other site's page may have asked. Internal to
// clients/http_server.

/// An answer of the server itself, in the handlers' own form. `why` needs no escapes in JSON.
HttpResponse refusal(int status, const std::string& why);

/// Why not; none: it may. `here`: the address that it was sent to, none for a Unix socket (for
/// which clients make any name up; a browser that says whose page asks came through a tunnel, whose
/// end is on loopback). `names`: ours beside that.
std::optional<HttpResponse> refusal_of_sender(const HttpHeaders& headers,
                                              const std::optional<boost::asio::ip::address>& here,
                                              const std::vector<std::string>& names);

namespace {

using boost::asio::ip::address;
using boost::beast::iequals;

std::vector<std::string> values_of(const HttpHeaders& headers, std::string_view name) {
    std::vector<std::string> values;
    for (const auto& [key, value] : headers)
        if (iequals(key, name)) values.push_back(value);
    return values;
}

bool is_only(const HttpHeaders& headers, std::string_view name, std::string_view value) {
    const auto values = values_of(headers, name);
    return values.size() == 1 && iequals(values.front(), value);
}

/// `localhost` of `localhost:8787`, `::1` of `[::1]:8787`.
std::string host_of(const std::string& authority) {
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        return end == std::string::npos ? "" : authority.substr(1, end - 1);
    }
    std::string host = authority.substr(0, authority.find(':'));
    if (host.ends_with('.')) host.pop_back();
    return host;
}

bool is_own(const std::string& host, address here, const std::vector<std::string>& names) {
    const auto same = [&](const std::string& name) { return iequals(host, name); };
    if (std::any_of(names.begin(), names.end(), same)) return true;
    if (here.is_v6() && here.to_v6().is_v4_mapped())
        here = make_address_v4(boost::asio::ip::v4_mapped, here.to_v6());
    if (here.is_loopback() && same("localhost")) return true;
    boost::system::error_code wrong;
    const address asked = boost::asio::ip::make_address(host, wrong);
    return !wrong && asked == here;
}

/// Of a Unix socket, which browsers reach through a tunnel that ends on loopback.
bool is_at_a_tunnel(const std::string& origin, const std::vector<std::string>& names) {
    const std::size_t scheme = origin.find("://");
    if (scheme == std::string::npos) return false;
    const std::string host = host_of(origin.substr(scheme + 3));
    const auto same = [&](const std::string& name) { return iequals(host, name); };
    boost::system::error_code wrong;
    const address asked = boost::asio::ip::make_address(host, wrong);
    return same("localhost") || (!wrong && asked.is_loopback()) ||
           std::any_of(names.begin(), names.end(), same);
}

bool is_of_the_same_site(const std::string& origin, const std::string& host) {
    return iequals(origin, "http://" + host) || iequals(origin, "https://" + host);
}

}  // namespace

HttpResponse refusal(int status, const std::string& why) {
    HttpResponse response;
    response.status = status;
    const std::string_view title = boost::beast::http::obsolete_reason(
        boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    response.body = "{\"error\":{\"code\":" + std::to_string(status) + ",\"message\":\"" + why +
                    "\",\"title\":\"" + std::string{title} + "\"},\"version\":2}\n";
    return response;
}

std::optional<HttpResponse> refusal_of_sender(const HttpHeaders& headers,
                                              const std::optional<address>& here,
                                              const std::vector<std::string>& names) {
    const auto hosts = values_of(headers, "Host");
    if (hosts.size() > 1) return refusal(400, "the request has several Host headers");
    if (here && !hosts.empty() && !is_own(host_of(hosts.front()), *here, names))
        return refusal(421, "the Host header names another server; ask for the address itself");
    for (const std::string& origin : values_of(headers, "Origin")) {
        if (hosts.empty() || !is_of_the_same_site(origin, hosts.front()))
            return refusal(403, "the Origin header names another site");
        if (!here && !is_at_a_tunnel(origin, names))
            return refusal(403, "the Origin header names no address of this machine");
    }
    // A user who follows a link sees the answer, and the other page does not.
    const bool follows_link = is_only(headers, "Sec-Fetch-Mode", "navigate") &&
                              is_only(headers, "Sec-Fetch-Dest", "document");
    for (const std::string& site : values_of(headers, "Sec-Fetch-Site"))
        if (!follows_link && !iequals(site, "same-origin") && !iequals(site, "none"))
            return refusal(403, "a page of another site asked (Sec-Fetch-Site)");
    return std::nullopt;
}

namespace wire = boost::beast::http;
using boost::system::error_code;

namespace {

/// What is wrong with a request that could not be read; none if the client does not wait for an
/// answer.
std::optional<HttpResponse> refusal_of(const error_code& error) {
    if (error == wire::error::header_limit) return refusal(431, "the header is too long");
    if (error == wire::error::body_limit) return refusal(413, "the body is too long");
    if (error.category() == wire::make_error_code(wire::error::bad_method).category() &&
        error != wire::error::end_of_stream && error != wire::error::partial_message)
        return refusal(400, "this is no HTTP request");
    return std::nullopt;
}

HttpRequest request_of(wire::request<wire::string_body> read) {
    HttpRequest request;
    request.method = read.method_string();
    request.target = read.target();
    for (const auto& field : read) request.headers.emplace_back(field.name_string(), field.value());
    request.body = std::move(read.body());
    return request;
}

wire::response<wire::string_body> response_of(const HttpResponse& response, unsigned version) {
    wire::response<wire::string_body> message;
    message.version(version);
    message.result(static_cast<unsigned>(response.status));
    message.set(wire::field::content_type, response.content_type);
    message.set(wire::field::cache_control, "no-store");
    // Whatever else a browser would do with an answer: no other site gets it.
    message.set("X-Content-Type-Options", "nosniff");
    message.set("Cross-Origin-Resource-Policy", "same-origin");
    for (const auto& [name, value] : response.headers) message.set(name, value);
    return message;
}

std::string chunk_head(std::size_t bytes) {
    char text[24];
    std::snprintf(text, sizeof text, "%zx\r\n", bytes);
    return text;
}

}  // namespace

HttpConnection::HttpConnection(http::SocketStream::Socket socket,
                               http::SocketStream::TlsSettings tls, HttpPlace& place,
                               const HttpServerSettings& settings, const HttpHandler& handler)
    : stream_(std::move(socket), std::move(tls)),
      place_(place),
      settings_(settings),
      handler_(handler),
      buffer_(settings.limits.header_bytes + settings.limits.body_bytes + 4096) {}

Task<void> HttpConnection::serve() {
    const bool ready = co_await shake_hands();
    if (!ready) co_return;
    bool first = true;
    bool again = true;
    while (again) {
        again = co_await serve_one(first);
        first = false;
    }
    co_await stream_.leave();
}

Task<bool> HttpConnection::shake_hands() {
    stream_.expires_after(settings_.limits.read);
    const auto error = co_await stream_.shake_hands(boost::asio::ssl::stream_base::server);
    // Whatever is shown without being demanded is not looked at.
    if (!error && settings_.tls && !settings_.tls->client_ca_file.empty())
        certificate_name_ = name_of_peer(*stream_.tls()->native_handle());
    co_return !error;
}

Task<error_code> HttpConnection::read(Parser& parser) {
    error_code error = co_await http::read_message(stream_, buffer_, parser, http::Until::header);
    if (error || parser.is_done()) co_return error;
    // A client with a large body asks first.
    if (boost::beast::iequals(parser.get()[wire::field::expect], "100-continue")) {
        const bool listens = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
        if (!listens) co_return error_code(wire::error::end_of_stream);
    }
    stream_.expires_after(settings_.limits.read);
    error = co_await http::read_message(stream_, buffer_, parser, http::Until::end);
    co_return error;
}

Task<bool> HttpConnection::serve_one(bool first) {
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(settings_.limits.header_bytes));
    parser.body_limit(settings_.limits.body_bytes);
    stream_.expires_after(first ? settings_.limits.read : settings_.limits.idle);
    if (!first) place_.since = std::chrono::steady_clock::now();
    place_.half_open = true;
    const error_code error = co_await read(parser);
    if (error) {
        auto refused = refusal_of(error);
        if (refused) co_await send(std::move(*refused), 11, false);
        co_return false;
    }
    place_.half_open = false;
    const auto version = parser.get().version();
    const bool keep = parser.get().keep_alive() && !place_.for_probes;
    HttpRequest request = request_of(parser.release());
    request.certificate_name = certificate_name_;
    request.address = place_.address;
    const bool head = request.method == "HEAD";
    HttpResponse response = co_await answer(std::move(request));
    if (head) response.more = nullptr;
    if (head) response.body.clear();
    co_return co_await send(std::move(response), version, keep && !head);
}

bool HttpConnection::is_probe(std::string_view target) const {
    const auto path = target.substr(0, target.find('?'));
    return std::find(settings_.probes.begin(), settings_.probes.end(), path) !=
           settings_.probes.end();
}

Task<HttpResponse> HttpConnection::answer(HttpRequest request) {
    HttpResponse response;
    if (place_.for_probes && !is_probe(request.target))
        co_return refusal(503, "too many connections: try again");
    error_code gone;
    std::optional<boost::asio::ip::address> here;
    const auto endpoint = as_tcp(stream_.tcp().socket().local_endpoint(gone));
    if (endpoint) here = endpoint->address();
    if (auto refused = refusal_of_sender(request.headers, here, settings_.names))
        co_return std::move(*refused);
    try {
        response = co_await handler_(std::move(request));
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", settings_.name, wrong.what());
        response = refusal(500, "this should not happen, please report it");
    }
    co_return response;
}

Task<bool> HttpConnection::send(HttpResponse response, unsigned version, bool keep) {
    const bool streamed = static_cast<bool>(response.more);
    const bool chunked = streamed && version >= 11;
    auto message = response_of(response, version);
    message.keep_alive(keep && (chunked || !streamed));
    if (streamed) {
        message.chunked(chunked);
    } else {
        message.body() = std::move(response.body);
        message.prepare_payload();
    }
    const std::string head = http::head_of(message);
    bool fine = co_await write(head, message.body());
    if (fine && streamed) fine = co_await stream_out(std::move(response), chunked);
    co_return fine&& message.keep_alive();
}

Task<bool> HttpConnection::stream_out(HttpResponse response, bool chunked) {
    bool fine = true;
    std::optional<std::string> piece = std::move(response.body);
    while (fine && piece) {
        if (!piece->empty() && chunked) {
            const std::string before = chunk_head(piece->size());
            fine = co_await write(before, *piece, "\r\n");
        } else if (!piece->empty()) {
            fine = co_await write(*piece);
        }
        if (fine) piece = co_await response.more();
    }
    if (fine && chunked) fine = co_await write("0\r\n\r\n");
    co_return fine;
}

Task<bool> HttpConnection::write(std::string_view first, std::string_view second,
                                 std::string_view third) {
    stream_.expires_after(settings_.limits.write);
    const http::SocketStream::Pieces pieces{boost::asio::buffer(first), boost::asio::buffer(second),
                                            boost::asio::buffer(third)};
    const http::Moved moved = co_await stream_.write(pieces);
    co_return !moved.error;
}

}  // namespace reaper
