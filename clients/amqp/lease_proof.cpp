#include "clients/amqp/lease_proof.hpp"

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"

namespace reaper::amqp {
namespace {

constexpr int proofs_per_lease = 4;

}  // namespace

LeaseProof::LeaseProof(Connection& connection, Dispatcher& dispatcher, const std::string& queue)
    : connection_(connection), dispatcher_(dispatcher), queue_(queue) {}

void LeaseProof::start(std::chrono::milliseconds lease) {
    pause_ = lease / proofs_per_lease;
    due_ = Steady::now() + pause_;
}

void LeaseProof::stop() {
    pause_ = {};
}

Steady::time_point LeaseProof::due() const {
    return pause_.count() == 0 || asked_ ? Steady::time_point::max() : due_;
}

Outcome LeaseProof::work(bool may_wait) {
    const auto now = Steady::now();
    if (due() > now) return {};
    due_ = now + pause_;
    if (!open_) {
        if (!may_wait) return {};
        if (auto failed = connection_.open_channel(proof_channel)) return failed;
        open_ = true;
    }
    asked_ = BootClock::now();
    amqp_queue_declare_t look{};
    look.queue = bytes(queue_);
    look.passive = 1;
    return connection_.check_status(
        amqp_send_method(connection_.raw(), proof_channel, AMQP_QUEUE_DECLARE_METHOD, &look),
        "looking at queue '" + queue_ + "'");
}

void LeaseProof::answered() {
    if (asked_) dispatcher_.renew(*asked_);
    asked_.reset();
}

void LeaseProof::channel_closed() {
    asked_.reset();
    open_ = false;
}

}  // namespace reaper::amqp
