// A transport that reports each try: how many calls there are, and how long they take.
#include <utility>

#include "clients/http/retry.hpp"
#include "clients/http/transport.hpp"

namespace reaper::http {

namespace {

class ObservedTransport final : public Transport {
public:
    ObservedTransport(std::shared_ptr<Transport> inner, CallObserver observer)
        : inner_(std::move(inner)), observer_(std::move(observer)) {}

    TimeLimit now() const override { return inner_->now(); }

    Task<Try> exchange(const Outgoing& call, TimeLimit limit) override {
        const TimeLimit start = inner_->now();
        Try outcome = co_await inner_->exchange(call, limit);
        tell(call, outcome, inner_->now() - start);
        co_return outcome;
    }

private:
    void tell(const Outgoing& call, const Try& outcome, std::chrono::duration<double> took) const {
        CallSeen seen;
        seen.service = call.request.service;
        seen.method = call.request.method;
        seen.url = call.request.url;
        seen.took = took;
        if (const auto* failure = std::get_if<Failure>(&outcome)) {
            if (failure->unwanted) return;
            seen.failure = failure->code;
        } else {
            const auto& answer = std::get<Response>(outcome);
            seen.status = answer.status;
            seen.date = http_date(answer.header("date"));
        }
        observer_(seen);
    }

    std::shared_ptr<Transport> inner_;
    CallObserver observer_;
};

}  // namespace

std::shared_ptr<Transport> observed(std::shared_ptr<Transport> inner, CallObserver observer) {
    return std::make_shared<ObservedTransport>(std::move(inner), std::move(observer));
}

}  // namespace reaper::http
