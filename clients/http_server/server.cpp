#include "clients/http_server/server.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdio>
#include <exception>
#include <list>
#include <map>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "clients/http/socket_stream.hpp"
#include "clients/http/wire.hpp"
#include "clients/http_server/address.hpp"
#include "clients/http_server/tls.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

// One connection of the server.

class HttpConnection;

/// What the server knows of a connection.
struct HttpPlace {
    std::string address{};    ///< as HttpRequest::address
    bool for_probes = false;  ///< all other places are taken: all but probes are refused
    bool half_open = true;    ///< no whole request was read since
    /// When the client last ended a request, or took a part of an answer.
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    bool closed = false;
    HttpConnection* connection = nullptr;
};

// May this request be answered? A browser sends requests that its user did not make: to any name
// that an attacker lets resolve to our address (DNS rebinding), and from the pages of any site. So
// the name that was asked for must be ours, and no other site's page may have asked.

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
    if (std::ranges::any_of(names, same)) return true;
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
    return same("localhost") || (!wrong && asked.is_loopback()) || std::ranges::any_of(names, same);
}

bool is_of_the_same_site(const std::string& origin, const std::string& host) {
    return iequals(origin, "http://" + host) || iequals(origin, "https://" + host);
}

}  // namespace

/// An answer of the server itself, in the handlers' own form. `why` needs no escapes in JSON.
HttpResponse refusal(int status, const std::string& why) {
    HttpResponse response;
    response.status = status;
    const std::string_view title = boost::beast::http::obsolete_reason(
        boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    response.body = "{\"error\":{\"code\":" + std::to_string(status) + ",\"message\":\"" + why +
                    "\",\"title\":\"" + std::string{title} + "\"},\"version\":2}\n";
    return response;
}

/// Why not; none: it may. `here`: the address that it was sent to, none for a Unix socket (for
/// which clients make any name up; a browser that says whose page asks came through a tunnel, whose
/// end is on loopback). `names`: ours beside that.
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

class HttpConnection {
public:
    /// `tls` is null for a server without. The others must outlive it.
    HttpConnection(http::SocketStream::Socket socket, http::SocketStream::TlsSettings tls,
                   HttpPlace& place, const HttpServerSettings& settings, const HttpHandler& handler)
        : stream_(std::move(socket), std::move(tls)),
          place_(place),
          settings_(settings),
          handler_(handler),
          buffer_(settings.limits.header_bytes + settings.limits.body_bytes + 4096) {}

    /// Until the client leaves, says nothing in time, or `close`.
    Task<void> serve() {
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

    void close() { stream_.close(); }
    /// The client does not read its answers.
    bool is_full() { return stream_.is_full(); }

private:
    using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    Task<bool> shake_hands() {
        stream_.expires_after(settings_.limits.read);
        const auto error = co_await stream_.shake_hands(boost::asio::ssl::stream_base::server);
        // Whatever is shown without being demanded is not looked at.
        if (!error && settings_.tls && !settings_.tls->client_ca_file.empty())
            certificate_name_ = name_of_peer(*stream_.tls()->native_handle());
        co_return !error;
    }

    /// Whether another request may follow.
    Task<bool> serve_one(bool first) {
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

    Task<boost::system::error_code> read(Parser& parser) {
        error_code error =
            co_await http::read_message(stream_, buffer_, parser, http::Until::header);
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

    bool is_probe(std::string_view target) const {
        const auto path = target.substr(0, target.find('?'));
        return std::ranges::find(settings_.probes, path) != settings_.probes.end();
    }

    Task<HttpResponse> answer(HttpRequest request) {
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

    /// Whether it was sent, and the connection is kept.
    Task<bool> send(HttpResponse response, unsigned version, bool keep) {
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

    /// In chunks; what is older than HTTP/1.1 gets it until the connection ends.
    Task<bool> stream_out(HttpResponse response, bool chunked) {
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

    Task<bool> write(std::string_view first, std::string_view second = "",
                     std::string_view third = "") {
        stream_.expires_after(settings_.limits.write);
        const http::SocketStream::Pieces pieces{
            boost::asio::buffer(first), boost::asio::buffer(second), boost::asio::buffer(third)};
        const http::Moved moved = co_await stream_.write(pieces, std::nullopt, &place_.since);
        co_return !moved.error;
    }

    http::SocketStream stream_;
    HttpPlace& place_;
    const HttpServerSettings& settings_;
    const HttpHandler& handler_;
    boost::beast::flat_buffer buffer_;
    std::string certificate_name_;  // of the client; empty: it shows none, or it has no name
};

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = http::SocketStream::Socket;
/// Of either kind of socket.
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using Where = std::variant<TcpEndpoint, UnixEndpoint>;

/// Lives as long as one of its coroutines.
struct Shared {
    Shared(asio::any_io_executor on, HttpServerSettings given, HttpHandler to_ask)
        : executor(std::move(on)),
          settings(std::move(given)),
          handler(std::move(to_ask)),
          room(executor) {}

    asio::any_io_executor executor;
    HttpServerSettings settings;
    HttpHandler handler;
    std::shared_ptr<ServerTls> tls;  ///< or null
    std::list<HttpPlace> open;
    asio::steady_timer room;  ///< ended when a connection is
    bool stopped = false;
};

/// As HttpRequest::address.
std::string address_of(const Socket& socket) {
    error_code gone;
    const auto endpoint = as_tcp(socket.remote_endpoint(gone));
    if (!endpoint) return "";
    const auto address = endpoint->address();
    if (address.is_v4()) return address.to_string();
    auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return asio::ip::address_v6{bytes}.to_string();
}

void close(HttpPlace& place) {
    place.closed = true;
    if (place.connection != nullptr) place.connection->close();
}

/// It waits for its client.
bool may_leave(const HttpPlace& place) {
    const bool full = place.connection != nullptr && place.connection->is_full();
    return !place.closed && (place.half_open || full);
}

/// The connection that waits for its client for the longest time, of the address with the most such
/// connections; none if all are being answered.
HttpPlace* slowest(std::list<HttpPlace>& open) {
    std::map<std::string_view, std::size_t> by_address;
    for (const HttpPlace& place : open)
        if (may_leave(place)) ++by_address[place.address];
    HttpPlace* found = nullptr;
    const auto rank = [&](const HttpPlace& place) {
        return std::pair{by_address[place.address], -place.since.time_since_epoch()};
    };
    for (HttpPlace& place : open)
        if (may_leave(place) && (found == nullptr || rank(place) > rank(*found))) found = &place;
    return found;
}

/// A place for one more.
void take_place(Shared& shared, std::string address) {
    const HttpServerLimits& limits = shared.settings.limits;
    std::size_t taken = 0;
    std::size_t answered = 0;
    for (const HttpPlace& place : shared.open) {
        if (place.closed) continue;
        ++taken;
        if (!may_leave(place)) ++answered;
    }
    HttpPlace place;
    place.address = std::move(address);
    place.for_probes = answered >= limits.connections;
    if (taken >= limits.connections + (place.for_probes ? limits.for_probes : 0))
        if (HttpPlace* const leaves = slowest(shared.open)) close(*leaves);
    shared.open.push_back(std::move(place));
}

Task<void> serve(std::shared_ptr<Shared> shared, Socket socket,
                 std::list<HttpPlace>::iterator place) {
    try {
        HttpConnection connection{std::move(socket), shared->tls ? shared->tls->context() : nullptr,
                                  *place, shared->settings, shared->handler};
        place->connection = &connection;
        if (!shared->stopped && !place->closed) co_await connection.serve();
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", shared->settings.name, wrong.what());
    }
    shared->open.erase(place);
    shared->room.cancel();
}

void take(const std::shared_ptr<Shared>& shared, Socket socket) {
    take_place(*shared, address_of(socket));
    auto served = serve(shared, std::move(socket), std::prev(shared->open.end()));
    asio::co_spawn(shared->executor, std::move(served), asio::detached);
}

Task<void> accept(std::shared_ptr<Shared> shared, std::shared_ptr<Acceptor> acceptor) {
    while (!shared->stopped) {
        const HttpServerLimits& limits = shared->settings.limits;
        if (shared->open.size() >= limits.connections + limits.for_probes &&
            slowest(shared->open) == nullptr) {
            // A client that stops reading is not heard of.
            shared->room.expires_after(std::chrono::seconds{1});
            co_await shared->room.async_wait(asio::as_tuple(asio::use_awaitable));
            continue;
        }
        auto [error, socket] = co_await acceptor->async_accept(asio::as_tuple(asio::use_awaitable));
        if (shared->stopped || error == asio::error::operation_aborted) co_return;
        if (!error)
            take(shared, std::move(socket));
        else if (error != asio::error::connection_aborted)
            co_await wait_after_failed_accept(shared->executor, shared->settings.name, error);
    }
}

class Server final : public HttpServer {
public:
    Server(std::shared_ptr<Shared> shared, Acceptor acceptor, Where here)
        : shared_(std::move(shared)),
          acceptor_(std::make_shared<Acceptor>(std::move(acceptor))),
          here_(std::move(here)) {
        auto accepting = accept(shared_, acceptor_);
        asio::co_spawn(shared_->executor, std::move(accepting), asio::detached);
    }
    ~Server() override { Server::stop(); }
    Server& operator=(Server&&) = delete;

    std::string address() const override {
        return std::visit([](const auto& endpoint) { return to_string(endpoint); }, here_);
    }
    std::uint16_t port() const override {
        const auto* const tcp = std::get_if<TcpEndpoint>(&here_);
        return tcp != nullptr ? tcp->port() : 0;
    }
    std::optional<TimePoint> certificate_expires() const override {
        if (!shared_->tls) return std::nullopt;
        return shared_->tls->expires();
    }
    void stop() override {
        if (std::exchange(shared_->stopped, true)) return;
        error_code ignored;
        acceptor_->close(ignored);
        if (const auto* const file = std::get_if<UnixEndpoint>(&here_))
            ::unlink(file->path().c_str());
        shared_->room.cancel();
        for (HttpPlace& place : shared_->open) close(place);
    }

private:
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Acceptor> acceptor_;
    Where here_;
};

/// Listens there; a port that was left to the system is filled in.
Acceptor open_at(Where& where, const Shared& shared, error_code& error) {
    if (auto* const tcp = std::get_if<TcpEndpoint>(&where)) {
        asio::ip::tcp::acceptor acceptor{shared.executor};
        error = open_acceptor(acceptor, *tcp);
        if (!error) *tcp = acceptor.local_endpoint(error);
        return acceptor;
    }
    asio::local::stream_protocol::acceptor acceptor{shared.executor};
    error = open_acceptor(acceptor, std::get<UnixEndpoint>(where), shared.settings.group_too);
    return acceptor;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> listen_http(boost::asio::any_io_executor executor,
                                                HttpServerSettings settings, HttpHandler handler) {
    const auto endpoint = endpoint_of(settings.address);
    if (!endpoint)
        return Error{Errc::bad_input, settings.name + ": '" + settings.address +
                                          "' is no address; expected IP:PORT or unix:/PATH"};
    auto shared =
        std::make_shared<Shared>(std::move(executor), std::move(settings), std::move(handler));
    if (shared->settings.tls) {
        auto tls = ServerTls::read(*shared->settings.tls, shared->settings.name);
        if (!tls) return tls.error();
        shared->tls = std::move(*tls);
    }
    Where where = *endpoint;
    error_code error;
    Acceptor acceptor = open_at(where, *shared, error);
    if (error)
        return Error{Errc::unreachable, shared->settings.name + ": can't listen on " +
                                            shared->settings.address + ": " + error.message()};
    return std::unique_ptr<HttpServer>{
        std::make_unique<Server>(std::move(shared), std::move(acceptor), std::move(where))};
}

}  // namespace reaper
