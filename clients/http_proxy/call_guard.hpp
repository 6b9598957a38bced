// Whether somebody still waits for a call, and what to close if not.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "clients/http_proxy/upstream_connection.hpp"

namespace reaper::proxy {

class CallGuard {
public:
    bool gone() const { return gone_; }
    /// Nobody waits any more: what is under way at the upstream is given up.
    void give_up() {
        if (std::exchange(gone_, true)) return;
        const auto connection = active_.lock();
        if (connection && connection->calls == call_) connection->stream.close();
        if (const auto told = std::exchange(told_, nullptr)) told();
    }
    /// The connection that works for the call now.
    void works_on(const std::shared_ptr<UpstreamConnection>& connection) {
        active_ = connection;
        call_ = connection->calls;
    }
    void on_gone(std::function<void()> told) {
        told_ = std::move(told);
        if (!gone_) return;
        if (const auto now = std::exchange(told_, nullptr)) now();
    }
    /// Whoever was told is no more.
    void forget() { told_ = nullptr; }

private:
    bool gone_ = false;
    std::weak_ptr<UpstreamConnection> active_;
    std::uint64_t call_ = 0;  ///< the connection may work for another one since
    std::function<void()> told_;
};

}  // namespace reaper::proxy
