// One call whose answer is passed on line by line, as it comes, for commands that wait for it: what
// a daemon elsewhere does for a request, or what happens there.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>

#include "clients/http/client.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

struct StreamOptions {
    TlsOptions tls;
    Duration connect_timeout{5'000};
    Duration longest_silence{60'000};             ///< then the stream is broken
    std::uint64_t max_refusal_bytes = 1'048'576;  ///< of a body that is no stream
};

/// Sends the request once, on a connection of its own. The lines of an answer of status 200 go to
/// `on_line` without their ends; any other answer has its whole body. A stream that breaks off ends
/// as one that is over: the reader knows its last line. Failures are those of `Client`.
ResultTask<LocalAnswer> stream_lines(boost::asio::any_io_executor executor, StreamOptions options,
                                     Request request,
                                     std::function<void(const std::string&)> on_line);

}  // namespace reaper::http
