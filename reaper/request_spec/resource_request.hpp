// What Placement is asked for one server of a flavor, made from an image: Nova's translation.
//
// Source: nova.scheduler.utils.ResourceRequest (from_request_spec) of Zed to 2026.2.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/request.hpp"
#include "reaper/request_spec/wishes.hpp"

namespace reaper {

/// What decides it. References must outlive it.
struct ServerSpec {
    const Flavor& flavor;
    const ImageProperties& image;  ///< as `image_meta` makes it
    bool boot_from_volume = false;
    NovaRelease release = NovaRelease::zed;
    /// Devices that Placement is asked for; null: none.
    const std::vector<PciRequest>* pci = nullptr;
};

/// What one slot takes, and its granular groups.
struct ResourceRequest {
    SlotShape shape;  ///< its traits are those of no group
    std::vector<RequestGroup> groups;
    std::optional<GroupPolicy> group_policy;
    std::optional<SlotShape> fallback;  ///< the same, with dedicated CPUs as VCPU
};

/// `bad_input` in one line: Nova would refuse the flavor with this image, or Placement the query.
Result<ResourceRequest> resource_request(const ServerSpec& spec);

}  // namespace reaper
