// A claim of nova-scheduler's (`PUT /allocations/SERVER`), read and written.
//
// Source: Placement's API, microversions 1.12 and later (Nova claims at 1.36).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper {

/// What it asks for, by provider; none if it can't be read.
std::optional<Allocations> read_claim(std::string_view body);
/// The project whose server claims; none if it can't be read.
std::optional<ProjectId> claiming_project(std::string_view body);
/// Does it ask also for what its server holds by now, as that of an evacuation?
bool repeats_what_is_held(std::string_view body);
/// Does it ask for room of this host?
bool takes_room_of(const Host& host, const Allocations& asked);
/// The body of a `POST /allocations` that does what the claim does, and those changes; none if the
/// claim can't be read.
std::optional<std::string> joint_claim(std::string_view body, const ServerId& server,
                                       const std::vector<ConsumerChange>& changes);
/// Placement's answer (409) to a claim for which there is no room.
std::string no_room_text(std::string_view request);

}  // namespace reaper
