// Runs a message source on an io_context of its own and keeps what the handlers received.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "clients/amqp/amqp_source.hpp"
#include "tests/rabbitmq/support/broker_admin.hpp"
#include "tests/rabbitmq/support/loop.hpp"

namespace reaper::test {

/// Settings with short pauses and names that no other test uses, nor another run of this one. What
/// makes us or the broker give up is long: a test that is about giving up, or in which a reaper
/// comes back, makes it shorter (short_heartbeat).
inline config::Broker broker_settings() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    static int calls = 0;
    const std::string name =
        test->name() + ("." + std::to_string(::getpid())) + "." + std::to_string(++calls);
    config::Broker broker;
    broker.urls = {config::Secret(BrokerPlace::get().url())};
    broker.exchange = "nova." + name;
    broker.queue = "q." + name;
    broker.dead_letter_queue = "dead." + name;
    broker.topics = {"versioned_notifications"};
    broker.reconnect_backoff = std::chrono::milliseconds(20);
    broker.reconnect_backoff_max = std::chrono::milliseconds(300);
    broker.connect_timeout = patience;
    broker.heartbeat = std::chrono::seconds(60);
    return broker;
}

inline AmqpTuning quick_tuning() {
    AmqpTuning tuning;
    tuning.recheck = std::chrono::milliseconds(200);
    tuning.recheck_missing_max = std::chrono::milliseconds(100);
    tuning.answer_timeout = patience;
    tuning.stop_timeout = patience;
    return tuning;
}

/// Of tests in which a reaper is replaced, or comes back: it waits for one lease, which is as long.
constexpr std::chrono::seconds short_heartbeat(5);

constexpr const char* error_key = "versioned_notifications.error";

class SourceRunner : public Loop {
public:
    explicit SourceRunner(config::Broker settings, AmqpTuning tuning = quick_tuning())
        : broker(std::move(settings)),
          source(make_amqp_source(context.get_executor(), broker, tuning)) {}

    void start() {
        source->start({[this](Delivery delivery) { messages.push_back(std::move(delivery)); },
                       [this](BrokerState state) { states.push_back(std::move(state)); }});
    }
    bool until_messages(std::size_t count) {
        return until([&] { return messages.size() >= count; });
    }
    bool consuming() const { return !states.empty() && states.back().consuming; }
    bool until_consuming() {
        const bool came = until([&] { return consuming(); });
        if (!came) ADD_FAILURE() << "not consuming; states:" << all_states();
        return came;
    }
    /// Not only connected: messages come to it.
    bool until_serving() {
        const bool came = until([&] { return source->serving() != 0; });
        if (!came) ADD_FAILURE() << "not serving; states:" << all_states();
        return came;
    }
    /// Connected again after a loss.
    bool until_consuming_again() {
        const bool came = until([&] { return states.size() >= 3 && consuming(); });
        if (!came) ADD_FAILURE() << "not consuming again; states:" << all_states();
        return came;
    }
    /// The present state is a bad one that says this.
    bool until_told(const std::string& text) {
        const bool came = until([&] {
            return !states.empty() && !states.back().consuming &&
                   states.back().detail.find(text) != std::string::npos;
        });
        if (!came) ADD_FAILURE() << "not told '" << text << "'; states:" << all_states();
        return came;
    }
    std::string all_states() const {
        std::string all;
        for (const auto& state : states) all += "\n  " + state.detail;
        return all;
    }
    void acknowledge_all() {
        for (const auto& message : messages) source->acknowledge(message.ticket);
    }
    /// Starts the stop; `stopped` turns true.
    void begin_stop() {
        auto done = [this](std::exception_ptr) { stopped = true; };
        boost::asio::co_spawn(context, source->stop(), done);
    }
    bool stop() {
        begin_stop();
        return until([&] { return stopped; });
    }

    config::Broker broker;
    std::vector<Delivery> messages;
    std::vector<BrokerState> states;
    bool stopped = false;
    std::unique_ptr<MessageSource> source;
};

/// Polls the broker until the queue has so many ready messages.
inline bool until_ready(BrokerAdmin& admin, const std::string& queue, std::uint64_t count) {
    return until([&] {
        const auto seen = admin.look(queue);
        return seen && seen->messages == count;
    });
}

}  // namespace reaper::test
