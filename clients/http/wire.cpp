#include "clients/http/wire.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/error.hpp>

namespace reaper::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

constexpr std::size_t most_at_once = 64 * 1024;

template <bool isRequest>
Task<error_code> step_of(SocketStream& stream, beast::flat_buffer& buffer,
                         wire::basic_parser<isRequest>& parser) {
    error_code error = wire::error::need_more;
    if (buffer.size() > 0) {
        const asio::const_buffer bytes = buffer.data();
        buffer.consume(parser.put(bytes, error));
    }
    if (error != wire::error::need_more) co_return error;
    const std::size_t size = beast::read_size(buffer, most_at_once);
    if (size == 0) co_return error_code(wire::error::buffer_overflow);
    const Moved moved = co_await stream.read_some(buffer.prepare(size));
    buffer.commit(moved.bytes);
    if (moved.error != asio::error::eof) co_return moved.error;
    if (!parser.got_some()) co_return error_code(wire::error::end_of_stream);
    error = {};
    parser.put_eof(error);
    co_return error;
}

template <bool isRequest>
Task<error_code> all_of(SocketStream& stream, beast::flat_buffer& buffer,
                        wire::basic_parser<isRequest>& parser, Until until) {
    parser.eager(until == Until::end);
    error_code error;
    while (!error && !(until == Until::end ? parser.is_done() : parser.is_header_done()))
        error = co_await step_of(stream, buffer, parser);
    co_return error;
}

void append_line(std::string& text, std::string_view first, std::string_view between,
                 std::string_view second) {
    text.append(first).append(between).append(second).append("\r\n");
}

std::string with_fields(std::string text, const wire::fields& fields) {
    for (const auto& field : fields) append_line(text, field.name_string(), ": ", field.value());
    return text + "\r\n";
}

std::string version_of(unsigned version) {
    return "HTTP/" + std::to_string(version / 10) + '.' + std::to_string(version % 10);
}

}  // namespace

WireRequest wire_request(const Request& request, const std::string& target, const std::string& host,
                         const std::vector<Header>& ours) {
    WireRequest message;
    message.version(11);
    message.method_string(to_string(request.method));
    message.target(target);
    message.set(wire::field::host, host);
    message.set(wire::field::user_agent, "reaper");
    for (const Header& header : ours) message.set(header.name, header.value);
    for (const Header& header : request.headers) message.set(header.name, header.value);
    message.body() = request.body;
    message.prepare_payload();
    return message;
}

Task<error_code> read_step(SocketStream& stream, beast::flat_buffer& buffer,
                           wire::basic_parser<false>& parser) {
    return step_of(stream, buffer, parser);
}

Task<error_code> read_message(SocketStream& stream, beast::flat_buffer& buffer,
                              wire::basic_parser<true>& parser, Until until) {
    return all_of(stream, buffer, parser, until);
}

Task<error_code> read_message(SocketStream& stream, beast::flat_buffer& buffer,
                              wire::basic_parser<false>& parser, Until until) {
    return all_of(stream, buffer, parser, until);
}

std::string head_of(const wire::request_header<>& header) {
    std::string line = header.method_string();
    append_line(line, " ", header.target(), " " + version_of(header.version()));
    return with_fields(std::move(line), header);
}

std::string head_of(const wire::response_header<>& header) {
    std::string line = version_of(header.version()) + ' ' + std::to_string(header.result_int());
    append_line(line, " ", header.reason(), "");
    return with_fields(std::move(line), header);
}

Task<error_code> write_message(SocketStream& stream, const std::string& head,
                               const std::string& body) {
    const SocketStream::Pieces pieces{asio::buffer(head), asio::buffer(body)};
    const Moved moved = co_await stream.write(pieces);
    co_return moved.error;
}

}  // namespace reaper::http
