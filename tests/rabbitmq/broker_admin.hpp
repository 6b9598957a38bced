// The test's own hand on the broker: publishes as Nova would, looks, breaks things.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"

namespace reaper::test {

/// What `broker run` gave us; throws if it was not used.
struct BrokerPlace {
    std::string script, directory;
    std::uint16_t port = 0, tls_port = 0;

    static const BrokerPlace& get();
    std::string url(std::uint16_t at = 0, const std::string& vhost = "") const;
    std::string tls_url(const std::string& host = "localhost") const;
    std::string tls_file(const std::string& name) const { return directory + "/tls/" + name; }
    /// Runs the script, e.g. `stop`; the output of `ctl`.
    std::string run(const std::string& verb, const std::string& arguments = "") const;
};

/// A message fetched from a queue.
struct Fetched {
    std::string body, content_type, message_id;
    int delivery_mode = 0;
    std::map<std::string, std::string> headers;  ///< the texts among them
};

class BrokerAdmin {
public:
    BrokerAdmin();

    void declare_exchange(const std::string& name);
    void delete_exchange(const std::string& name);
    /// Returns when the broker has seen it (all `copies` of it).
    void publish(const std::string& exchange, const std::string& key, const std::string& body,
                 int copies = 1);
    void declare_queue(const std::string& name, std::int64_t max_length);
    void delete_queue(const std::string& name);
    /// Ready messages and consumers; none if there is no such queue.
    std::optional<amqp::QueueCounts> look(const std::string& queue);
    std::optional<Fetched> fetch(const std::string& queue);

private:
    void expect(const amqp::Outcome& outcome);

    amqp::ConnectionAborter aborter_;
    std::unique_ptr<amqp::Connection> connection_;
};

}  // namespace reaper::test
