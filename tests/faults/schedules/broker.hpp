// The broker: keeps Nova's messages until they are acknowledged, and delivers them to the one
// reaper that is connected, as the fault plan wants it: twice, late, out of order, again after a
// lost connection. The INFO messages go to those that listen at that time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "faults/schedules/chance.hpp"
#include "faults/schedules/plan.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/trace.hpp"
#include "reaper/notifications/cloud_event_parser.hpp"
#include "reaper/ports/message_source.hpp"
#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::faults {

class Broker {
public:
    /// A message in the reaper's queue.
    struct Stored {
        std::uint64_t number = 0;
        std::string body;
        bool delivered_before = false;
        std::uint64_t epoch = 0;  ///< of the connection that it is delivered on; 0: none
        bool acknowledged = false;
    };
    using OnAck = std::function<void(const Stored&, bool set_aside)>;
    using OnDelivery = std::function<void(const Stored&)>;

    Broker(Timeline& timeline, Trace& trace, FaultCounts& counts, std::uint64_t seed);

    /// Told of each acknowledgement when the reaper gives it, before it is on its way.
    void on_acknowledge(OnAck watcher) { on_ack_ = std::move(watcher); }
    void on_delivery(OnDelivery watcher) { on_delivery_ = std::move(watcher); }
    void begin(const Item& item);

    // Nova's side.
    void publish(cloudsim::Message message);
    void publish_garbage(const Item& item);
    /// The last failure again, hours old, of an unknown request.
    void publish_old(const Item& item);

    // The reaper's side: one process at a time.
    std::unique_ptr<MessageSource> messages();
    std::unique_ptr<EventSource> events();
    /// The connection breaks: what is unacknowledged comes again.
    void disconnect();
    /// The same, but who is connected is frozen, and does not notice before it goes on.
    void freeze();
    void thaw();
    void connect();

    /// Messages whose acknowledgement has not arrived.
    std::size_t unacknowledged() const;
    const std::deque<Stored>& queue() const { return queue_; }
    /// Is it with the reaper now, as far as the broker knows?
    bool is_out(const Stored& message) const { return connected_ && message.epoch == epoch_; }
    /// Of the present connection: a reaper that serves by another one begins again.
    std::uint64_t epoch() const { return epoch_; }
    std::size_t dead_letters() const { return dead_letters_; }

private:
    void publish_error(std::string body);
    void publish_info(std::string body);
    class Messages;
    class Events;
    struct Active {
        Item item;
        TimePoint until{};
        Chance chance;
    };
    bool strikes(Kind kind);
    Duration delay();
    void enqueue(std::string body);
    std::string forged(std::string body);
    void offer(std::uint64_t number);
    void deliver(std::uint64_t number, std::uint64_t epoch);
    void settle(std::uint64_t number, std::uint64_t epoch, bool set_aside);
    void tell(const std::string& body, std::uint64_t epoch);
    void flow(bool flowing);
    void count(Kind kind) { ++counts_[static_cast<std::size_t>(kind)]; }

    Timeline& timeline_;
    Trace& trace_;
    FaultCounts& counts_;
    Chance chance_;
    OnAck on_ack_;
    OnDelivery on_delivery_;
    std::vector<Active> active_;
    std::deque<Stored> queue_;
    std::uint64_t last_ = 0;
    std::uint64_t epoch_ = 0;  ///< of the present connection
    bool connected_ = false;
    bool flowing_ = false;
    bool frozen_ = false;  ///< who is connected
    TimePoint last_info_{};
    std::size_t dead_letters_ = 0;
    std::string last_error_;
    Messages* consumer_ = nullptr;
    Events* listener_ = nullptr;
    CloudEventParser parser_;
};

}  // namespace reaper::faults
