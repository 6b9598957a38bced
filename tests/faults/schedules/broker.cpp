#include "faults/schedules/broker.hpp"

#include <algorithm>

namespace reaper::faults {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Broker::Messages final : public MessageSource {
public:
    explicit Messages(Broker& broker) : broker_(broker) { broker_.consumer_ = this; }
    ~Messages() override { leave(); }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    void start(Handlers handlers) override {
        handlers_ = std::move(handlers);
        broker_.timeline_.after(milliseconds{20}, [broker = &broker_] { broker->connect(); });
    }
    bool holds(const DeliveryTicket& ticket) const override {
        return ticket.connection == serving();
    }
    void acknowledge(DeliveryTicket ticket) override {
        broker_.settle(ticket.tag, ticket.connection, false);
    }
    void set_aside(Delivery delivery, std::string) override {
        broker_.settle(delivery.ticket.tag, delivery.ticket.connection, true);
    }
    std::uint64_t serving() const override {
        // One that another took over from believes what it heard last.
        if (broker_.consumer_ != this) return told_;
        return broker_.connected_ ? broker_.epoch_ : 0;
    }
    Task<void> stop() override {
        leave();
        co_return;
    }

    void take(Delivery delivery) {
        if (handlers_.message) handlers_.message(std::move(delivery));
    }
    void tell(bool consuming) {
        told_ = consuming ? broker_.epoch_ : 0;
        BrokerState state;
        state.consuming = consuming;
        state.detail = consuming ? "the broker" : "cut off";
        if (handlers_.state) handlers_.state(std::move(state));
    }

private:
    void leave() {
        handlers_ = {};
        told_ = 0;
        if (broker_.consumer_ == this) broker_.consumer_ = nullptr;
    }
    Broker& broker_;
    Handlers handlers_;
    std::uint64_t told_ = 0;  ///< the connection that it serves by
};

class Broker::Events final : public EventSource {
public:
    explicit Events(Broker& broker) : broker_(broker) { broker_.listener_ = this; }
    ~Events() override { leave(); }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    void start(Handlers handlers) override { handlers_ = std::move(handlers); }
    EventCounts counts() const override { return {}; }
    Task<void> stop() override {
        leave();
        co_return;
    }
    void take(CloudEvent event) {
        std::vector<CloudEvent> batch;
        batch.push_back(std::move(event));
        if (handlers_.events) handlers_.events(std::move(batch));
    }
    void tell(bool flowing) {
        EventFeedState state;
        state.flowing = flowing;
        state.detail = flowing ? "the broker" : "cut off";
        if (handlers_.state) handlers_.state(std::move(state));
    }

private:
    void leave() {
        handlers_ = {};
        if (broker_.listener_ == this) broker_.listener_ = nullptr;
    }
    Broker& broker_;
    Handlers handlers_;
};

Broker::Broker(Timeline& timeline, Trace& trace, FaultCounts& counts, std::uint64_t seed)
    : timeline_(timeline), trace_(trace), counts_(counts), chance_(seed) {}

std::unique_ptr<MessageSource> Broker::messages() {
    frozen_ = false;
    return std::make_unique<Messages>(*this);
}
std::unique_ptr<EventSource> Broker::events() {
    return std::make_unique<Events>(*this);
}

void Broker::begin(const Item& item) {
    active_.push_back(Active{item, timeline_.true_now() + item.length, Chance{item.seed}});
    if (item.kind != Kind::flow_stops) return;
    count(Kind::flow_stops);
    flow(false);
    timeline_.after(item.length, [this] { flow(connected_); });
}

bool Broker::strikes(Kind kind) {
    for (Active& one : active_)
        if (one.item.kind == kind && timeline_.true_now() < one.until &&
            one.chance.percent(one.item.percent)) {
            count(kind);
            return true;
        }
    return false;
}

// ---- failures ----

void Broker::publish(cloudsim::Message message) {
    if (message.routing_key.ends_with(".error"))
        publish_error(std::move(message.body));
    else
        publish_info(std::move(message.body));
}

void Broker::publish_error(std::string body) {
    last_error_ = body;
    if (strikes(Kind::forged_message)) enqueue(forged(body));
    const bool twice = strikes(Kind::duplicate);
    const bool again = strikes(Kind::late_repeat);
    if (again) timeline_.after(seconds{chance_.between(5, 90)}, [this, body] { enqueue(body); });
    if (twice) enqueue(body);
    enqueue(std::move(body));
}

/// A forgery of the message that arrives first.
std::string Broker::forged(std::string body) {
    const auto replace = [&](const std::string& what, const std::string& by) {
        for (std::size_t at = body.find(what); at != std::string::npos;
             at = body.find(what, at + by.size()))
            body.replace(at, what.size(), by);
    };
    switch (chance_.between(0, 4)) {
        case 0: replace("req-", "req-f"); break;  // no such action
        case 1: replace("NoValidHost_Remote", "MaxRetriesExceeded"); break;
        case 2: replace(R"(\"num_instances\":)", R"(\"num_instances\":9)"); break;
        case 3: replace(R"(\"vcpus\":)", R"(\"vcpus\":1)"); break;
        default: replace("compute_task.build_instances", "compute_task.migrate_server"); break;
    }
    trace_.line("a forged message");
    return body;
}

void Broker::publish_garbage(const Item& item) {
    Chance chance{item.seed};
    static const char* const bodies[] = {
        "",
        "{",
        "\xff\xfe\x00garbage",
        "{\"oslo.message\":\"{}\"}",
        "[[[[[[[[[[[[[[[[[[[[[[",
        (R"({"oslo.version":"2.0","oslo.message":"{\"event_type\":\"compute_task.build_instances)"
         R"(.error\",\"message_id\":\"'; DROP TABLE stories;--\",\"payload\":7}"})"),
        R"({"oslo.version":"2.0","oslo.message":"\u001b[2J"})"};
    count(item.kind);
    enqueue(bodies[chance.below(std::size(bodies))]);
}

void Broker::publish_old(const Item& item) {
    if (last_error_.empty()) return;
    std::string body = last_error_;
    const auto replace = [&](const std::string& what, const std::string& by) {
        for (std::size_t at = body.find(what); at != std::string::npos;
             at = body.find(what, at + by.size()))
            body.replace(at, what.size(), by);
    };
    replace("2026-11-20 0", "2026-11-19 0");
    replace("req-", "req-00000000");  // an id of its own
    count(item.kind);
    enqueue(std::move(body));
}

void Broker::enqueue(std::string body) {
    Stored stored;
    stored.number = ++last_;
    stored.body = std::move(body);
    queue_.push_back(std::move(stored));
    offer(last_);
}

Duration Broker::delay() {
    if (strikes(Kind::delayed)) return milliseconds{chance_.between(10, 30'000)};
    return milliseconds{chance_.between(1, 5)};
}

void Broker::offer(std::uint64_t number) {
    if (!connected_) return;
    timeline_.after(delay(), [this, number, epoch = epoch_] { deliver(number, epoch); });
}

void Broker::deliver(std::uint64_t number, std::uint64_t epoch) {
    if (epoch != epoch_ || !connected_ || consumer_ == nullptr) return;
    const auto at = std::find_if(queue_.begin(), queue_.end(),
                                 [&](const Stored& one) { return one.number == number; });
    if (at == queue_.end() || at->epoch == epoch) return;
    Delivery delivery;
    delivery.ticket = DeliveryTicket{epoch, number};
    delivery.body = at->body;
    delivery.routing_key = "versioned_notifications.error";
    delivery.redelivered = at->delivered_before;
    at->delivered_before = true;
    at->epoch = epoch;
    trace_.line("message " + std::to_string(number) + " delivered" +
                (delivery.redelivered ? " again" : ""));
    if (on_delivery_) on_delivery_(*at);
    consumer_->take(std::move(delivery));
}

/// The acknowledgement arrives a little later, if the connection lives until then.
void Broker::settle(std::uint64_t number, std::uint64_t epoch, bool set_aside) {
    const auto at = std::find_if(queue_.begin(), queue_.end(),
                                 [&](const Stored& one) { return one.number == number; });
    trace_.line("message " + std::to_string(number) + (set_aside ? " set aside" : " acknowledged"));
    if (at == queue_.end() || epoch != epoch_) return;
    if (on_ack_) on_ack_(*at, set_aside);
    timeline_.after(milliseconds{chance_.between(1, 4)}, [this, number, epoch, set_aside] {
        if (epoch != epoch_) return;
        const auto gone =
            std::erase_if(queue_, [&](const Stored& one) { return one.number == number; });
        if (set_aside && gone > 0) ++dead_letters_;
    });
}

std::size_t Broker::unacknowledged() const {
    return queue_.size();
}

// ---- the connection ----

void Broker::connect() {
    if (connected_ || frozen_ || consumer_ == nullptr) return;
    connected_ = true;
    ++epoch_;
    consumer_->tell(true);
    for (const Stored& stored : queue_) offer(stored.number);
    flow(true);
}

void Broker::disconnect() {
    if (!connected_) return;
    connected_ = false;
    ++epoch_;
    flow(false);
    if (consumer_) consumer_->tell(false);
}

void Broker::freeze() {
    frozen_ = true;
    connected_ = false;
    flowing_ = false;
    ++epoch_;
}

void Broker::thaw() {
    frozen_ = false;
    if (listener_) listener_->tell(false);
    if (consumer_) consumer_->tell(false);
    timeline_.after(milliseconds{20}, [this] { connect(); });
}

// ---- changes of the cloud ----

void Broker::flow(bool flowing) {
    if (flowing == flowing_ && listener_ != nullptr && !flowing) return;
    flowing_ = flowing;
    if (listener_) listener_->tell(flowing);
}

void Broker::publish_info(std::string body) {
    if (!flowing_ || listener_ == nullptr) return;
    if (strikes(Kind::info_lost)) return;
    const auto epoch = epoch_;
    TimePoint when = timeline_.true_now() + milliseconds{chance_.between(1, 20)};
    if (strikes(Kind::info_late)) {
        when += milliseconds{chance_.between(100, 20'000)};
    } else {
        when = std::max(when, last_info_);  // in order, but for those that are late
        last_info_ = when;
    }
    timeline_.at(when, [this, body = std::move(body), epoch] { tell(body, epoch); });
}

void Broker::tell(const std::string& body, std::uint64_t epoch) {
    if (!flowing_ || listener_ == nullptr || epoch != epoch_) return;
    auto parsed = parser_.parse(body);
    if (auto* event = std::get_if<CloudEvent>(&parsed)) listener_->take(std::move(*event));
}

}  // namespace reaper::faults
