// A call of nova-scheduler's, and by when it has its answer.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "reaper/model/time.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper {

class GatewayCall final : public ProxyCall {
public:
    /// Between two looks whether something is there.
    static constexpr Duration poll_interval{20};

    /// `until`: on the steady clock. The call must outlive it.
    GatewayCall(ProxyCall& call, Duration until) : call_(call), until_(until) {}

    Duration until() const { return until_; }

    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override {
        return call_.ask(std::move(request));
    }
    bool client_gone() const override { return call_.client_gone(); }
    void on_client_gone(std::function<void()> told) override {
        call_.on_client_gone(std::move(told));
    }

private:
    ProxyCall& call_;
    Duration until_;
};

}  // namespace reaper
