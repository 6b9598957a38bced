// The gateway: the HTTP proxy that stands before Placement for nova-scheduler. By itself it passes
// everything through; a handler may decide some of the requests.
//
// Where Placement is follows from the configuration, or from Keystone's catalog: then it listens
// when the catalog has been read, which is tried until it succeeds.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "reaper/daemon/daemon_shell.hpp"
#include "reaper/ports/openstack.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper {

class HttpProxy;

/// Where Placement is, if the configuration says so; empty: the catalog has to be asked.
std::string known_placement_url(const config::Gateway& gateway, const config::Cloud& cloud);

/// Where other reapers reach it: `http://192.0.2.1:8780`; empty: there is none.
std::string advertised_url(const config::Gateway& gateway);

class Gateway final : public DaemonWork {
public:
    struct Settings {
        config::Gateway gateway;
        config::Cloud cloud;
        config::Http http;
    };

    /// `session` is asked where Placement is, if the settings don't say; else it may be null. It
    /// and `io` must outlive the gateway. `on_status` gets changes, once a second at most.
    Gateway(boost::asio::io_context& io, Settings settings, CloudSession* session,
            std::function<void(ServiceStatus)> on_status,
            std::shared_ptr<ProxyHandler> handler = nullptr);
    ~Gateway() override;

    /// Listens, if it is known where Placement is: to fail before anything else begins. `run` does
    /// it otherwise.
    Result<void> listen();
    ResultTask<void> run() override;
    void stop() override;
    bool may_be_cut_off() const override;
    /// Nothing of its settings changes while it runs.
    void reload(LiveSettings) override {}

    /// Of the one that its next client is shown; none: it does not listen yet, or without TLS.
    std::optional<TimePoint> certificate_expires() const;
    /// `gateway: 127.0.0.1:8780, 3 calls`
    std::string line() const;

private:
    Result<void> listen_for(const std::string& placement_url);
    Task<void> find_placement();
    Task<void> sleep(Duration span);
    void report();

    boost::asio::io_context& io_;
    Settings settings_;
    CloudSession* session_;
    std::function<void(ServiceStatus)> on_status_;
    std::shared_ptr<ProxyHandler> handler_;
    boost::asio::steady_timer timer_;  ///< what `run` waits with; ended by `stop`
    std::unique_ptr<HttpProxy> proxy_;
    std::string waits_for_;
    std::string reported_;
    bool stopping_ = false;
};

/// The service with a gateway beside it: both end before `run` does. The gateway takes calls until
/// the service has ended: requesters that were helped still have to claim their room.
class WithGateway final : public DaemonWork {
public:
    /// Both must outlive it.
    WithGateway(boost::asio::io_context& io, DaemonWork& service, Gateway& gateway)
        : io_(io), service_(service), gateway_(gateway) {}

    ResultTask<void> run() override;
    void stop() override { service_.stop(); }
    bool may_be_cut_off() const override {
        return service_.may_be_cut_off() && gateway_.may_be_cut_off();
    }
    void reload(LiveSettings settings) override { service_.reload(std::move(settings)); }

private:
    boost::asio::io_context& io_;
    DaemonWork& service_;
    Gateway& gateway_;
};

}  // namespace reaper
