// The admin API's HTTP server: takes GET requests, asks the answerer, sends its answer.
//
// One thread with everything else, and no burden to it: each connection carries one request, is
// closed after it, and has a deadline; headers are small; only so many connections are open at once
// (others wait in the kernel's queue). It never writes anything to anybody.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/ports/http_handler.hpp"

namespace reaper {

struct ListenerLimits {
    std::size_t connections = 16;  ///< open at once
    std::size_t header_bytes = 8192;
    std::chrono::milliseconds read{10'000};   ///< from accepting to the end of the header
    std::chrono::milliseconds write{30'000};  ///< from the answer to its end
};

class Listener {
public:
    virtual ~Listener() = default;
    /// `127.0.0.1:8787`; the port that the system chose where 0 was asked for.
    virtual std::string address() const = 0;
    virtual std::uint16_t port() const = 0;
    /// Closes the port and every connection. The destructor does so too.
    virtual void stop() = 0;
};

/// Listens at once. `address` is IP:PORT, IPv6 in brackets; `bad_input` if it is anything else,
/// `unreachable` if it can't be listened on. `answerer` is called on the executor's thread, and
/// must work until the executor's context has ended.
Result<std::unique_ptr<Listener>> listen_for_questions(boost::asio::any_io_executor executor,
                                                       const std::string& address,
                                                       Answerer answerer,
                                                       ListenerLimits limits = {});

}  // namespace reaper
