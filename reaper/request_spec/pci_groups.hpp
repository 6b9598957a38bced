// PCI devices in Placement: each device that a flavor asks for is a group of its own.
//
// Source: nova.objects.request_spec (generate_request_groups_from_pci_requests),
// nova.compute.pci_placement_translator.
#pragma once

#include <vector>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/request_groups.hpp"

namespace reaper {

std::vector<RequestGroup> pci_groups(const std::vector<PciRequest>& requests, NovaRelease release);

}  // namespace reaper
