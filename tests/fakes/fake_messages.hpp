// A broker in memory: the test delivers, and sees what was acknowledged or set aside.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/ports/message_source.hpp"

namespace reaper::test {

class FakeMessages final : public MessageSource {
public:
    void start(Handlers handlers) override {
        handlers_ = std::move(handlers);
        consuming_ = true;
        handlers_.state(BrokerState{true, "fake"});
    }
    bool holds(const DeliveryTicket& ticket) const override {
        return ticket.connection == connection_;
    }
    void acknowledge(DeliveryTicket ticket) override { acknowledged.insert(ticket.tag); }
    void set_aside(Delivery delivery, std::string reason) override {
        aside.emplace_back(std::move(delivery), std::move(reason));
    }
    std::uint64_t serving() const override { return serves && consuming_ ? connection_ : 0; }
    Task<void> stop() override {
        stopped = true;
        handlers_ = {};
        co_return;
    }

    std::uint64_t deliver(std::string body, bool redelivered = false) {
        Delivery delivery;
        delivery.redelivered = redelivered;
        delivery.ticket = DeliveryTicket{connection_, ++last_tag_};
        delivery.body = std::move(body);
        handlers_.message(std::move(delivery));
        return last_tag_;
    }

    void disconnect() {
        ++connection_;
        consuming_ = false;
        handlers_.state(BrokerState{false, "cut"});
    }
    /// Tickets given so far are no longer valid.
    void reconnect() {
        disconnect();
        consuming_ = true;
        handlers_.state(BrokerState{true, "fake"});
    }

    std::set<std::uint64_t> acknowledged;
    std::vector<std::pair<Delivery, std::string>> aside;
    bool stopped = false;
    bool serves = true;  ///< the broker gives the queue's messages to us

private:
    Handlers handlers_;
    std::uint64_t last_tag_ = 0;
    std::uint64_t connection_ = 1;
    bool consuming_ = false;
};

}  // namespace reaper::test
