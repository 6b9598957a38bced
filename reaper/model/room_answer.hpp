// What the cloud has room for: the answer of `reaper room`, as plain data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/plan.hpp"

namespace reaper {

/// Slots of a request on one host that need no deletion.
struct HostSlots {
    HostId host;
    std::string host_name;
    int at_once = 0;  ///< that need no deletion
    int ready = 0;    ///< these, and those that come when servers being deleted are gone

    friend bool operator==(const HostSlots&, const HostSlots&) = default;
};

enum class RoomVerdict {
    fits_now,        ///< Nova finds hosts for all of them
    on_its_way,      ///< when servers are gone that are being deleted already
    after_victims,   ///< when revocable servers are deleted
    held_back,       ///< maybe then, but a safeguard, or a search cut short, prevents a plan now
    free_room_only,  ///< a revocable server: it gets free room, and no server is deleted for it
    never,           ///< not even without all revocable servers that may go
};

std::string_view to_string(RoomVerdict verdict);
std::optional<RoomVerdict> room_verdict_from(std::string_view text);

struct RoomAnswer {
    RoomVerdict verdict = RoomVerdict::never;
    int fits_now = 0;  ///< such servers that Nova could place now, however many are asked
    std::vector<HostSlots> there;  ///< by host name: where one fits without a deletion
    int possible = 0;              ///< that fit without all revocable servers that may go
    Decision decision;             ///< what the daemon would decide for the servers that are asked

    /// Those of the decision; empty unless it is a plan.
    std::vector<Victim> victims() const;
};

/// One line for people.
std::string summary(const RoomAnswer& answer, int slots);

}  // namespace reaper
