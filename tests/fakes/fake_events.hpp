// A stream of Nova's events that a test speaks through. It flows from the start on.
#pragma once

#include <utility>
#include <vector>

#include "reaper/ports/message_source.hpp"

namespace reaper::test {

class FakeEvents final : public EventSource {
public:
    void start(Handlers handlers) override {
        handlers_ = std::move(handlers);
        flow(true);
    }
    EventCounts counts() const override { return {}; }
    Task<void> stop() override {
        handlers_ = {};
        co_return;
    }

    void flow(bool flowing) {
        EventFeedState state;
        state.flowing = flowing;
        state.detail = flowing ? "a broker" : "the broker is away";
        if (handlers_.state) handlers_.state(std::move(state));
    }
    void tell(CloudEvent event) {
        std::vector<CloudEvent> batch;
        batch.push_back(std::move(event));
        if (handlers_.events) handlers_.events(std::move(batch));
    }

private:
    Handlers handlers_;
};

}  // namespace reaper::test
