#include "faults/churn/victims_room.hpp"

#include <algorithm>
#include <deque>

namespace reaper::faults {

using cloudsim::Uuid;

void VictimsRoom::begin() {
    for (const auto& host : world_.nova.hosts) {
        std::int64_t free = host->provider->room(world_.names.id("VCPU"))->inventory.capacity();
        for (const cloudsim::Server* const server : host->servers) free -= server->flavor->vcpus;
        free_[host->name] = free;
    }
}

void VictimsRoom::on_effect(const cloudsim::Effect& effect) {
    const bool comes = effect.what == "room taken";
    if ((!comes && effect.what != "deleted") || effect.host.empty()) return;
    const cloudsim::Server* const server = world_.nova.find_server(effect.server);
    if (server == nullptr) return;
    Event event;
    event.at = timeline_.true_now();
    event.server = effect.server;
    event.vcpus = server->flavor->vcpus;
    event.comes = comes;
    event.regular = !world_.is_revocable(*server);
    by_host_[effect.host].push_back(event);
    if (!comes) gone_[effect.server] = event.at;
}

const TimePoint* VictimsRoom::gone_at(const Uuid& server) const {
    const auto at = gone_.find(server);
    return at == gone_.end() ? nullptr : &at->second;
}

namespace {

/// The room that victims left on one host, the oldest first.
class LeftRoom {
public:
    void add(const Uuid& victim, std::int64_t vcpus, TimePoint until) {
        left_.push_back({victim, vcpus, until});
        sum_ += vcpus;
    }
    /// A regular server takes `vcpus`. Room that is too old counts as unused.
    void take(std::int64_t vcpus, TimePoint now, std::set<Uuid>& unused) {
        while (vcpus > 0 && !left_.empty()) {
            if (left_.front().until >= now)
                vcpus -= left_.front().vcpus;
            else
                unused.insert(left_.front().victim);
            drop();
        }
    }
    /// Others leave no more than so much.
    void keep(std::int64_t free, std::set<Uuid>& unused) {
        while (sum_ > free && !left_.empty()) {
            unused.insert(left_.front().victim);
            drop();
        }
    }

private:
    struct One {
        Uuid victim;
        std::int64_t vcpus = 0;
        TimePoint until{};
    };
    void drop() {
        sum_ -= left_.front().vcpus;
        left_.pop_front();
    }
    std::deque<One> left_;
    std::int64_t sum_ = 0;
};

}  // namespace

std::set<Uuid> VictimsRoom::unused(const std::set<Uuid>& victims, Duration soon) const {
    std::set<Uuid> found;
    for (const auto& [host, events] : by_host_) {
        LeftRoom left;
        std::int64_t free = free_.at(host);
        for (const Event& event : events) {
            free += event.comes ? -event.vcpus : event.vcpus;
            if (!event.comes && victims.contains(event.server))
                left.add(event.server, event.vcpus, event.at + soon);
            else if (event.comes && event.regular)
                left.take(event.vcpus, event.at, found);
            else if (event.comes)
                left.keep(free, found);
        }
        left.keep(0, found);
    }
    return found;
}

}  // namespace reaper::faults
