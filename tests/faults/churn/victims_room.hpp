// The use of the room of deleted servers, as the cloud itself knows it: which servers landed where,
// and which left, in order. Room that no regular server took is unused.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "faults/schedules/timeline.hpp"
#include "tests/cloudsim/core/listener.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::faults {

class VictimsRoom final : public cloudsim::Listener {
public:
    VictimsRoom(const Timeline& timeline, cloudsim::World& world)
        : timeline_(timeline), world_(world) {}

    /// Who is there now was there before.
    void begin();
    void on_effect(const cloudsim::Effect& effect) override;

    /// Of these, those whose room no regular server took within `soon` of their going. Room is
    /// free for all first, and a victim's last.
    std::set<cloudsim::Uuid> unused(const std::set<cloudsim::Uuid>& victims, Duration soon) const;
    /// When a server was gone; none: it is there.
    const TimePoint* gone_at(const cloudsim::Uuid& server) const;

private:
    struct Event {
        TimePoint at{};
        cloudsim::Uuid server;
        std::int64_t vcpus = 0;
        bool comes = false;
        bool regular = false;
    };

    const Timeline& timeline_;
    cloudsim::World& world_;
    std::map<std::string, std::int64_t> free_;  ///< VCPU in the beginning, by host
    std::map<std::string, std::vector<Event>> by_host_;
    std::map<cloudsim::Uuid, TimePoint> gone_;
};

}  // namespace reaper::faults
