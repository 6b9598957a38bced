// The test's own hand on the broker: publishes as Nova would, looks, breaks things.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"

namespace reaper::test {

/// A node of what `broker run` gave us; throws if it was not used.
struct BrokerPlace {
    std::string script, directory;
    std::uint16_t port = 0, tls_port = 0;

    /// The first node.
    static const BrokerPlace& get();
    static const std::vector<BrokerPlace>& nodes();
    std::string url(std::uint16_t at = 0, const std::string& vhost = "") const;
    std::string tls_url(const std::string& host = "localhost") const;
    std::string tls_file(const std::string& name) const { return directory + "/tls/" + name; }
    /// Runs the script, e.g. `stop`; the output of `ctl`.
    std::string run(const std::string& verb, const std::string& arguments = "") const;
};

/// A message fetched from a queue.
struct Fetched {
    std::string body, content_type, content_encoding, message_id;
    int delivery_mode = 0;
    std::map<std::string, std::string> headers;  ///< the texts among them
};

/// Of a queue that the reaper did not make.
struct QueueArguments {
    std::int64_t max_length = 100'000;
    std::string type;  ///< empty: none is said
    bool single_active = false;
};

/// What a message says of its body.
struct Content {
    std::string type = "application/json";
    std::string encoding{};
    std::map<std::string, std::string> headers{};
};

class BrokerAdmin {
public:
    explicit BrokerAdmin(const BrokerPlace& node = BrokerPlace::get());

    void declare_exchange(const std::string& name);
    void delete_exchange(const std::string& name);
    /// Returns when the broker has seen it (all `copies` of it). With a header, if it has a name.
    void publish(const std::string& exchange, const std::string& key, const std::string& body,
                 int copies = 1, const std::string& header = {});
    void publish_as(const std::string& exchange, const std::string& key, const std::string& body,
                    const Content& content, int copies = 1);
    /// True when the broker has put the message into a queue, and confirmed it.
    bool publish_surely(const std::string& exchange, const std::string& key,
                        const std::string& body);
    void declare_queue(const std::string& name, const QueueArguments& arguments);
    void delete_queue(const std::string& name);
    /// Takes `count` messages of the queue, and gives them back: they were delivered once. Whether
    /// each had been before.
    std::vector<bool> deliver_and_return(const std::string& queue, int count);
    /// Ready messages and consumers; none if there is no such queue.
    std::optional<amqp::QueueCounts> look(const std::string& queue);
    std::optional<Fetched> fetch(const std::string& queue);
    /// The next message of a queue of which only one consumer takes; waits for it. Consumes the
    /// queue until the end of this object.
    Fetched take(const std::string& queue);

private:
    void expect(const amqp::Outcome& outcome);

    amqp::ConnectionAborter aborter_;
    std::unique_ptr<amqp::Connection> connection_;
    BrokerPlace node_;
};

}  // namespace reaper::test
