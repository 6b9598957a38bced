#include "tests/cloudsim/program/http_server.hpp"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <chrono>
#include <unordered_set>

namespace reaper::cloudsim {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr auto idle_limit = std::chrono::minutes(5);
constexpr auto send_limit = std::chrono::seconds(60);
constexpr std::uint64_t most_body = 64 * 1024 * 1024;
constexpr std::size_t most_connections = 1000;

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
    class Connection;

    State(asio::io_context& with_io, Site& with_site, std::uint16_t port)
        : io(with_io), site(with_site), acceptor(io), agenda(io) {
        const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
        acceptor.open(here.protocol());
        acceptor.set_option(asio::socket_base::reuse_address(true));
        acceptor.bind(here);
        acceptor.listen();
    }

    void accept();
    /// Wakes up when the simulated clock has something to do.
    void arm();

    asio::io_context& io;
    Site& site;
    tcp::acceptor acceptor;
    asio::steady_timer agenda;
    std::unordered_set<Connection*> connections;
    bool stopped = false;
};

class HttpServer::State::Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(std::shared_ptr<State> state, tcp::socket socket)
        : state_(std::move(state)), stream_(std::move(socket)), pause_(state_->io) {
        state_->connections.insert(this);
        boost::system::error_code ignored;
        stream_.socket().set_option(tcp::no_delay(true), ignored);
    }
    ~Connection() { state_->connections.erase(this); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void read() {
        parser_.emplace();
        parser_->body_limit(most_body);
        stream_.expires_after(idle_limit);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](beast::error_code error, std::size_t) {
                             if (!error) self->answer();
                         });
    }

    void close() {
        boost::system::error_code ignored;
        pause_.cancel();
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        stream_.socket().close(ignored);
    }

private:
    Request request() {
        auto& message = parser_->get();
        Request made;
        made.method = std::string(message.method_string());
        made.set_target(std::string(message.target()));
        for (const auto& field : message) {
            std::string name(field.name_string());
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            made.headers.emplace_back(std::move(name), std::string(field.value()));
        }
        made.body = std::move(message.body());
        return made;
    }

    void answer() {
        keep_alive_ = parser_->get().keep_alive();
        is_head_ = parser_->get().method() == http::verb::head;
        const unsigned version = parser_->get().version();
        const Request asked = request();
        answer_ = state_->site.handle(asked);
        state_->arm();
        prepare(version);
        if (answer_.latency.count() == 0) {
            send();
            return;
        }
        pause_.expires_after(answer_.latency);
        pause_.async_wait([self = shared_from_this()](beast::error_code error) {
            if (!error) self->send();
        });
    }

    void prepare(unsigned version) {
        message_ = {};
        message_.version(version);
        message_.result(static_cast<unsigned>(answer_.status));
        for (const auto& [name, value] : answer_.headers) message_.insert(name, value);
        if (!answer_.content_type.empty())
            message_.set(http::field::content_type, answer_.content_type);
        message_.keep_alive(keep_alive_);
        message_.body() = std::move(answer_.body);
        const std::size_t length = message_.body().size();
        if (answer_.status != 204 && answer_.status != 304) message_.content_length(length);
        if (is_head_) message_.body().clear();
        if (answer_.truncate_at && *answer_.truncate_at < length) {
            // The length stays what it was: the client must notice.
            message_.body().resize(*answer_.truncate_at);
            keep_alive_ = false;
        }
    }

    void send() {
        if (answer_.drop) {
            close();
            return;
        }
        stream_.expires_after(send_limit);
        http::async_write(stream_, message_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                              if (error || !self->keep_alive_)
                                  self->close();
                              else
                                  self->read();
                          });
    }

    std::shared_ptr<State> state_;
    beast::tcp_stream stream_;
    asio::steady_timer pause_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    Response answer_;
    http::response<http::string_body> message_;
    bool keep_alive_ = false;
    bool is_head_ = false;
};

void HttpServer::State::accept() {
    acceptor.async_accept([self = shared_from_this()](beast::error_code error, tcp::socket socket) {
        if (self->stopped || error == asio::error::operation_aborted) return;
        if (!error && self->connections.size() < most_connections)
            std::make_shared<Connection>(self, std::move(socket))->read();
        self->accept();
    });
}

void HttpServer::State::arm() {
    const auto left = site.world().clock.until_next();
    if (!left || stopped) return;
    agenda.expires_after(*left);
    agenda.async_wait([self = shared_from_this()](beast::error_code error) {
        if (error || self->stopped) return;
        self->site.run_due();
        self->arm();
    });
}

HttpServer::HttpServer(asio::io_context& io, Site& site, std::uint16_t port)
    : state_(std::make_shared<State>(io, site, port)) {
    state_->accept();
    state_->arm();
}

HttpServer::~HttpServer() {
    stop();
}

std::uint16_t HttpServer::port() const {
    return state_->acceptor.local_endpoint().port();
}

void HttpServer::stop() {
    if (state_->stopped) return;
    state_->stopped = true;
    boost::system::error_code ignored;
    state_->acceptor.close(ignored);
    state_->agenda.cancel();
    const auto open = state_->connections;
    for (State::Connection* connection : open) connection->close();
}

}  // namespace reaper::cloudsim
