// What the cloud has room for: how many servers of one kind fit now, after which deletions, or why
// never. It asks the planner, and has no arithmetic of its own.
#pragma once

#include <optional>
#include <string>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// For a server that boots, and is given regular room (a phase of revocable room is not looked
/// into). `fits_now` is what Nova would place; for the rest `decide` is asked with the request as
/// it is, so that an answer after victims is the daemon's own plan. `skipped`: as for `decide`.
RoomAnswer room_for(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                    const TagData& tag_data, const Ledger& ledger, TimePoint now,
                    Safeguards& safeguards, const std::map<ServerId, std::string>& skipped = {});

/// What the request names and the cloud does not have: a zone without hosts, a resource class that
/// no host offers; where it is of no flavor, a trait that no host has. None: it has all of that; or
/// no host is known at all.
std::optional<std::string> why_unknown(const Request& request, const CloudIndex& hosts);
/// The same for a zone alone, without hosts; and for the classes alone.
std::optional<std::string> why_unknown_zone(const std::string& zone, const CloudIndex& hosts);
std::optional<std::string> why_unknown(const Resources& resources, const CloudIndex& hosts);

/// What is to be known of a zone that no aggregate makes (Nova's default one): which hosts count.
/// None for any other.
std::optional<std::string> zone_remark(const Request& request, const CloudIndex& hosts);

}  // namespace reaper
