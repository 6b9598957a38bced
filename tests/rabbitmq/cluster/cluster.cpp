#include "tests/rabbitmq/cluster/cluster.hpp"

#include <algorithm>
#include <stdexcept>

namespace reaper::test {

std::string Cluster::others(std::size_t node) const {
    std::string all;
    for (std::size_t i = 0; i < nodes().size(); ++i)
        if (i != node) all += "'" + nodes()[i].directory + "' ";
    return all;
}

void Cluster::start_all() const {
    nodes().front().run("start", others(0));
}

void Stream::publish(int count, const std::vector<std::size_t>& nodes) {
    const std::size_t wanted = confirmed_.size() + static_cast<std::size_t>(count);
    const auto end = std::chrono::steady_clock::now() + patience;
    for (std::size_t i = 0; confirmed_.size() < wanted; ++i) {
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error("the broker confirms nothing");
        publish_one(nodes.at(i % nodes.size()));
    }
}

/// What is lost with a connection is not known to have arrived.
bool Stream::publish_one(std::size_t node) {
    const std::string body = "m" + std::to_string(number_++);
    try {
        auto& connection = connections_[node];
        if (!connection) connection = std::make_unique<BrokerAdmin>(BrokerPlace::nodes().at(node));
        connection->declare_exchange(settings_.exchange);
        if (!connection->publish_surely(settings_.exchange, error_key, body)) return false;
    } catch (const std::runtime_error&) {
        connections_.erase(node);
        return false;
    }
    confirmed_.insert(body);
    return true;
}

Reapers::Reapers(const config::Broker& settings,
                 const std::vector<std::vector<std::size_t>>& nodes) {
    for (const auto& order : nodes) {
        config::Broker own = settings;
        own.urls.clear();
        for (const std::size_t node : order)
            own.urls.emplace_back(BrokerPlace::nodes().at(node).url());
        AmqpTuning tuning = quick_tuning();
        tuning.answer_timeout = std::chrono::seconds(10);  // a node may let us in and never answer
        runners_.push_back(std::make_unique<SourceRunner>(own, tuning));
    }
    looked_at_.resize(runners_.size());
    waiting_.resize(runners_.size());
}

void Reapers::start() {
    for (auto& runner : runners_) runner->start();
}

bool Reapers::until(const std::function<bool()>& done) {
    return runners_.front()->until([&] {
        for (std::size_t i = 0; i < runners_.size(); ++i) {
            runners_[i]->context.poll();
            serve(i);
        }
        look_for_two();
        return done();
    });
}

bool Reapers::until_served(const Stream& stream) {
    const bool all = until([&] {
        return std::all_of(stream.confirmed().begin(), stream.confirmed().end(),
                           [&](const std::string& body) { return served_.contains(body); });
    });
    if (!all)
        for (const auto& runner : runners_) ADD_FAILURE() << "states:" << runner->all_states();
    return all;
}

/// As the daemon does: nothing is done before the lease is there, and the acknowledgement comes
/// last.
void Reapers::serve(std::size_t reaper) {
    SourceRunner& runner = *runners_[reaper];
    for (; looked_at_[reaper] < runner.messages.size(); ++looked_at_[reaper])
        waiting_[reaper].push_back(looked_at_[reaper]);
    std::erase_if(waiting_[reaper], [&](std::size_t index) {
        const Delivery& message = runner.messages[index];
        if (!runner.source->holds(message.ticket)) return false;
        if (++served_[message.body] > 1 && !message.redelivered) unwarned_.push_back(message.body);
        runner.source->acknowledge(message.ticket);
        return true;
    });
}

/// Looked at one after the other: what the first one says is not newer than what the second says,
/// so a lease that passes from the one to the other in between is not taken for two.
void Reapers::look_for_two() {
    for (std::size_t a = 0; a < runners_.size(); ++a)
        for (std::size_t b = 0; b < runners_.size(); ++b) {
            if (a == b || runners_[a]->source->serving() == 0) continue;
            const bool other = runners_[b]->source->serving() != 0;
            if (other && runners_[a]->source->serving() != 0)
                at_once_.push_back(std::to_string(a) + " and " + std::to_string(b));
        }
}

int Reapers::serving() {
    int found = -1;
    for (std::size_t i = 0; i < runners_.size(); ++i)
        if (runners_[i]->source->serving() != 0) found = static_cast<int>(i);
    return found;
}

bool Reapers::stop() {
    bool all = true;
    for (auto& runner : runners_) all = runner->stop() && all;
    return all;
}

}  // namespace reaper::test
