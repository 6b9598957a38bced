// What Placement is asked for one server of a flavor, made from an image: Nova's translation.
//
// Source: nova.scheduler.utils.ResourceRequest (from_request_spec) of Zed to 2026.2.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/request_spec/wishes.hpp"

namespace reaper {

// Nova's lists of CPUs in extra specs.

/// A set of CPU numbers as Nova writes it: `0-3,^2,8`. None if it can't be understood, is empty, or
/// names a CPU above 65535. Source: nova.virt.hardware.parse_cpu_spec.
std::optional<std::set<int>> parse_cpu_list(std::string_view text);

// The extra specs of a flavor that name resources and traits, in groups.

using ExtraSpecs = std::map<std::string, std::string>;

/// A key `prefix[GROUP]:NAME` taken apart, with GROUP of 1 to 64 letters, digits, `_` and `-`.
struct GroupedKey {
    std::string_view group;  ///< empty for the unnumbered group
    std::string_view name;
};
std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix);

/// Does Nova take `resources:NAME` for a class? One of Placement's own, or CUSTOM_ and anything.
bool is_resource_class(std::string_view name);

/// `CUSTOM_` and the name in capitals, `_` for whatever is neither letter nor digit. Source:
/// os_resource_classes.normalize_name, and that of os_traits.
std::string custom_name(std::string_view name);

/// A whole number of 0 or more, blanks around it allowed; one that is too large is the largest.
std::optional<Amount> amount_of(std::string_view text);

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
