#include "clients/http/local_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <optional>
#include <poll.h>
#include <utility>

#include "clients/http/lines.hpp"

namespace reaper::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::local::stream_protocol;
using boost::system::error_code;

Error failure(const std::string& socket, const error_code& error) {
    if (error == asio::error::access_denied)
        return Error{Errc::forbidden,
                     socket + ": permission denied: run this as the daemon's user"};
    return Error{Errc::unreachable,
                 socket + ": " + error.message() +
                     "; is the daemon running, and is admin.socket the same in its configuration?"};
}

using Asked = beast::http::request<beast::http::string_body>;

Asked asked(beast::http::verb verb, const std::string& target) {
    Asked request{verb, target, 11};
    request.set(beast::http::field::host, "localhost");
    request.keep_alive(false);
    return request;
}

Asked post_of(const std::string& target, const std::string& body) {
    Asked request = asked(beast::http::verb::post, target);
    request.set(beast::http::field::content_type, "application/json");
    request.body() = body;
    request.prepare_payload();
    return request;
}

/// Who streams may take his time between lines; a whole answer begins and goes on in time.
using Patience = std::optional<std::chrono::milliseconds>;
constexpr Patience without_end{};
constexpr Patience a_minute{60'000};

/// False: nothing came in time.
bool comes(stream_protocol::socket& stream, Patience patience) {
    if (!patience) return true;
    pollfd wait{stream.native_handle(), POLLIN, 0};
    int came = 0;
    do came = ::poll(&wait, 1, static_cast<int>(patience->count()));
    while (came < 0 && errno == EINTR);
    return came != 0;
}

Error silent(const std::string& socket, Patience patience) {
    return Error{Errc::timeout, socket + ": no answer within " +
                                    std::to_string(patience->count() / 1000) +
                                    " s; try again, or look at its log"};
}

Result<LocalAnswer> ask(const std::string& socket, const Asked& request,
                        const std::function<void(const std::string&)>& on_line,
                        Patience patience = without_end, bool* connected = nullptr) {
    asio::io_context io{1};
    stream_protocol::socket stream{io};
    error_code error;
    stream.connect(stream_protocol::endpoint{socket}, error);
    if (connected != nullptr) *connected = !error;
    if (error) return failure(socket, error);
    beast::http::write(stream, request, error);
    if (error) return failure(socket, error);

    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    if (!comes(stream, patience)) return silent(socket, patience);
    beast::http::read_header(stream, buffer, parser, error);
    if (error) return failure(socket, error);
    LocalAnswer answer;
    answer.status = static_cast<int>(parser.get().result_int());
    Lines lines{on_line};
    char piece[16 * 1024];
    while (!parser.is_done()) {
        parser.get().body().data = piece;
        parser.get().body().size = sizeof piece;
        if (buffer.size() == 0 && !comes(stream, patience)) return silent(socket, patience);
        beast::http::read_some(stream, buffer, parser, error);
        if (error == beast::http::error::need_buffer) error = {};
        const bool cut = error && error != beast::http::error::end_of_stream;
        if (cut && (answer.status != 200 || patience)) return failure(socket, error);
        const std::string_view got{piece, sizeof piece - parser.get().body().size};
        if (answer.status == 200)
            lines.add(got);
        else
            answer.body += got;
        if (cut) break;  // the daemon ended
    }
    return answer;
}

Result<LocalAnswer> ask_for_all(const std::string& socket, const Asked& request,
                                Patience patience = a_minute, bool* connected = nullptr) {
    std::string body;
    auto answer = ask(
        socket, request, [&body](const std::string& line) { body += line + "\n"; }, patience,
        connected);
    if (answer && answer->status == 200) answer->body = std::move(body);
    return answer;
}

}  // namespace

Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body,
                                 const std::function<void(const std::string&)>& on_line) {
    return ask(socket, post_of(target, body), on_line);
}

Result<LocalAnswer> get_locally(const std::string& socket, const std::string& target,
                                const std::function<void(const std::string&)>& on_line) {
    return ask(socket, asked(beast::http::verb::get, target), on_line);
}

Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body) {
    return ask_for_all(socket, post_of(target, body));
}

Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body, bool& connected) {
    return ask_for_all(socket, post_of(target, body), a_minute, &connected);
}

Result<LocalAnswer> get_locally(const std::string& socket, const std::string& target,
                                std::chrono::milliseconds longest_silence) {
    return ask_for_all(socket, asked(beast::http::verb::get, target), longest_silence);
}

}  // namespace reaper::http
