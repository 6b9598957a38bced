// One connection of the server, over any stream. Internal to clients/http_server.
#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/http_server/lingering_close.hpp"
#include "clients/http_server/refusal.hpp"
#include "clients/http_server/sender.hpp"
#include "clients/http_server/server.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper {

namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

/// What is wrong with a request that could not be read; none if nobody waits for an answer.
std::optional<HttpResponse> refusal_of(const boost::system::error_code& error);

/// What the server knows of a connection.
struct HttpPlace {
    std::string address{};    ///< as HttpRequest::address
    bool for_probes = false;  ///< all other places are taken: anybody else is refused
    bool half_open = true;    ///< no whole request was read since
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    bool closed = false;
    std::function<void()> close{};
};

/// `Stream`: beast's tcp_stream, basic_stream, ssl_stream.
template <class Stream>
class HttpConnection {
public:
    /// All but the stream must outlive it.
    HttpConnection(Stream stream, HttpPlace& place, const HttpServerSettings& settings,
                   const HttpHandler& handler)
        : stream_(std::move(stream)),
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
        co_await lingering_close(stream_);
    }
    void close() {
        boost::system::error_code ignored;
        lowest().socket().close(ignored);
    }

private:
    using Ended = std::tuple<boost::system::error_code, std::size_t>;

    static auto told() { return boost::asio::as_tuple(boost::asio::use_awaitable); }
    auto& lowest() { return beast::get_lowest_layer(stream_); }

    Task<bool> shake_hands() {
        if constexpr (SecureStream<Stream>) {
            lowest().expires_after(settings_.limits.read);
            const auto [error] =
                co_await stream_.async_handshake(boost::asio::ssl::stream_base::server, told());
            // Whatever is shown without being demanded is not looked at.
            if (!error && settings_.tls && !settings_.tls->client_ca_file.empty())
                certificate_name_ = name_of_peer(*stream_.native_handle());
            co_return !error;
        } else {
            co_return true;
        }
    }

    /// Whether another request may follow.
    Task<bool> serve_one(bool first) {
        beast_http::request_parser<beast_http::string_body> parser;
        parser.header_limit(static_cast<std::uint32_t>(settings_.limits.header_bytes));
        parser.body_limit(settings_.limits.body_bytes);
        lowest().expires_after(first ? settings_.limits.read : settings_.limits.idle);
        if (!first) place_.since = std::chrono::steady_clock::now();
        place_.half_open = true;
        const Ended header =
            co_await beast_http::async_read_header(stream_, buffer_, parser, told());
        boost::system::error_code error = std::get<0>(header);
        if (!error && !parser.is_done()) {
            lowest().expires_after(settings_.limits.read);
            const bool goes_on = co_await expected(parser);
            if (!goes_on) co_return false;
            const Ended body = co_await beast_http::async_read(stream_, buffer_, parser, told());
            error = std::get<0>(body);
        }
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
        lowest().expires_never();
        HttpResponse response = co_await answer(std::move(request));
        if (head) response.more = nullptr;
        if (head) response.body.clear();
        co_return co_await send(std::move(response), version, keep && !head);
    }

    /// A client with a large body asks first.
    Task<bool> expected(const beast_http::request_parser<beast_http::string_body>& parser) {
        if (!beast::iequals(parser.get()[beast_http::field::expect], "100-continue"))
            co_return true;
        beast_http::response<beast_http::empty_body> go_on{beast_http::status::continue_, 11};
        const Ended written = co_await beast_http::async_write(stream_, go_on, told());
        co_return !std::get<0>(written);
    }

    static HttpRequest request_of(beast_http::request<beast_http::string_body> read) {
        HttpRequest request;
        request.method = read.method_string();
        request.target = read.target();
        for (const auto& field : read)
            request.headers.emplace_back(field.name_string(), field.value());
        request.body = std::move(read.body());
        return request;
    }

    /// None for a Unix socket.
    std::optional<boost::asio::ip::address> here() {
        if constexpr (requires { lowest().socket().local_endpoint().address(); }) {
            boost::system::error_code gone;
            return lowest().socket().local_endpoint(gone).address();
        } else {
            return std::nullopt;
        }
    }

    bool is_probe(std::string_view target) const {
        const auto path = target.substr(0, target.find('?'));
        return std::find(settings_.probes.begin(), settings_.probes.end(), path) !=
               settings_.probes.end();
    }

    Task<HttpResponse> answer(HttpRequest request) {
        HttpResponse response;
        if (place_.for_probes && !is_probe(request.target))
            co_return refusal(503, "too many connections: try again");
        if (auto refused = refusal_of_sender(request.headers, here(), settings_.names))
            co_return std::move(*refused);
        try {
            response = co_await handler_(std::move(request));
        } catch (const std::exception& wrong) {
            spdlog::error("{}: {}", settings_.name, wrong.what());
            response = refusal(500, "this should not happen, please report it");
        }
        co_return response;
    }

    template <class Body>
    static void fill(beast_http::response<Body>& message, const HttpResponse& response) {
        message.result(static_cast<unsigned>(response.status));
        message.set(beast_http::field::content_type, response.content_type);
        message.set(beast_http::field::cache_control, "no-store");
        // Whatever else a browser would do with an answer: no other site gets it.
        message.set("X-Content-Type-Options", "nosniff");
        message.set("Cross-Origin-Resource-Policy", "same-origin");
        for (const auto& [name, value] : response.headers) message.set(name, value);
    }

    /// Whether it was sent, and the connection is kept.
    Task<bool> send(HttpResponse response, unsigned version, bool keep) {
        if (response.more) {
            const bool streamed = co_await stream_out(std::move(response), version, keep);
            co_return streamed;
        }
        beast_http::response<beast_http::string_body> message{beast_http::status::ok, version};
        fill(message, response);
        message.keep_alive(keep);
        message.body() = std::move(response.body);
        message.prepare_payload();
        lowest().expires_after(settings_.limits.write);
        const Ended written = co_await beast_http::async_write(stream_, message, told());
        co_return !std::get<0>(written) && message.keep_alive();
    }

    /// In chunks; what is older than HTTP/1.1 gets it until the connection ends.
    Task<bool> stream_out(HttpResponse response, unsigned version, bool keep) {
        beast_http::response<beast_http::empty_body> message{beast_http::status::ok, version};
        fill(message, response);
        const bool chunked = version >= 11;
        message.keep_alive(keep && chunked);
        message.chunked(chunked);
        beast_http::response_serializer<beast_http::empty_body> serializer{message};
        lowest().expires_after(settings_.limits.write);
        const Ended header = co_await beast_http::async_write_header(stream_, serializer, told());
        bool fine = !std::get<0>(header);
        std::optional<std::string> piece = std::move(response.body);
        while (fine && piece) {
            if (!piece->empty()) {
                lowest().expires_after(settings_.limits.write);
                fine = co_await write_piece(*piece, chunked);
            }
            lowest().expires_never();
            if (fine) piece = co_await response.more();
        }
        if (!fine || !chunked) co_return false;
        lowest().expires_after(settings_.limits.write);
        const auto last = beast_http::make_chunk_last();
        const Ended ended = co_await boost::asio::async_write(stream_, last, told());
        co_return !std::get<0>(ended) && keep;
    }

    Task<bool> write_piece(const std::string& piece, bool chunked) {
        const boost::asio::const_buffer bytes{piece.data(), piece.size()};
        if (!chunked) {
            const Ended plain = co_await boost::asio::async_write(stream_, bytes, told());
            co_return !std::get<0>(plain);
        }
        const auto chunk = beast_http::make_chunk(bytes);
        const Ended written = co_await boost::asio::async_write(stream_, chunk, told());
        co_return !std::get<0>(written);
    }

    Stream stream_;
    HttpPlace& place_;
    const HttpServerSettings& settings_;
    const HttpHandler& handler_;
    beast::flat_buffer buffer_;
    std::string certificate_name_;  // of the client; empty: it shows none, or it has no name
};

}  // namespace reaper
