// A proxy between raw clients and a raw upstream, on one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "clients/http_proxy/proxy.hpp"
#include "tests/clients/http_proxy/raw_peers.hpp"

namespace reaper::test {

inline HttpProxyLimits patient_limits() {
    HttpProxyLimits limits;
    limits.head = limits.body = limits.write = limits.idle = patience;
    limits.connect = limits.upstream = limits.upstream_idle = limits.surely_alive = patience;
    return limits;
}

class ProxyTest : public ::testing::Test {
protected:
    HttpProxySettings settings_for(const std::string& path = "") {
        HttpProxySettings settings;
        settings.name = "gateway";
        settings.address = "127.0.0.1:0";
        settings.upstream.endpoint = {false, "127.0.0.1", upstream.port()};
        settings.upstream.path = path.empty() ? "/" : path;
        settings.limits = limits;
        return settings;
    }
    void start(HttpProxySettings settings) {
        auto made = listen_proxy(io.get_executor(), std::move(settings), handler);
        if (!made) throw std::runtime_error(made.error().what);
        proxy = std::move(*made);
    }
    void start() { start(settings_for()); }
    std::shared_ptr<RawPeer> client() { return connect_to(io, proxy->port()); }
    void until(const std::function<bool()>& condition) {
        ASSERT_TRUE(run_until(io, condition)) << "it never happened";
    }
    /// What is ready is done; what waits for others waits on.
    void settle() {
        io.restart();
        while (io.run_one_for(std::chrono::milliseconds{50}) > 0) {
        }
    }
    /// Until the upstream has heard exactly this from its newest connection.
    void upstream_hears(const std::string& text, std::size_t connection = 0) {
        until([&] {
            return upstream.accepted() > connection &&
                   upstream.peer(connection).heard().size() >= text.size();
        });
        ASSERT_EQ(upstream.peer(connection).heard(), text);
    }
    void client_hears(RawPeer& peer, const std::string& text) {
        until([&] { return peer.heard().size() >= text.size() || peer.ended(); });
        ASSERT_EQ(peer.heard(), text);
    }

    boost::asio::io_context io{1};
    RawServer upstream{io};
    HttpProxyLimits limits = patient_limits();
    std::shared_ptr<ProxyHandler> handler;
    std::unique_ptr<HttpProxy> proxy;
};

}  // namespace reaper::test
