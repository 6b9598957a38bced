// A cluster of RabbitMQ nodes under a stream of messages, and reapers that serve it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test {

/// The nodes of `broker run --nodes 3`.
class Cluster {
public:
    const std::vector<BrokerPlace>& nodes() const { return BrokerPlace::nodes(); }
    void kill(std::size_t node) const { nodes().at(node).run("kill"); }
    void start(std::size_t node) const { nodes().at(node).run("start"); }
    /// All at once: the last ones that were there must be among those that start.
    void start_all() const;
    /// Cuts it off from the others; clients may still connect to it.
    void part(std::size_t node) const { nodes().at(node).run("part", others(node)); }
    void heal(std::size_t node) const { nodes().at(node).run("heal", others(node)); }

private:
    std::string others(std::size_t node) const;
};

/// Publishes as Nova does, but makes sure that each message arrived: what the broker did not
/// confirm is published again, under another name, as it may have arrived anyway.
class Stream {
public:
    explicit Stream(const config::Broker& settings) : settings_(settings) {}
    /// Of one of these nodes, in turn; returns when so many more are confirmed.
    void publish(int count, const std::vector<std::size_t>& nodes);
    const std::set<std::string>& confirmed() const { return confirmed_; }

private:
    bool publish_one(std::size_t node);

    const config::Broker& settings_;
    std::map<std::size_t, std::unique_ptr<BrokerAdmin>> connections_;
    int number_ = 0;
    std::set<std::string> confirmed_;
};

/// Reapers that serve what comes to them, as long as it is surely theirs.
class Reapers {
public:
    /// One for each list of nodes, which it tries in this order.
    Reapers(const config::Broker& settings, const std::vector<std::vector<std::size_t>>& nodes);
    void start();
    /// Runs all of them until then.
    bool until(const std::function<bool()>& done);
    bool until_served(const Stream& stream);
    bool stop();

    SourceRunner& at(std::size_t reaper) { return *runners_.at(reaper); }
    /// Who serves; none or the last one of several: -1, which is never.
    int serving();

    /// Each message with how often it was served.
    const std::map<std::string, int>& served() const { return served_; }
    /// What two reapers took for theirs at the same time.
    const std::vector<std::string>& at_once() const { return at_once_; }
    /// Served a second time without a word of the broker's that it had been delivered before.
    const std::vector<std::string>& unwarned() const { return unwarned_; }

private:
    void serve(std::size_t reaper);
    void look_for_two();

    std::vector<std::unique_ptr<SourceRunner>> runners_;
    std::vector<std::size_t> looked_at_;
    std::vector<std::vector<std::size_t>> waiting_;  // messages that were not yet surely ours
    std::map<std::string, int> served_;
    std::vector<std::string> at_once_, unwarned_;
};

}  // namespace reaper::test
