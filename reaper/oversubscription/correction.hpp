// Which servers of a host go, when so many of its vCPUs must come free: because of a QoS
// controller's correction, or because more oversubscribed room is held than there is. Pure.
#pragma once

#include <optional>
#include <vector>

#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

/// A revocable server of the host that may go.
struct CorrectionCandidate {
    ServerId id;
    Amount vcpus = 0;             ///< it holds, of VCPU, PCPU and oversubscribed room together
    bool oversubscribed = false;  ///< it holds oversubscribed room
    double harm = 0;              ///< the least goes first; below 0 and NaN count as 0
};

/// The servers to evict, by id. All that are on oversubscribed room go before any other; among
/// those of one kind, the set that does the least harm and holds at least the vCPUs: exact, and of
/// equals the one with the fewest servers, then the fewest vCPUs, then the first by id. Where all
/// of them together are not enough, all go.
std::vector<ServerId> choose_corrected(std::vector<CorrectionCandidate> candidates,
                                       const HostCorrection& correction);

/// What the servers hold together.
Amount vcpus_of(const std::vector<ServerId>& servers,
                const std::vector<CorrectionCandidate>& candidates);

/// The correction for oversubscribed room that is held beyond the estimate (Published::excess).
/// Only holders of such room help: give `choose_corrected` no others, and of them what they hold
/// of it alone.
std::optional<HostCorrection> excess_correction(const HostId& host, Amount excess,
                                                const std::string& why);

}  // namespace reaper
