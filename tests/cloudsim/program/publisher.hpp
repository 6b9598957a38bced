// Sends messages to RabbitMQ as oslo.messaging does: exchange `nova` (topic, not durable), its
// default queues, publisher confirms. A thread of its own, as librabbitmq blocks; what could not be
// sent is sent again, in order, once the broker is back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::cloudsim {

struct PublisherOptions {
    std::string url;  ///< amqp://user:password@host:port/vhost
    bool default_queues = true;
    std::size_t most_waiting = 1'000'000;  ///< messages that are not sent yet
};

class Publisher {
public:
    explicit Publisher(PublisherOptions options);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// False if too many wait: the message is lost, and counted.
    bool send(Message message);
    void pause(bool paused);
    /// What it does, as a JSON object.
    std::string state_json() const;
    /// Waits until it is connected, or what is wrong is known. Empty if connected.
    std::string wait_connected(std::chrono::milliseconds limit);

private:
    class Channel;
    void run();
    bool work(Channel& channel);

    PublisherOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Message> waiting_;
    std::uint64_t sent_ = 0;
    std::uint64_t lost_ = 0;
    bool connected_ = false;
    bool paused_ = false;
    bool ending_ = false;
    std::string trouble_;
    std::thread thread_;
};

}  // namespace reaper::cloudsim
