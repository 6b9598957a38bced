// A scripted HTTP server on loopback for tests of clients. It runs on the test's own io_context,
// records what it was asked, and can misbehave as servers do.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reaper::test {

struct ServerRequest {
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
    int connection = 0;  ///< 1 for the first one accepted

    std::string header(const std::string& lower_case_name) const;
};

/// Holds answers back until it is opened.
class ExecutorBridge {
public:
    explicit ExecutorBridge(boost::asio::io_context& io)
        : opened_(io, boost::asio::steady_timer::time_point::max()) {}
    void open();
    bool is_open() const { return open_; }
    boost::asio::awaitable<void> wait();

private:
    boost::asio::steady_timer opened_;
    bool open_ = false;
};

struct Reply {
    int status = 200;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    bool close = false;                      ///< close after it, saying so
    bool close_silently = false;             ///< close after it, not saying so
    bool no_answer = false;                  ///< close instead of answering
    bool hang = false;                       ///< never answer, keep the connection
    bool chunked = false;                    ///< send the body in chunks
    std::optional<std::size_t> cut_body;     ///< send that many bytes of the body, then close
    std::optional<std::string> raw;          ///< send these bytes instead, then close
    std::shared_ptr<ExecutorBridge> bridge;  ///< wait for it before answering
};

Reply json_reply(int status, std::string body);

class HttpServer {
public:
    using Handler = std::function<Reply(const ServerRequest&)>;

    /// Listens on 127.0.0.1, on a port of the system's choice. `tls` makes it https.
    HttpServer(boost::asio::io_context& io, Handler handler,
               std::shared_ptr<boost::asio::ssl::context> tls = nullptr);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;
    /// `http://127.0.0.1:port`, or https.
    std::string url() const { return url("127.0.0.1"); }
    std::string url(const std::string& host) const;

    const std::vector<ServerRequest>& requests() const;
    /// Requests for a target that starts so.
    std::size_t count(const std::string& method, const std::string& target_start) const;
    int connections() const;       ///< accepted so far
    int max_at_once() const;       ///< requests that were in work at the same time
    std::string last_sni() const;  ///< the name that the last TLS client asked for
    /// Closes every connection that waits for a request.
    void close_idle();

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// A port on loopback without a listener.
std::uint16_t closed_port(boost::asio::io_context& io);

}  // namespace reaper::test
