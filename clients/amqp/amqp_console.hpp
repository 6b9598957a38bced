// RabbitMQ as commands look at it.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "reaper/ports/broker_console.hpp"

namespace reaper {

/// Takes the first broker of the list that answers. Blocks for about `connect_timeout` per broker
/// at worst (name resolution aside).
class AmqpConsole final : public BrokerConsole {
public:
    explicit AmqpConsole(config::Broker broker) : broker_(std::move(broker)) {}

    Result<BrokerReport> look() override;
    Result<ActiveReaper> active_reaper() override;
    Result<std::vector<DeadLetter>> dead_letters(const std::set<std::string>& bodies_of) override;
    Result<RetriedLetters> retry(const std::set<std::string>& ids) override;

private:
    config::Broker broker_;
};

// Which of several reapers serves the queue? The broker does not say, but it gives what is put
// into the queue to that one alone: a question is put there, and its receiver answers to a
// mailbox that the broker keeps for the connection that asks (direct reply-to).

/// None: no answer within `patience`: the reaper that serves the queue is frozen, has all the
/// messages that it takes at a time, or is too old to know the question. `not_found`: no reaper is
/// at the queue. Blocks for about `patience` and `broker.connect_timeout` for each broker at worst.
Result<std::optional<ActiveReaper>> ask_for_active_reaper(const config::Broker& broker,
                                                          std::chrono::milliseconds patience);

}  // namespace reaper
