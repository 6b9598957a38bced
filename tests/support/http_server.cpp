#include "tests/support/http_server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <cctype>
#include <set>

namespace reaper::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using asio::ip::tcp;

std::string ServerRequest::header(const std::string& lower_case_name) const {
    const auto found = headers.find(lower_case_name);
    return found == headers.end() ? "" : found->second;
}

void ExecutorBridge::open() {
    open_ = true;
    opened_.cancel();
}

asio::awaitable<void> ExecutorBridge::wait() {
    boost::system::error_code ignored;
    if (!open_) co_await opened_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Reply json_reply(int status, std::string body) {
    Reply reply;
    reply.status = status;
    reply.body = std::move(body);
    reply.headers = {{"Content-Type", "application/json"}};
    return reply;
}

struct HttpServer::State : std::enable_shared_from_this<State> {
    State(asio::io_context& context, Handler handle, std::shared_ptr<asio::ssl::context> tls_with)
        : io(context),
          handler(std::move(handle)),
          tls(std::move(tls_with)),
          acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

    asio::awaitable<void> accept();
    asio::awaitable<void> serve_plain(tcp::socket socket, int number);
    asio::awaitable<void> serve_tls(tcp::socket socket, int number);
    template <class Stream>
    asio::awaitable<void> serve(Stream& stream, int number);
    template <class Stream>
    asio::awaitable<bool> answer(Stream& stream, const ServerRequest& request);
    template <class Stream>
    asio::awaitable<bool> send(Stream& stream, const Reply& reply, const std::string& method);

    asio::io_context& io;
    Handler handler;
    std::shared_ptr<asio::ssl::context> tls;
    tcp::acceptor acceptor;
    std::vector<ServerRequest> requests;
    std::set<beast::tcp_stream*> open;
    std::set<beast::tcp_stream*> idle;
    int connections = 0;
    int at_work = 0;
    int max_at_once = 0;
    std::string last_sni;
    bool stopped = false;
};

asio::awaitable<void> HttpServer::State::accept() {
    const auto self = shared_from_this();
    while (!stopped) {
        boost::system::error_code error;
        tcp::socket socket(io);
        co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;
        const int number = ++connections;
        auto serving =
            tls ? serve_tls(std::move(socket), number) : serve_plain(std::move(socket), number);
        asio::co_spawn(io, std::move(serving), asio::detached);
    }
}

asio::awaitable<void> HttpServer::State::serve_plain(tcp::socket socket, int number) {
    const auto self = shared_from_this();
    beast::tcp_stream stream(std::move(socket));
    co_await serve(stream, number);
}

asio::awaitable<void> HttpServer::State::serve_tls(tcp::socket socket, int number) {
    const auto self = shared_from_this();
    beast::ssl_stream<beast::tcp_stream> stream(beast::tcp_stream(std::move(socket)), *tls);
    beast::tcp_stream* const lowest = &stream.next_layer();
    boost::system::error_code error;
    open.insert(lowest);
    co_await stream.async_handshake(asio::ssl::stream_base::server,
                                    asio::redirect_error(asio::use_awaitable, error));
    open.erase(lowest);
    if (error) co_return;
    if (const char* name = SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name))
        last_sni = name;
    else
        last_sni.clear();
    co_await serve(stream, number);
}

template <class Stream>
asio::awaitable<void> HttpServer::State::serve(Stream& stream, int number) {
    beast::tcp_stream* const lowest = &beast::get_lowest_layer(stream);
    open.insert(lowest);
    beast::flat_buffer buffer;
    bool go_on = !stopped;
    while (go_on) {
        boost::system::error_code error;
        wire::request<wire::string_body> message;
        idle.insert(lowest);
        co_await wire::async_read(stream, buffer, message,
                                  asio::redirect_error(asio::use_awaitable, error));
        idle.erase(lowest);
        if (error) break;
        ServerRequest request;
        request.method = std::string(message.method_string());
        request.target = std::string(message.target());
        request.body = message.body();
        request.connection = number;
        for (const auto& field : message) {
            std::string name(field.name_string());
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            request.headers[name] = std::string(field.value());
        }
        requests.push_back(request);
        max_at_once = std::max(max_at_once, ++at_work);
        go_on = co_await answer(stream, request);
        --at_work;
    }
    boost::system::error_code ignored;
    open.erase(lowest);
    lowest->socket().shutdown(tcp::socket::shutdown_both, ignored);
    lowest->socket().close(ignored);
}

template <class Stream>
asio::awaitable<bool> HttpServer::State::answer(Stream& stream, const ServerRequest& request) {
    const Reply reply = handler(request);
    if (reply.bridge) co_await reply.bridge->wait();
    if (reply.hang) {
        boost::system::error_code error;
        char byte = 0;  // until the client leaves
        co_await beast::get_lowest_layer(stream).socket().async_receive(
            asio::buffer(&byte, 1), asio::redirect_error(asio::use_awaitable, error));
        co_return false;
    }
    if (reply.no_answer) co_return false;
    co_return co_await send(stream, reply, request.method);
}

template <class Stream>
asio::awaitable<bool> HttpServer::State::send(Stream& stream, const Reply& reply,
                                              const std::string& method) {
    boost::system::error_code error;
    if (reply.raw) {
        co_await asio::async_write(stream, asio::buffer(*reply.raw),
                                   asio::redirect_error(asio::use_awaitable, error));
        co_return false;
    }
    wire::response<wire::string_body> message(wire::int_to_status(0), 11);
    message.result(static_cast<unsigned>(reply.status));
    for (const auto& [name, value] : reply.headers) message.insert(name, value);
    if (reply.close) message.keep_alive(false);
    if (reply.status != 204) message.body() = reply.body;
    if (reply.chunked)
        message.chunked(true);
    else if (reply.status != 204)
        message.content_length(reply.body.size());
    if (method == "HEAD") message.body().clear();
    wire::response_serializer<wire::string_body> serializer(message);
    if (reply.cut_body) {
        co_await wire::async_write_header(stream, serializer,
                                          asio::redirect_error(asio::use_awaitable, error));
        const std::string part = reply.body.substr(0, *reply.cut_body);
        co_await asio::async_write(stream, asio::buffer(part),
                                   asio::redirect_error(asio::use_awaitable, error));
        co_return false;
    }
    co_await wire::async_write(stream, serializer,
                               asio::redirect_error(asio::use_awaitable, error));
    co_return !error && !reply.close && !reply.close_silently;
}

HttpServer::HttpServer(asio::io_context& io, Handler handler,
                       std::shared_ptr<asio::ssl::context> tls)
    : state_(std::make_shared<State>(io, std::move(handler), std::move(tls))) {
    auto accepting = state_->accept();
    asio::co_spawn(io, std::move(accepting), asio::detached);
}

HttpServer::~HttpServer() {
    state_->stopped = true;
    boost::system::error_code ignored;
    state_->acceptor.close(ignored);
    for (beast::tcp_stream* stream : state_->open) stream->socket().close(ignored);
}

std::uint16_t HttpServer::port() const {
    return state_->acceptor.local_endpoint().port();
}

std::string HttpServer::url(const std::string& host) const {
    return (state_->tls ? "https://" : "http://") + host + ':' + std::to_string(port());
}

const std::vector<ServerRequest>& HttpServer::requests() const {
    return state_->requests;
}

std::size_t HttpServer::count(const std::string& method, const std::string& target_start) const {
    const auto matches = [&](const ServerRequest& request) {
        return request.method == method && request.target.starts_with(target_start);
    };
    return static_cast<std::size_t>(
        std::count_if(state_->requests.begin(), state_->requests.end(), matches));
}

int HttpServer::connections() const {
    return state_->connections;
}
int HttpServer::max_at_once() const {
    return state_->max_at_once;
}
std::string HttpServer::last_sni() const {
    return state_->last_sni;
}

void HttpServer::close_idle() {
    boost::system::error_code ignored;
    for (beast::tcp_stream* stream : state_->idle)
        stream->socket().shutdown(tcp::socket::shutdown_both, ignored);
}

std::uint16_t closed_port(asio::io_context& io) {
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    return acceptor.local_endpoint().port();
}

}  // namespace reaper::test
