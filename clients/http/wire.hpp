// HTTP/1.1 on a SocketStream: Beast parses and words the messages, and small loops read and write
// them. Beast's own operations would be compiled again for every kind of message.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>
#include <string>
#include <vector>

#include "clients/http/socket_stream.hpp"
#include "reaper/ports/http_client.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

namespace wire = boost::beast::http;
using WireRequest = wire::request<wire::string_body>;

/// `ours`: fields that the request's own may replace.
WireRequest wire_request(const Request& request, const std::string& target, const std::string& host,
                         const std::vector<Header>& ours);

enum class Until { header, end };

/// Parses what the buffer has, or else reads once. Errors are those of Beast's `async_read_some`.
Task<boost::system::error_code> read_step(SocketStream& stream, boost::beast::flat_buffer& buffer,
                                          wire::basic_parser<false>& parser);

/// Goes on until the parser has the header, or all. What came beyond that stays in the buffer.
Task<boost::system::error_code> read_message(SocketStream& stream,
                                             boost::beast::flat_buffer& buffer,
                                             wire::basic_parser<true>& parser, Until until);
Task<boost::system::error_code> read_message(SocketStream& stream,
                                             boost::beast::flat_buffer& buffer,
                                             wire::basic_parser<false>& parser, Until until);

/// The start line and the fields, as on the wire.
std::string head_of(const wire::request_header<>& header);
std::string head_of(const wire::response_header<>& header);

/// Writes the head and the body.
Task<boost::system::error_code> write_message(SocketStream& stream, const std::string& head,
                                              const std::string& body);

}  // namespace reaper::http
