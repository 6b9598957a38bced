#include "tests/rabbitmq/broker_admin.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/broker_url.hpp"
#include "tests/rabbitmq/loop.hpp"

namespace reaper::test {

using amqp::bytes;
using amqp::scratch_channel;

namespace {

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value) throw std::runtime_error("run this through tests/rabbitmq/broker run");
    return value;
}

config::Broker settings() {
    config::Broker broker;
    broker.urls = {config::Secret(BrokerPlace::get().url())};
    broker.heartbeat = std::chrono::seconds(0);  // nobody serves it between two calls
    broker.connect_timeout = patience;
    return broker;
}

}  // namespace

const BrokerPlace& BrokerPlace::get() {
    static const BrokerPlace place{
        variable("REAPER_BROKER"), variable("REAPER_BROKER_DIR"),
        static_cast<std::uint16_t>(std::stoi(variable("REAPER_BROKER_PORT"))),
        static_cast<std::uint16_t>(std::stoi(variable("REAPER_BROKER_TLS_PORT")))};
    return place;
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

BrokerAdmin::BrokerAdmin() {
    const config::Broker broker = settings();
    const auto url = parse_broker_url(broker.urls.front());
    auto opened = amqp::Connection::open(*url, broker, patience, aborter_);
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
                          const std::string& body, int copies) {
    amqp_basic_properties_t properties{};
    properties._flags =
        AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.content_type = bytes("application/json");
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

void BrokerAdmin::declare_queue(const std::string& name, std::int64_t max_length) {
    amqp::Table arguments;
    arguments.add_integer("x-max-length", max_length);
    amqp_queue_declare(connection_->raw(), scratch_channel, bytes(name), 0, 1, 0, 0,
                       arguments.raw());
    expect(connection_->check(scratch_channel, "declaring"));
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

std::optional<Fetched> BrokerAdmin::fetch(const std::string& queue) {
    const amqp_rpc_reply_t reply =
        amqp_basic_get(connection_->raw(), scratch_channel, bytes(queue), 1);
    expect(connection_->check(scratch_channel, reply, "fetching"));
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return std::nullopt;
    amqp_message_t message;
    expect(connection_->check(scratch_channel,
                              amqp_read_message(connection_->raw(), scratch_channel, &message, 0),
                              "reading"));
    Fetched fetched;
    fetched.body = amqp::view(message.body);
    fetched.content_type = amqp::view(message.properties.content_type);
    fetched.message_id = amqp::view(message.properties.message_id);
    fetched.delivery_mode = message.properties.delivery_mode;
    for (int i = 0; i < message.properties.headers.num_entries; ++i) {
        const amqp_table_entry_t& entry = message.properties.headers.entries[i];
        fetched.headers[std::string(amqp::view(entry.key))] =
            entry.value.kind == AMQP_FIELD_KIND_UTF8
                ? std::string(amqp::view(entry.value.value.bytes))
                : std::string(1, static_cast<char>(entry.value.kind));
    }
    amqp_destroy_message(&message);
    return fetched;
}

}  // namespace reaper::test
