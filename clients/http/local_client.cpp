#include "clients/http/local_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <poll.h>
#include <utility>

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

/// Hands out whole lines.
class Lines {
public:
    explicit Lines(const std::function<void(const std::string&)>& on_line) : on_line_(on_line) {}
    void add(std::string_view text) {
        rest_ += text;
        for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n')) {
            on_line_(rest_.substr(0, end));
            rest_.erase(0, end + 1);
        }
    }

private:
    const std::function<void(const std::string&)>& on_line_;
    std::string rest_;
};

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
enum class Patience { endless, limited };
constexpr int longest_silence_ms = 60'000;

/// False: nothing came in time.
bool comes(stream_protocol::socket& stream, Patience patience) {
    if (patience == Patience::endless) return true;
    pollfd wait{stream.native_handle(), POLLIN, 0};
    int came = 0;
    do came = ::poll(&wait, 1, longest_silence_ms);
    while (came < 0 && errno == EINTR);
    return came != 0;
}

Error silent(const std::string& socket) {
    return Error{Errc::timeout, socket + ": no answer within 60 s; try again, or look at its log"};
}

Result<LocalAnswer> ask(const std::string& socket, const Asked& request,
                        const std::function<void(const std::string&)>& on_line,
                        Patience patience = Patience::endless) {
    asio::io_context io{1};
    stream_protocol::socket stream{io};
    error_code error;
    stream.connect(stream_protocol::endpoint{socket}, error);
    if (error) return failure(socket, error);
    beast::http::write(stream, request, error);
    if (error) return failure(socket, error);

    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    if (!comes(stream, patience)) return silent(socket);
    beast::http::read_header(stream, buffer, parser, error);
    if (error) return failure(socket, error);
    LocalAnswer answer;
    answer.status = static_cast<int>(parser.get().result_int());
    Lines lines{on_line};
    char piece[16 * 1024];
    while (!parser.is_done()) {
        parser.get().body().data = piece;
        parser.get().body().size = sizeof piece;
        if (buffer.size() == 0 && !comes(stream, patience)) return silent(socket);
        beast::http::read_some(stream, buffer, parser, error);
        if (error == beast::http::error::need_buffer) error = {};
        const bool cut = error && error != beast::http::error::end_of_stream;
        if (cut && (answer.status != 200 || patience == Patience::limited))
            return failure(socket, error);
        const std::string_view got{piece, sizeof piece - parser.get().body().size};
        if (answer.status == 200)
            lines.add(got);
        else
            answer.body += got;
        if (cut) break;  // the daemon ended
    }
    return answer;
}

Result<LocalAnswer> ask_for_all(const std::string& socket, const Asked& request) {
    std::string body;
    auto answer = ask(
        socket, request, [&body](const std::string& line) { body += line + "\n"; },
        Patience::limited);
    if (answer && answer->status == 200) answer->body = std::move(body);
    return answer;
}

}  // namespace

Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body,
                                 const std::function<void(const std::string&)>& on_line) {
    return ask(socket, post_of(target, body), on_line);
}

Result<LocalAnswer> post_locally(const std::string& socket, const std::string& target,
                                 const std::string& body) {
    return ask_for_all(socket, post_of(target, body));
}

Result<LocalAnswer> get_locally(const std::string& socket, const std::string& target) {
    return ask_for_all(socket, asked(beast::http::verb::get, target));
}

}  // namespace reaper::http
