#include "tests/cloudsim/program/publisher.hpp"

#include <optional>
#include <set>
#include <vector>

#include "clients/amqp/rabbitmq_c.hpp"
#include "tests/cloudsim/api/json_writer.hpp"

namespace reaper::cloudsim {

namespace {

constexpr timeval answer_limit{10, 0};
constexpr std::size_t batch_size = 200;
constexpr auto retry_pause = std::chrono::milliseconds(300);
constexpr auto heartbeat_pause = std::chrono::seconds(5);
constexpr int heartbeat_s = 30;

std::string answer_text(const amqp_rpc_reply_t& reply) {
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        return amqp_error_string2(reply.library_error);
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) return "no answer";
    amqp_bytes_t text{};
    if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD)
        text = static_cast<amqp_connection_close_t*>(reply.reply.decoded)->reply_text;
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD)
        text = static_cast<amqp_channel_close_t*>(reply.reply.decoded)->reply_text;
    return std::string(static_cast<const char*>(text.bytes), text.len);
}

amqp_bytes_t bytes(const std::string& text) {
    amqp_bytes_t made;
    made.len = text.size();
    made.bytes = const_cast<char*>(text.data());
    return made;
}

}  // namespace

/// One connection with one channel. Throws std::runtime_error when it breaks.
class Publisher::Channel {
public:
    explicit Channel(const PublisherOptions& options) : state_(amqp_new_connection()) {
        try {
            open(options);
        } catch (...) {
            amqp_destroy_connection(state_);
            throw;
        }
    }
    ~Channel() { amqp_destroy_connection(state_); }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    void publish(const std::vector<Message>& batch) {
        amqp_basic_properties_t properties{};
        properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_CONTENT_ENCODING_FLAG |
                            AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_PRIORITY_FLAG;
        properties.content_type = amqp_cstring_bytes("application/json");
        properties.content_encoding = amqp_cstring_bytes("utf-8");
        properties.delivery_mode = 2;
        properties.priority = 0;
        for (const Message& message : batch) {
            declare_queue(message.routing_key);
            const int status = amqp_basic_publish(state_, 1, amqp_cstring_bytes("nova"),
                                                  bytes(message.routing_key), 0, 0, &properties,
                                                  bytes(message.body));
            if (status != AMQP_STATUS_OK) throw std::runtime_error(amqp_error_string2(status));
            unconfirmed_.insert(++published_);
        }
        while (!unconfirmed_.empty()) wait_for_confirm();
        amqp_maybe_release_buffers(state_);
    }

    /// Serves heartbeats; notices a broken connection.
    void idle() {
        timeval none{0, 0};
        amqp_frame_t frame;
        const int status = amqp_simple_wait_frame_noblock(state_, &frame, &none);
        if (status != AMQP_STATUS_TIMEOUT && status != AMQP_STATUS_OK)
            throw std::runtime_error(amqp_error_string2(status));
    }

private:
    void open(const PublisherOptions& options) {
        std::string url = options.url;  // the parser writes into it
        amqp_connection_info info{};
        amqp_default_connection_info(&info);
        if (amqp_parse_url(url.data(), &info) != AMQP_STATUS_OK)
            throw std::runtime_error("the AMQP URL can't be read");
        amqp_socket_t* socket = amqp_tcp_socket_new(state_);
        timeval limit = answer_limit;
        if (!socket || amqp_socket_open_noblock(socket, info.host, info.port, &limit) != 0)
            throw std::runtime_error(std::string("no connection to ") + info.host + ":" +
                                     std::to_string(info.port));
        amqp_set_rpc_timeout(state_, &limit);
        // A lone slash is the standard virtual host, as the reaper and oslo.messaging read it.
        const char* vhost = *info.vhost ? info.vhost : "/";
        check(amqp_login(state_, vhost, 0, 131072, heartbeat_s, AMQP_SASL_METHOD_PLAIN, info.user,
                         info.password),
              "login");
        amqp_channel_open(state_, 1);
        check(amqp_get_rpc_reply(state_), "channel");
        amqp_exchange_declare(state_, 1, amqp_cstring_bytes("nova"), amqp_cstring_bytes("topic"), 0,
                              0, 0, 0, amqp_empty_table);
        check(amqp_get_rpc_reply(state_), "exchange nova");
        amqp_confirm_select(state_, 1);
        check(amqp_get_rpc_reply(state_), "confirms");
        default_queues_ = options.default_queues;
    }

    static void check(const amqp_rpc_reply_t& reply, const std::string& what) {
        if (reply.reply_type != AMQP_RESPONSE_NORMAL)
            throw std::runtime_error(what + ": " + answer_text(reply));
    }

    /// oslo.messaging declares a queue named like the topic before it first publishes to it.
    void declare_queue(const std::string& key) {
        if (!default_queues_ || !declared_.insert(key).second) return;
        amqp_queue_declare(state_, 1, bytes(key), 0, 0, 0, 0, amqp_empty_table);
        check(amqp_get_rpc_reply(state_), "queue " + key);
        amqp_queue_bind(state_, 1, bytes(key), amqp_cstring_bytes("nova"), bytes(key),
                        amqp_empty_table);
        check(amqp_get_rpc_reply(state_), "binding of " + key);
    }

    void wait_for_confirm() {
        amqp_frame_t frame;
        timeval limit = answer_limit;
        const int status = amqp_simple_wait_frame_noblock(state_, &frame, &limit);
        if (status != AMQP_STATUS_OK) throw std::runtime_error(amqp_error_string2(status));
        if (frame.frame_type != AMQP_FRAME_METHOD) return;
        if (frame.payload.method.id == AMQP_BASIC_ACK_METHOD) {
            const auto* ack = static_cast<amqp_basic_ack_t*>(frame.payload.method.decoded);
            // Of messages to several queues they come in any order.
            unconfirmed_.erase(
                ack->multiple ? unconfirmed_.begin() : unconfirmed_.lower_bound(ack->delivery_tag),
                unconfirmed_.upper_bound(ack->delivery_tag));
        } else if (frame.payload.method.id != AMQP_BASIC_RETURN_METHOD) {
            throw std::runtime_error("the broker refused a message or closed the connection");
        }
    }

    amqp_connection_state_t state_;
    bool default_queues_ = true;
    std::set<std::string> declared_;
    std::uint64_t published_ = 0;
    std::set<std::uint64_t> unconfirmed_;
};

Publisher::Publisher(PublisherOptions options)
    : options_(std::move(options)), thread_([this] { run(); }) {}

Publisher::~Publisher() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool Publisher::send(Message message) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.most_waiting) {
        ++lost_;
        return false;
    }
    waiting_.push_back(std::move(message));
    changed_.notify_all();
    return true;
}

void Publisher::pause(bool paused) {
    const std::lock_guard lock(mutex_);
    paused_ = paused;
    changed_.notify_all();
}

std::string Publisher::state_json() const {
    const std::lock_guard lock(mutex_);
    JsonWriter json;
    json.open_object().member("connected", connected_).member("paused", paused_);
    json.member("sent", sent_).member("waiting", waiting_.size()).member("lost", lost_);
    json.member("trouble", trouble_).close_object();
    return json.take();
}

std::string Publisher::wait_connected(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return connected_; });
    if (connected_) return {};
    return trouble_.empty() ? "no answer" : trouble_;
}

void Publisher::run() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        lock.unlock();
        std::string trouble;
        try {
            Channel channel(options_);
            lock.lock();
            connected_ = true;
            trouble_.clear();
            changed_.notify_all();
            lock.unlock();
            while (work(channel)) {
            }
        } catch (const std::exception& broken) {
            trouble = broken.what();
        }
        lock.lock();
        connected_ = false;
        trouble_ = trouble;
        changed_.wait_for(lock, retry_pause, [this] { return ending_; });
    }
}

/// False when it is to end.
bool Publisher::work(Channel& channel) {
    std::vector<Message> batch;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, heartbeat_pause,
                          [this] { return ending_ || (!paused_ && !waiting_.empty()); });
        if (!paused_)
            batch.assign(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  batch_size, waiting_.size())));
        if (ending_ && batch.empty()) return false;
    }
    if (batch.empty()) {
        channel.idle();
        return true;
    }
    // They stay in the queue until the broker has them.
    channel.publish(batch);
    const std::lock_guard lock(mutex_);
    sent_ += batch.size();
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(batch.size()));
    return true;
}

}  // namespace reaper::cloudsim
