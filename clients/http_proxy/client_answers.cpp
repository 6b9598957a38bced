// What goes to the client.
#include <utility>

#include "clients/http_proxy/client_connection.hpp"
#include "clients/http_proxy/error_answer.hpp"

namespace reaper::proxy {

namespace {

using boost::asio::const_buffer;

const_buffer bytes_of(std::string_view text) {
    return {text.data(), text.size()};
}

std::string status_line(int status, std::string_view reason) {
    std::string line = "HTTP/1.1 ";
    line.append(std::to_string(status)).append(" ").append(reason).append("\r\n");
    return line;
}

void append_connection(std::string& text, int minor, bool keep) {
    if (!keep) append_header(text, "Connection", "close");
    if (keep && minor == 0) append_header(text, "Connection", "keep-alive");
}

/// Answers of these have no body, and no length.
bool is_bodiless(int status) {
    return status < 200 || status == 204 || status == 304;
}

}  // namespace

Task<bool> ClientConnection::write(http::SocketStream::Pieces pieces) {
    const auto moved = co_await stream_.write(pieces, shared_->settings.limits.write);
    co_return !moved.error;
}

Task<bool> ClientConnection::give(Call& call, AnswerStream& answer) {
    const Framing::Kind kind = answer.framing().kind;
    const bool no_length = kind == Framing::Kind::chunked || kind == Framing::Kind::until_close;
    const bool chunked = no_length && call.head().minor == 1;
    const bool until_close = no_length && !chunked;
    const bool keep = call.keep && !until_close && !shared_->draining;
    call.status = answer.status();

    std::string text = status_line(answer.status(), answer.reason());
    append_end_to_end(text, answer.headers());
    if (chunked) append_header(text, "Transfer-Encoding", "chunked");
    append_connection(text, call.head().minor, keep);
    text += "\r\n";

    AnswerStream::Piece piece = answer.ready();
    while (true) {
        if (chunked && !piece.bytes.empty()) text += chunk_head(piece.bytes.size());
        std::string_view tail;
        if (chunked && !piece.broken) {
            tail = piece.last ? tail_and_last_chunk : chunk_tail;
            if (piece.bytes.empty()) tail = piece.last ? last_chunk : std::string_view{};
        }
        const http::SocketStream::Pieces pieces{bytes_of(text), bytes_of(piece.bytes),
                                                bytes_of(tail)};
        const bool written = co_await write(pieces);
        if (!written) co_return false;
        if (piece.last) co_return keep;
        if (!piece.broken) piece = co_await answer.next();
        if (piece.broken) break;
        text.clear();
    }
    // What ends with the connection would look whole if that ended in good order.
    if (until_close)
        stream_.reset();
    else
        stream_.close();
    co_return false;
}

Task<bool> ClientConnection::give(Call& call, const OwnAnswer& answer) {
    const bool keep = call.keep && !shared_->draining;
    call.status = answer.status;
    const std::string_view reason =
        answer.reason.empty() ? usual_reason(answer.status) : std::string_view(answer.reason);
    std::string text = status_line(answer.status, reason);
    HttpHeaders headers = answer.headers;
    std::erase_if(headers,
                  [](const auto& header) { return is_same_name(header.first, "Content-Length"); });
    append_end_to_end(text, headers);
    if (!is_bodiless(answer.status))
        append_header(text, "Content-Length", std::to_string(answer.body.size()));
    append_connection(text, call.head().minor, keep);
    text += "\r\n";
    const bool with_body = call.head().method != "HEAD" && !is_bodiless(answer.status);
    const std::string_view body = with_body ? std::string_view(answer.body) : std::string_view();
    const http::SocketStream::Pieces pieces{bytes_of(text), bytes_of(body)};
    const bool written = co_await write(pieces);
    co_return written&& keep;
}

Task<bool> ClientConnection::give_failure(Call& call, const http::Failure& failure) {
    if (call.guard.gone() || failure.code == Errc::cancelled) co_return false;
    const OwnAnswer answer =
        error_answer(status_of(failure), shared_->settings.name + ": " + failure.cause);
    co_return co_await give(call, answer);
}

Task<bool> ClientConnection::refuse(const BadMessage& bad) {
    Call call{};
    call.reader = std::make_shared<RequestReader>();
    const OwnAnswer answer = error_answer(bad.status, bad.why);
    co_return co_await give(call, answer);
}

Task<bool> ClientConnection::say_interim(const AnswerHead& head) {
    std::string text = status_line(head.status, head.reason);
    append_end_to_end(text, head.headers);
    text += "\r\n";
    const http::SocketStream::Pieces pieces{bytes_of(text)};
    co_return co_await write(pieces);
}

}  // namespace reaper::proxy
