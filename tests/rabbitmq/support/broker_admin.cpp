#include "tests/rabbitmq/support/broker_admin.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "config/broker_url.hpp"
#include "tests/rabbitmq/support/loop.hpp"

namespace reaper::test {

using amqp::bytes;
using amqp::consume_channel;
using amqp::publish_channel;
using amqp::scratch_channel;

namespace {

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value) throw std::runtime_error("run this through tests/rabbitmq/broker run");
    return value;
}

config::Broker settings(const BrokerPlace& node) {
    config::Broker broker;
    broker.urls = {config::Secret(node.url())};
    broker.heartbeat = std::chrono::seconds(0);  // it is not served between two calls
    broker.connect_timeout = patience;
    return broker;
}

}  // namespace

const BrokerPlace& BrokerPlace::get() {
    return nodes().front();
}

const std::vector<BrokerPlace>& BrokerPlace::nodes() {
    static const std::vector<BrokerPlace> found = [] {
        std::vector<BrokerPlace> places;
        std::istringstream directories(variable("REAPER_BROKER_NODES"));
        std::istringstream ports(variable("REAPER_BROKER_PORTS"));
        const int with_tls = std::stoi(variable("REAPER_BROKER_TLS_PORT"));
        std::string path;
        std::string number;
        while (std::getline(directories, path, ':') && std::getline(ports, number, ':'))
            places.push_back({variable("REAPER_BROKER"), path,
                              static_cast<std::uint16_t>(std::stoi(number)),
                              static_cast<std::uint16_t>(with_tls)});
        return places;
    }();
    return found;
}

std::string BrokerPlace::url(std::uint16_t at, const std::string& vhost) const {
    return "amqp://reaper:p%40ss%2Fw%3Ard%25@127.0.0.1:" + std::to_string(at ? at : port) + "/" +
           vhost;
}

std::string BrokerPlace::tls_url(const std::string& host) const {
    return "amqps://reaper:p%40ss%2Fw%3Ard%25@" + host + ":" + std::to_string(tls_port) + "/";
}

std::string BrokerPlace::run(const std::string& verb, const std::string& arguments) const {
    const std::string command = "'" + script + "' " + verb + " '" + directory + "' " + arguments;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), got);
    }
    if (::pclose(pipe) != 0) throw std::runtime_error(command + " failed: " + output);
    return output;
}

BrokerAdmin::BrokerAdmin(const BrokerPlace& node) : node_(node) {
    const config::Broker broker = settings(node);
    const auto urls = parse_broker_urls(broker.urls.front());
    auto opened = amqp::Connection::open(urls->front(), broker, patience, aborter_);
    if (!opened) throw std::runtime_error(opened.error().what);
    connection_ = std::move(*opened);
    expect(connection_->open_channel(scratch_channel));
}

void BrokerAdmin::expect(const amqp::Outcome& outcome) {
    if (outcome) throw std::runtime_error(outcome->error.what);
}

void BrokerAdmin::declare_exchange(const std::string& name) {
    amqp_exchange_declare(connection_->raw(), scratch_channel, bytes(name), bytes("topic"), 0, 0, 0,
                          0, amqp_empty_table);
    expect(connection_->check(scratch_channel, "declaring"));
}

void BrokerAdmin::delete_exchange(const std::string& name) {
    amqp_exchange_delete(connection_->raw(), scratch_channel, bytes(name), 0);
    expect(connection_->check(scratch_channel, "deleting"));
}

void BrokerAdmin::publish(const std::string& exchange, const std::string& key,
                          const std::string& body, int copies, const std::string& header) {
    Content content;
    if (!header.empty()) content.headers[header] = "kept";
    publish_as(exchange, key, body, content, copies);
}

void BrokerAdmin::publish_as(const std::string& exchange, const std::string& key,
                             const std::string& body, const Content& content, int copies) {
    amqp_basic_properties_t properties{};
    amqp::Table headers;
    for (const auto& [name, text] : content.headers) headers.add(name, text);
    if (!content.headers.empty()) {
        properties.headers = headers.raw();
        properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    }
    if (!content.encoding.empty()) {
        properties.content_encoding = bytes(content.encoding);
        properties._flags |= AMQP_BASIC_CONTENT_ENCODING_FLAG;
    }
    properties._flags |=
        AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.content_type = bytes(content.type);
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties.message_id = bytes("id-of-the-original");
    for (int i = 0; i < copies; ++i) {
        const int status = amqp_basic_publish(connection_->raw(), scratch_channel, bytes(exchange),
                                              bytes(key), 0, 0, &properties, bytes(body));
        expect(connection_->check_status(status, "publishing"));
    }
    // An answer to a later question means that the broker has seen the message.
    amqp_exchange_declare(connection_->raw(), scratch_channel, bytes("amq.topic"), bytes("topic"),
                          1, 0, 0, 0, amqp_empty_table);
    expect(connection_->check(scratch_channel, "publishing"));
}

bool BrokerAdmin::publish_surely(const std::string& exchange, const std::string& key,
                                 const std::string& body) {
    expect(connection_->open_channel(publish_channel));
    amqp_confirm_select(connection_->raw(), publish_channel);
    expect(connection_->check(publish_channel, "asking for confirmations"));
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    constexpr amqp_boolean_t mandatory = 1;
    const int status = amqp_basic_publish(connection_->raw(), publish_channel, bytes(exchange),
                                          bytes(key), mandatory, 0, &properties, bytes(body));
    expect(connection_->check_status(status, "publishing"));
    std::optional<bool> stored;
    bool returned = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!stored) {
        bool more = false;
        expect(connection_->read_frames(10, more, [&](const amqp_frame_t& frame) {
            if (frame.frame_type != AMQP_FRAME_METHOD) return amqp::Outcome();
            const auto id = frame.payload.method.id;
            if (id == AMQP_CONNECTION_CLOSE_METHOD || id == AMQP_CHANNEL_CLOSE_METHOD)
                throw std::runtime_error("the broker closed it");
            if (id == AMQP_BASIC_RETURN_METHOD) returned = true;
            if (id == AMQP_BASIC_ACK_METHOD) stored = !returned;
            if (id == AMQP_BASIC_NACK_METHOD) stored = false;
            return amqp::Outcome();
        }));
        if (std::chrono::steady_clock::now() > end) throw std::runtime_error("no confirmation");
        if (!stored && !more) connection_->wait(-1, end);
    }
    return *stored;
}

void BrokerAdmin::declare_queue(const std::string& name, const QueueArguments& wanted) {
    amqp::Table arguments;
    arguments.add_integer("x-max-length", wanted.max_length);
    if (!wanted.type.empty()) arguments.add("x-queue-type", wanted.type);
    if (wanted.single_active) arguments.add("x-single-active-consumer", true);
    amqp_queue_declare(connection_->raw(), scratch_channel, bytes(name), 0, 1, 0, 0,
                       arguments.raw());
    expect(connection_->check(scratch_channel, "declaring"));
}

std::vector<bool> BrokerAdmin::deliver_and_return(const std::string& queue, int count) {
    amqp::ConnectionAborter aborter;
    const config::Broker broker = settings(node_);
    auto opened = amqp::Connection::open(parse_broker_urls(broker.urls.front())->front(), broker,
                                         patience, aborter);
    if (!opened) throw std::runtime_error(opened.error().what);
    amqp::Connection& other = **opened;
    expect(other.open_channel(consume_channel));
    amqp_basic_qos(other.raw(), consume_channel, 0, static_cast<std::uint16_t>(count), 0);
    expect(other.check(consume_channel, "prefetch"));
    amqp_basic_consume(other.raw(), consume_channel, bytes(queue), amqp_empty_bytes, 0, 0, 0,
                       amqp_empty_table);
    expect(other.check(consume_channel, "consuming"));
    std::vector<bool> redelivered;
    for (int i = 0; i < count; ++i) {
        amqp_envelope_t envelope;
        expect(other.check(consume_channel,
                           amqp_consume_message(other.raw(), &envelope, nullptr, 0), "taking"));
        redelivered.push_back(envelope.redelivered != 0);
        amqp_destroy_envelope(&envelope);
    }
    other.close(patience);
    return redelivered;
}

void BrokerAdmin::delete_queue(const std::string& name) {
    amqp_queue_delete(connection_->raw(), scratch_channel, bytes(name), 0, 0);
    expect(connection_->check(scratch_channel, "deleting"));
}

std::optional<amqp::QueueCounts> BrokerAdmin::look(const std::string& queue) {
    amqp::QueueCounts counts;
    const auto outcome = amqp::look_at_queue(*connection_, queue, counts);
    if (outcome && outcome->code == 404) {
        expect(connection_->open_channel(scratch_channel));
        return std::nullopt;
    }
    expect(outcome);
    amqp_maybe_release_buffers(connection_->raw());
    return counts;
}

namespace {

Fetched fetched_of(const amqp_message_t& message) {
    const amqp_basic_properties_t& properties = message.properties;
    Fetched fetched;
    fetched.body = amqp::view(message.body);
    fetched.content_type = amqp::view(properties.content_type);
    if ((properties._flags & AMQP_BASIC_CONTENT_ENCODING_FLAG) != 0)
        fetched.content_encoding = amqp::view(properties.content_encoding);
    fetched.message_id = amqp::view(properties.message_id);
    fetched.delivery_mode = properties.delivery_mode;
    for (int i = 0; i < properties.headers.num_entries; ++i) {
        const amqp_table_entry_t& entry = properties.headers.entries[i];
        fetched.headers[std::string(amqp::view(entry.key))] =
            entry.value.kind == AMQP_FIELD_KIND_UTF8
                ? std::string(amqp::view(entry.value.value.bytes))
                : std::string(1, static_cast<char>(entry.value.kind));
    }
    return fetched;
}

}  // namespace

std::optional<Fetched> BrokerAdmin::fetch(const std::string& queue) {
    const amqp_rpc_reply_t reply =
        amqp_basic_get(connection_->raw(), scratch_channel, bytes(queue), 1);
    expect(connection_->check(scratch_channel, reply, "fetching"));
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return std::nullopt;
    amqp_message_t message;
    expect(connection_->check(scratch_channel,
                              amqp_read_message(connection_->raw(), scratch_channel, &message, 0),
                              "reading"));
    Fetched fetched = fetched_of(message);
    amqp_destroy_message(&message);
    return fetched;
}

Fetched BrokerAdmin::take(const std::string& queue) {
    expect(connection_->open_channel(consume_channel));
    constexpr amqp_boolean_t no_ack = 1;
    amqp_basic_consume(connection_->raw(), consume_channel, bytes(queue), amqp_empty_bytes, 0,
                       no_ack, 0, amqp_empty_table);
    expect(connection_->check(consume_channel, "consuming"));
    amqp_envelope_t envelope;
    expect(connection_->check(consume_channel,
                              amqp_consume_message(connection_->raw(), &envelope, nullptr, 0),
                              "taking"));
    Fetched fetched = fetched_of(envelope.message);
    amqp_destroy_envelope(&envelope);
    return fetched;
}

}  // namespace reaper::test
