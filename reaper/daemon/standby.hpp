// Standing by: another reaper has the journal. When it ends, or its lease does, the service starts,
// from what the journal has then.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "reaper/api/health.hpp"
#include "reaper/daemon/daemon_shell.hpp"
#include "reaper/ports/reapers.hpp"

namespace reaper {

class Standby final : public DaemonWork {
public:
    /// Makes us the one who writes the journal; `conflict`: another one still is.
    using TakeOver = std::function<ResultTask<void>()>;

    /// Empty `take_over`: the journal is ours, and the service starts at once. All that is
    /// referred to must outlive it. `on_status` gets changes.
    Standby(boost::asio::io_context& io, DaemonWork& service, TakeOver take_over,
            const Reapers* reapers, std::function<void(ServiceStatus)> on_status)
        : service_(service),
          take_over_(std::move(take_over)),
          reapers_(reapers),
          on_status_(std::move(on_status)),
          timer_(io) {}

    ResultTask<void> run() override;
    void stop() override;
    bool may_be_cut_off() const override { return stands_by() || service_.may_be_cut_off(); }
    void reload(LiveSettings settings) override { service_.reload(std::move(settings)); }

    /// `standing by: ctl-1, process 4711 (gateway http://...) is active since ...`; none: we do
    /// not.
    std::optional<std::string> line() const;
    /// URL of the gateway of the active reaper, for the one at `ours`; none: it has none, gives no
    /// sign of life, can't be reached from here, or we take over or end.
    std::optional<std::string> active_gateway(const std::string& ours) const;
    bool stands_by() const { return take_over_ != nullptr; }
    /// Ready is who could take over: the journal and the cloud answer. None: we do not stand by.
    std::optional<api::Health> health() const;

private:
    Task<bool> wait();
    void report();

    DaemonWork& service_;
    TakeOver take_over_;
    const Reapers* reapers_;
    std::function<void(ServiceStatus)> on_status_;
    boost::asio::steady_timer timer_;
    std::string told_;     ///< to systemd
    std::string holder_;   ///< in that line
    std::string trouble_;  ///< why the last try to take over failed
    bool stopping_ = false;
};

}  // namespace reaper
