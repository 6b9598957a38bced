// Serves a Site on a loopback port: HTTP/1.1 with keep-alive. One thread, one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>

#include "tests/cloudsim/api/site.hpp"

namespace reaper::cloudsim {

class HttpServer {
public:
    /// Listens on 127.0.0.1; 0 is a port of the system's choice. Throws
    /// boost::system::system_error.
    HttpServer(boost::asio::io_context& io, Site& site, std::uint16_t port);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;
    /// Takes no more connections and closes those that are open.
    void stop();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace reaper::cloudsim
