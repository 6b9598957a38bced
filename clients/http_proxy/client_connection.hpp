// One client's connection: request after request. Internal to clients/http_proxy.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "clients/http_proxy/message.hpp"
#include "clients/http_proxy/proxy.hpp"
#include "clients/http_proxy/upstream.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper::proxy {

class ClientConnection;

/// What all connections of a proxy share. Lives as long as one of its coroutines.
struct Shared {
    Shared(boost::asio::any_io_executor on, HttpProxySettings given,
           std::shared_ptr<ProxyHandler> decides)
        : executor(std::move(on)),
          settings(std::move(given)),
          handler(std::move(decides)),
          room(executor) {}

    boost::asio::any_io_executor executor;
    HttpProxySettings settings;
    std::shared_ptr<ProxyHandler> handler;  ///< or null
    PathPrefixes prefixes;
    std::string authority;           ///< the upstream's Host, for clients that know none
    std::shared_ptr<ServerTls> tls;  ///< or null
    std::shared_ptr<Upstream> upstream;
    std::shared_ptr<Upstream> other;  ///< the one that was asked last instead, or null
    std::string other_at;             ///< where that is
    HeldBytes held{settings.limits.held_bytes};

    std::list<ClientConnection*> open;
    std::list<ClientConnection*> idle;   ///< between two requests; the longest first
    std::list<ClientConnection*> heads;  ///< in a handshake or in a head; the longest first
    boost::asio::steady_timer room;      ///< ended when a connection is, or may give way
    HttpProxyState state;
    bool draining = false;  ///< no further request on any connection
};

/// Serves the client until it leaves, says nothing in time, or is closed. In `open` from now on.
void take_client(const std::shared_ptr<Shared>& shared, boost::asio::ip::tcp::socket socket);
/// At once; a call under way is given up. The connection leaves the lists soon after.
void close_client(ClientConnection& connection);

}  // namespace reaper::proxy
