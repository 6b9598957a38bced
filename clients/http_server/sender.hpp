// May this request be answered? A browser sends requests that its user did not make: to any name
// that somebody lets resolve to our address (DNS rebinding), and from the pages of any site. So the
// name that was asked for must be ours, and no other site's page may have asked.
// Internal to clients/http_server.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/http_handler.hpp"

namespace reaper {

/// An answer of the server itself, in the handlers' own form. `why` needs no escapes in JSON.
HttpResponse refusal(int status, const std::string& why);

/// Why not; none: it may. `here`: the address that it was sent to, none for a Unix socket (for
/// which clients make any name up; a browser that says whose page asks came through a tunnel, whose
/// end is on loopback). `names`: ours beside that.
std::optional<HttpResponse> refusal_of_sender(const HttpHeaders& headers,
                                              const std::optional<boost::asio::ip::address>& here,
                                              const std::vector<std::string>& names);

}  // namespace reaper
