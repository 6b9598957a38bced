#include "clients/amqp/broker_rights.hpp"

#include <utility>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"

namespace reaper::amqp {
namespace {

constexpr int access_refused = 403;
const std::string key_of_nothing = "reaper.check";

/// Collects refusals; the first loss of the connection ends it.
class Trial {
public:
    Trial(Connection& connection, const config::Broker& broker)
        : connection_(connection), broker_(broker) {}

    Result<std::vector<std::string>> run() {
        for (const std::string& queue :
             {broker_.queue, broker_.dead_letter_queue, serving_queue(broker_).name})
            try_queue(queue);
        // One name stands for all: they end in something else each time.
        try_queue(unique_name(broker_.queue, "events"));
        try_binding(broker_.queue);
        try_publishing();
        if (lost_) return *lost_;
        return std::move(missing_);
    }

private:
    /// Did it work? A refusal is noted, anything else the broker says does not matter.
    bool allowed(const Outcome& outcome, const std::string& right) {
        if (!outcome) return true;
        if (outcome->fatal) lost_ = outcome->error;
        if (outcome->code == access_refused)
            missing_.push_back("the user lacks the right " + right +
                               " (rabbitmqctl set_permissions): " + outcome->error.what);
        return false;
    }

    bool ready() {
        if (lost_) return false;
        return allowed(connection_.open_channel(scratch_channel), "to open a channel");
    }

    void try_queue(const std::string& queue) {
        if (!ready()) return;
        const std::string name = "queue '" + queue + "'";
        amqp_queue_declare(connection_.raw(), scratch_channel, bytes(queue), 0, 0, 1, 1,
                           amqp_empty_table);
        const bool made = allowed(connection_.check(scratch_channel, "declaring " + name),
                                  "configure on " + name);
        try_reading(queue, name);
        if (!made || !ready()) return;
        amqp_queue_delete(connection_.raw(), scratch_channel, bytes(queue), 1, 1);
        allowed(connection_.check(scratch_channel, "removing " + name), "configure on " + name);
    }

    /// The priority of a consumer is a number: the broker takes no such one.
    void try_reading(const std::string& queue, const std::string& name) {
        if (!ready()) return;
        Table wrong;
        wrong.add("x-priority", std::string("none"));
        amqp_basic_consume(connection_.raw(), scratch_channel, bytes(queue), amqp_empty_bytes, 0, 0,
                           0, wrong.raw());
        allowed(connection_.check(scratch_channel, "reading " + name), "read on " + name);
    }

    void try_binding(const std::string& queue) {
        if (!ready()) return;
        amqp_queue_unbind(connection_.raw(), scratch_channel, bytes(queue), bytes(broker_.exchange),
                          bytes(key_of_nothing), amqp_empty_table);
        const std::string both = "queue '" + queue + "' and exchange '" + broker_.exchange + "'";
        allowed(connection_.check(scratch_channel, "binding " + both),
                "write on queue '" + queue + "' or read on exchange '" + broker_.exchange + "'");
    }

    /// The answer to the question behind it says whether it was taken.
    void try_publishing() {
        if (!ready()) return;
        const std::string queue = unique_name(broker_.queue, "check");
        const int status = amqp_basic_publish(connection_.raw(), scratch_channel, amqp_empty_bytes,
                                              bytes(queue), 0, 0, nullptr, amqp_empty_bytes);
        const std::string doing = "publishing by the default exchange";
        if (!allowed(connection_.check_status(status, doing), "write on amq.default")) return;
        amqp_basic_qos(connection_.raw(), scratch_channel, 0, 1, 0);
        allowed(connection_.check(scratch_channel, doing), "write on amq.default");
    }

    Connection& connection_;
    const config::Broker& broker_;
    std::vector<std::string> missing_;
    std::optional<Error> lost_;
};

}  // namespace

Result<std::vector<std::string>> missing_rights(Connection& connection,
                                                const config::Broker& broker) {
    return Trial{connection, broker}.run();
}

}  // namespace reaper::amqp
