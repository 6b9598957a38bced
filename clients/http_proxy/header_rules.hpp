// Which headers go through a proxy, and which belong to one connection (RFC 9110, 7.6.1).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "clients/http_proxy/head.hpp"

namespace reaper::proxy {

/// Connection, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade and Proxy-*.
bool is_hop_by_hop(std::string_view name);

/// Those that go through, in their order: not those of the connection, nor those that Connection
/// names. What says where a message ends, or whom it is for, goes through whatever Connection says.
HttpHeaders end_to_end(const HttpHeaders& headers);
/// Writes the same, each as a line.
void append_end_to_end(std::string& text, const HttpHeaders& headers);

/// May another message follow on the connection?
bool keeps_connection(int minor, const HttpHeaders& headers);
/// Is the client waiting to be told that it may send the body?
bool expects_continue(const RequestHead& head);

void append_header(std::string& text, std::string_view name, std::string_view value);

}  // namespace reaper::proxy
