#include "clients/http/line_stream.hpp"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "clients/http/dial.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/wire.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::local::stream_protocol;
using boost::system::error_code;
using OnLine = std::function<void(const std::string&)>;
using StreamParser = wire::response_parser<wire::buffer_body>;

/// How long nothing may come. None: the server may take its time between lines.
using Patience = std::optional<Duration>;

struct Asked {
    LocalAnswer answer;
    error_code error{};  ///< why it ended too early
    Stage stage = Stage::sending;
};

/// Takes the whole lines off the text.
void tell_lines(std::string& text, const OnLine& on_line) {
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        on_line(text.substr(0, end));
        text.erase(0, end + 1);
    }
}

/// Sends the request and reads to the end of the answer: of status 200 line by line, of any other
/// the body, until it has more than so many bytes.
Task<Asked> ask(SocketStream& stream, const WireRequest& message, Patience patience,
                std::uint64_t max_refusal_bytes, const OnLine& on_line) {
    const auto restart_patience = [&] {
        if (patience) stream.expires_after(*patience);
    };
    Asked asked;
    const std::string head = head_of(message);
    restart_patience();
    asked.error = co_await write_message(stream, head, message.body());
    if (asked.error) co_return asked;

    asked.stage = Stage::reading;
    beast::flat_buffer buffer;
    StreamParser parser;
    parser.body_limit(boost::none);
    restart_patience();
    asked.error = co_await read_message(stream, buffer, parser, Until::header);
    if (asked.error) co_return asked;
    LocalAnswer& answer = asked.answer;
    answer.status = static_cast<int>(parser.get().result_int());
    std::array<char, 16 * 1024> piece{};
    std::string line;
    while (!asked.error && !parser.is_done() && answer.body.size() <= max_refusal_bytes) {
        auto& body = parser.get().body();
        body.data = piece.data();
        body.size = piece.size();
        restart_patience();
        asked.error = co_await read_step(stream, buffer, parser);
        if (asked.error == wire::error::need_buffer) asked.error = {};
        std::string& whole = answer.status == 200 ? line : answer.body;
        whole.append(piece.data(), piece.size() - body.size);
        tell_lines(line, on_line);
    }
    co_return asked;
}

WireRequest closing_request(const Request& request, const std::string& target,
                            const std::string& host) {
    return wire_request(request, target, host, {{"Connection", "close"}});
}

Error told(const Request& request, const Failure& failure, const Url& url) {
    return Error{failure.code, std::string(to_string(request.method)) + ' ' +
                                   to_string(url.endpoint) + url.path + ": " + failure.cause};
}

Error local_failure(const std::string& socket, const error_code& error, Patience patience) {
    if (error == asio::error::access_denied)
        return Error{Errc::forbidden,
                     socket + ": permission denied: run this as the daemon's user"};
    if (error == beast::error::timeout)
        return Error{Errc::timeout, socket + ": no answer within " +
                                        std::to_string(patience->count() / 1000) +
                                        " s; try again, or look at its log"};
    return Error{Errc::unreachable,
                 socket + ": " + error.message() +
                     "; is the daemon running, and is admin.socket the same in its configuration?"};
}

Result<LocalAnswer> answer_of(const std::string& socket, Method method, const std::string& target,
                              const std::string& body, const OnLine& on_line, Patience patience,
                              bool& connected) {
    asio::io_context io{1};
    stream_protocol::socket local{io};
    error_code error;
    local.connect(stream_protocol::endpoint{socket}, error);
    connected = !error;
    if (error) return local_failure(socket, error, patience);
    SocketStream stream{std::move(local), nullptr};
    Request request;
    request.method = method;
    if (method == Method::post) request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    const WireRequest message = closing_request(request, target, "localhost");
    constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();
    Asked asked = run_task(io, ask(stream, message, patience, no_limit, on_line));
    if (asked.error && (asked.answer.status != 200 || patience))
        return local_failure(socket, asked.error, patience);
    return std::move(asked.answer);
}

}  // namespace

ResultTask<LocalAnswer> stream_lines(asio::any_io_executor executor, StreamOptions options,
                                     Request request, OnLine on_line) {
    const auto url = parse_url(request.url);
    if (!url) co_return url.error();
    SocketStream::TlsSettings settings;
    if (url->endpoint.tls) {
        auto context = make_tls_context(options.tls);
        if (!context) co_return context.error();
        settings = ssl_of(*context);
    }
    SocketStream stream{executor, settings};
    const TimeLimit limit = std::chrono::steady_clock::now() + options.connect_timeout;
    const auto refused = co_await dial(stream, url->endpoint, options.tls, limit);
    if (refused) co_return told(request, *refused, *url);
    const WireRequest message = closing_request(request, url->target(), host_header(url->endpoint));
    const Patience patience = options.longest_silence;
    Asked asked = co_await ask(stream, message, patience, options.max_refusal_bytes, on_line);
    stream.close();
    if (asked.error && asked.answer.status != 200) {
        const Failure failure = explain(asked.error, asked.stage, options.max_refusal_bytes);
        co_return told(request, failure, *url);
    }
    co_return std::move(asked.answer);
}

Result<LocalAnswer> ask_locally(const std::string& socket, Method method, const std::string& target,
                                const std::string& body, Duration longest_silence,
                                bool& connected) {
    std::string whole;
    const OnLine collect = [&whole](const std::string& line) { whole += line + "\n"; };
    auto answer = answer_of(socket, method, target, body, collect, longest_silence, connected);
    if (answer && answer->status == 200) answer->body = std::move(whole);
    return answer;
}

Result<LocalAnswer> stream_locally(const std::string& socket, Method method,
                                   const std::string& target, const std::string& body,
                                   const OnLine& on_line) {
    bool connected = false;
    return answer_of(socket, method, target, body, on_line, std::nullopt, connected);
}

}  // namespace reaper::http
