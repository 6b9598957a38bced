// Internal to Placement's files.
#pragma once

#include <span>

#include "tests/cloudsim/api/call.hpp"
#include "tests/cloudsim/core/candidates.hpp"

namespace reaper::cloudsim {

std::span<const Route> placement_providers();
std::span<const Route> placement_provider_parts();  ///< inventories, traits, ... of one
std::span<const Route> placement_allocations();

/// The provider of the path; 404 otherwise.
Provider& provider_of(Call& call);
Response no_content(int status = 204);
std::vector<std::string> split(const std::string& text, char at = ',');
void throw_if(const Outcome& refused);

// Query parameters
/// `VCPU:2,MEMORY_MB:512`
std::vector<std::pair<NameId, std::int64_t>> resources_in(const Call& call,
                                                          const std::string& text);
/// `TRAIT`, `!TRAIT`, `in:A,B`; several with commas.
void add_required(const Call& call, const std::string& text, RequestGroup& group);
/// `UUID`, `in:U1,U2`, `!UUID`, `!in:U1,U2`
void add_member_of(const std::string& text, RequestGroup& group);
Uuid uuid_in(const std::string& text, const std::string& message);

}  // namespace reaper::cloudsim
