// A call as its handler sees it. Internal to clients/http_proxy.
#pragma once

#include "clients/http_proxy/call_guard.hpp"
#include "clients/http_proxy/shared.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper::proxy {

class ClientCall final : public ProxyCall {
public:
    ClientCall(Shared& shared, CallGuard& guard) : shared_(shared), guard_(guard) {}
    ClientCall(const ClientCall&) = delete;
    ClientCall& operator=(const ClientCall&) = delete;
    ~ClientCall() override { guard_.forget(); }

    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override;
    bool client_gone() const override { return guard_.gone(); }
    void on_client_gone(std::function<void()> told) override { guard_.on_gone(std::move(told)); }

private:
    Result<std::string> head_of(const HttpRequest& request) const;

    Shared& shared_;
    CallGuard& guard_;
};

}  // namespace reaper::proxy
