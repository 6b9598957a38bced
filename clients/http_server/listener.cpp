#include "clients/http_server/listener.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <exception>
#include <optional>
#include <spdlog/spdlog.h>
#include <unordered_set>
#include <utility>

namespace reaper {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// What a client may still send while we close.
constexpr std::size_t most_left_over = 64 * 1024;
constexpr std::chrono::seconds linger{1};

std::optional<tcp::endpoint> endpoint_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string ip = text.substr(0, colon);
    if (ip.size() > 2 && ip.front() == '[' && ip.back() == ']')
        ip = ip.substr(1, ip.size() - 2);
    else if (ip.find(':') != std::string::npos)
        return std::nullopt;
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, port);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    error_code wrong;
    const auto address = asio::ip::make_address(ip, wrong);
    if (wrong) return std::nullopt;
    return tcp::endpoint{address, port};
}

std::string text_of(const tcp::endpoint& endpoint) {
    const std::string ip = endpoint.address().to_string();
    return (endpoint.address().is_v6() ? "[" + ip + "]" : ip) + ":" +
           std::to_string(endpoint.port());
}

QuestionAnswer refusal(int status, const std::string& why) {
    QuestionAnswer answer;
    answer.status = status;
    answer.body = "{\"version\":1,\"error\":\"" + why + "\"}\n";
    return answer;
}

/// What is wrong with a request that could not be read; none if nobody waits for an answer.
std::optional<QuestionAnswer> refusal_of(const error_code& error) {
    if (error == http::error::header_limit) return refusal(431, "the header is too long");
    if (error == http::error::body_limit) return refusal(413, "no body is expected");
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
        return refusal(400, "this is no HTTP request");
    return std::nullopt;
}

class HttpServer : public std::enable_shared_from_this<HttpServer> {
public:
    class Connection;

    HttpServer(asio::any_io_executor executor, Answerer to_ask, ListenerLimits at_most)
        : answerer(std::move(to_ask)),
          limits(at_most),
          acceptor_(executor),
          pause_(executor),
          executor_(std::move(executor)) {}

    error_code open(const tcp::endpoint& endpoint) {
        error_code error;
        acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
        if (!error) here_ = acceptor_.local_endpoint(error);
        return error;
    }
    const tcp::endpoint& here() const noexcept { return here_; }
    const asio::any_io_executor& executor() const noexcept { return executor_; }

    void accept();
    /// No file descriptor is left, or the like: a moment later there may be one.
    void accept_later(const error_code& why);
    void stop();
    void add(Connection* connection) { open_.insert(connection); }
    void remove(Connection* connection) {
        open_.erase(connection);
        if (full_) accept();
    }

    const Answerer answerer;
    const ListenerLimits limits;

private:
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    asio::any_io_executor executor_;
    tcp::endpoint here_;
    std::unordered_set<Connection*> open_;
    bool full_ = false;  ///< nobody is accepted until a connection ends
    bool stopped_ = false;
};

class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(std::shared_ptr<HttpServer> server, tcp::socket socket)
        : server_(std::move(server)),
          stream_(std::move(socket)),
          buffer_(server_->limits.header_bytes + 4096) {
        server_->add(this);
        parser_.header_limit(static_cast<std::uint32_t>(server_->limits.header_bytes));
        parser_.body_limit(most_left_over);
    }
    ~Connection() { server_->remove(this); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void read() {
        stream_.expires_after(server_->limits.read);
        auto on_read = [self = shared_from_this()](error_code error, std::size_t) {
            self->on_request(error);
        };
        http::async_read_header(stream_, buffer_, parser_, std::move(on_read));
    }
    void close() {
        error_code ignored;
        stream_.socket().close(ignored);
    }

private:
    void on_request(error_code error) {
        if (error) {
            if (auto answer = refusal_of(error)) send(std::move(*answer));
            return;
        }
        if (parser_.get().method() != http::verb::get)
            return send(refusal(405, "this API is only for looking: GET"));
        ask(std::string{parser_.get().target()});
    }

    void ask(std::string target) {
        auto on_answer = [self = shared_from_this()](std::exception_ptr thrown,
                                                     QuestionAnswer answer) {
            if (thrown) {
                self->send(refusal(500, "this should not happen, please report it"));
                try {
                    std::rethrow_exception(thrown);
                } catch (const std::exception& wrong) {
                    spdlog::error("admin API: {}", wrong.what());
                }
                return;
            }
            self->send(std::move(answer));
        };
        stream_.expires_never();
        asio::co_spawn(server_->executor(), server_->answerer(std::move(target)),
                       std::move(on_answer));
    }

    void send(QuestionAnswer answer) {
        message_.version(11);
        message_.result(static_cast<unsigned>(answer.status));
        message_.set(http::field::content_type, answer.content_type);
        message_.set(http::field::cache_control, "no-store");
        if (answer.status == 405) message_.set(http::field::allow, "GET");
        message_.keep_alive(false);
        message_.body() = std::move(answer.body);
        message_.prepare_payload();
        stream_.expires_after(server_->limits.write);
        auto on_sent = [self = shared_from_this()](error_code error, std::size_t) {
            if (!error) self->leave();
        };
        http::async_write(stream_, message_, std::move(on_sent));
    }

    /// Closed with unread bytes, the connection would be reset, and the answer lost with it.
    void leave() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(linger);
        drain(0);
    }
    void drain(std::size_t so_far) {
        auto on_rest = [self = shared_from_this(), so_far](error_code error, std::size_t read) {
            if (!error && so_far + read < most_left_over) self->drain(so_far + read);
        };
        stream_.async_read_some(asio::buffer(rest_), std::move(on_rest));
    }

    std::shared_ptr<HttpServer> server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request_parser<http::empty_body> parser_;
    http::response<http::string_body> message_;
    std::array<char, 4096> rest_{};
};

void HttpServer::accept() {
    if (stopped_) return;
    full_ = open_.size() >= limits.connections;
    if (full_) return;
    auto on_accepted = [self = shared_from_this()](error_code error, tcp::socket socket) {
        if (self->stopped_ || error == asio::error::operation_aborted) return;
        if (!error) std::make_shared<Connection>(self, std::move(socket))->read();
        if (error && error != asio::error::connection_aborted) return self->accept_later(error);
        self->accept();
    };
    acceptor_.async_accept(std::move(on_accepted));
}

void HttpServer::accept_later(const error_code& why) {
    spdlog::warn("admin API: {}; trying again", why.message());
    pause_.expires_after(std::chrono::seconds{1});
    auto on_time = [self = shared_from_this()](error_code error) {
        if (!error) self->accept();
    };
    pause_.async_wait(std::move(on_time));
}

void HttpServer::stop() {
    if (std::exchange(stopped_, true)) return;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    const auto open = open_;
    for (Connection* const connection : open) connection->close();
}

class ListenerHandle final : public Listener {
public:
    explicit ListenerHandle(std::shared_ptr<HttpServer> server) : server_(std::move(server)) {}
    ~ListenerHandle() override { server_->stop(); }
    ListenerHandle(const ListenerHandle&) = delete;
    ListenerHandle& operator=(const ListenerHandle&) = delete;

    std::string address() const override { return text_of(server_->here()); }
    std::uint16_t port() const override { return server_->here().port(); }
    void stop() override { server_->stop(); }

private:
    std::shared_ptr<HttpServer> server_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_for_questions(boost::asio::any_io_executor executor,
                                                       const std::string& address,
                                                       Answerer answerer, ListenerLimits limits) {
    const auto endpoint = endpoint_of(address);
    if (!endpoint)
        return Error{Errc::bad_input,
                     "admin API: '" + address + "' is no address; expected IP:PORT"};
    auto server = std::make_shared<HttpServer>(std::move(executor), std::move(answerer), limits);
    if (const auto error = server->open(*endpoint))
        return Error{Errc::unreachable,
                     "admin API: can't listen on " + address + ": " + error.message()};
    server->accept();
    return std::unique_ptr<Listener>{std::make_unique<ListenerHandle>(std::move(server))};
}

}  // namespace reaper
