// Where nova-scheduler asks for Placement, if that is not Placement itself: a proxy before it,
// whose answers take their time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/cloudsim/core/candidates.hpp"

namespace reaper::cloudsim {

class PlacementDoor {
public:
    virtual ~PlacementDoor() = default;
    /// None: there was no answer that could be used.
    using Found = std::function<void(std::optional<Candidates>)>;
    /// `request`: the API request's id, `req-...`. Called back once, later.
    virtual void search(const CandidateQuery& query, std::string request, Found found) = 0;
    using Claimed = std::function<void(bool)>;
    virtual void claim(const Claim& claim, std::string request, Claimed claimed) = 0;
    /// Gives claimed room back, slightly later.
    virtual void give_back(const Uuid& consumer, std::string request) = 0;
};

}  // namespace reaper::cloudsim
