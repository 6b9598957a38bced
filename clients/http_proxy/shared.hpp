// What all connections of a proxy share. Internal to clients/http_proxy.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>

#include "clients/http_proxy/proxy.hpp"
#include "clients/http_proxy/target.hpp"
#include "clients/http_proxy/upstream.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper::proxy {

class ClientConnection;

/// Lives as long as one of its coroutines.
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

    std::list<ClientConnection*> open;
    std::list<ClientConnection*> idle;   ///< between two requests; the longest first
    std::list<ClientConnection*> heads;  ///< in a handshake or in a head; the longest first
    boost::asio::steady_timer room;      ///< ended when a connection is, or may give way
    HttpProxyState state;
    bool draining = false;  ///< no further request on any connection
};

}  // namespace reaper::proxy
