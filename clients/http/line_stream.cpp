#include "clients/http/line_stream.hpp"

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "clients/http/connection.hpp"
#include "clients/http/dial.hpp"
#include "clients/http/lines.hpp"
#include "clients/http/tls.hpp"

namespace reaper::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using std::chrono::steady_clock;
using StreamParser = wire::response_parser<wire::buffer_body>;

Error told(const Request& request, const Failure& failure, const Url& url) {
    return Error{failure.code, std::string(to_string(request.method)) + ' ' +
                                   to_string(url.endpoint) + url.path + ": " + failure.cause};
}

WireRequest streaming_request(const Request& request, const Url& url) {
    const bool post = request.method == Method::post;
    WireRequest message(post ? wire::verb::post : wire::verb::get, url.target(), 11);
    message.set(wire::field::host, host_header(url.endpoint));
    message.set(wire::field::user_agent, "reaper");
    message.keep_alive(false);
    for (const Header& header : request.headers) message.set(header.name, header.value);
    message.body() = request.body;
    message.prepare_payload();
    return message;
}

/// Reads on until the end of the answer; none: it came whole, or broke off while it was told.
template <class Stream>
Task<std::optional<Failure>> read_answer(Stream& stream, SocketStream& socket,
                                         const StreamOptions& options, Lines& lines,
                                         LocalAnswer& answer) {
    beast::flat_buffer buffer;
    StreamParser parser;
    parser.body_limit(boost::none);
    error_code error;
    socket.expires_after(options.longest_silence);
    co_await wire::async_read_header(stream, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return explain(error, Stage::reading, options.max_refusal_bytes);
    answer.status = static_cast<int>(parser.get().result_int());
    std::array<char, 16 * 1024> piece{};
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        socket.expires_after(options.longest_silence);
        co_await wire::async_read_some(stream, buffer, parser,
                                       asio::redirect_error(asio::use_awaitable, error));
        if (error == wire::error::need_buffer) error = {};
        const std::string_view got{piece.data(), piece.size() - parser.get().body().size};
        if (answer.status == 200)
            lines.add(got);
        else
            answer.body += got;
        if (answer.body.size() > options.max_refusal_bytes) break;
        if (error && answer.status == 200) break;
        if (error) co_return explain(error, Stage::reading, options.max_refusal_bytes);
    }
    co_return std::nullopt;
}

template <class Stream>
Task<std::optional<Failure>> send_and_read(Stream& stream, SocketStream& socket,
                                           const WireRequest& message, const StreamOptions& options,
                                           Lines& lines, LocalAnswer& answer) {
    error_code error;
    socket.expires_after(options.longest_silence);
    co_await wire::async_write(stream, message, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return explain(error, Stage::sending, options.max_refusal_bytes);
    co_return co_await read_answer(stream, socket, options, lines, answer);
}

}  // namespace

ResultTask<LocalAnswer> stream_lines(asio::any_io_executor executor, StreamOptions options,
                                     Request request,
                                     std::function<void(const std::string&)> on_line) {
    const auto url = parse_url(request.url);
    if (!url) co_return url.error();
    std::shared_ptr<TlsContext> context;
    if (url->endpoint.tls) {
        auto made = make_tls_context(options.tls);
        if (!made) co_return made.error();
        context = std::move(*made);
    }
    SocketStream::TlsSettings settings;
    if (context) settings = ssl_of(context);
    SocketStream socket{executor, settings};
    const TimeLimit limit = steady_clock::now() + options.connect_timeout;
    const auto refused = co_await dial(socket, url->endpoint, options.tls, limit);
    if (refused) co_return told(request, *refused, *url);
    const WireRequest message = streaming_request(request, *url);
    LocalAnswer answer;
    Lines lines{on_line};
    std::optional<Failure> failed;
    if (auto* const tls = socket.tls())
        failed = co_await send_and_read(*tls, socket, message, options, lines, answer);
    else
        failed = co_await send_and_read(socket.tcp(), socket, message, options, lines, answer);
    socket.close();
    if (failed) co_return told(request, *failed, *url);
    co_return answer;
}

}  // namespace reaper::http
