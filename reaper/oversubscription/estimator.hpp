// An estimator says how many vCPUs of a host may be sold beyond what is allocated: as
// oversubscribed room, which only revocable servers take. It only estimates: how fast room rises,
// what a flapping host may have and what unknown figures mean is publication.hpp's. Pure, no state
// between calls.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/oversubscription/measurement.hpp"

namespace reaper {

/// What Nova and Placement know of a host.
struct HostFacts {
    HostId id;
    std::string name;                  ///< hypervisor hostname
    std::string service_host;          ///< nova-compute's `host`
    std::set<std::string> aggregates;  ///< names and UUIDs
    Amount vcpus = 0;                  ///< of its inventory of VCPU: total less reserved
    double allocation_ratio = 1;       ///< as above
    bool exact = true;                 ///< else `vcpus` is the product of the two
    /// VCPU that any server holds in ordinary room. Pinned CPUs (PCPU) are not in it.
    Amount allocated = 0;
};

/// How much oversubscribed room a host may have, in vCPUs.
struct Estimate {
    bool known = false;  ///< else: no new room, and no server is evicted
    Amount rise_to = 0;  ///< published room may grow up to this
    Amount fall_to = 0;  ///< and must not be above this; rise_to <= fall_to
    /// This amount that is held may stay, where that is more: it is in no server's way, though no
    /// new server may start on it.
    Amount keep_to = 0;
    /// When that was so; none: it rests on no measurement and is always true.
    std::optional<TimePoint> measured_at{};
    double coverage = 1;  ///< as of the usage; 1 if it rests on none
    std::string why;      ///< for people: what decided it, or why it is not known
};

/// Hosts that the configuration names.
struct NamedHosts {
    std::string key;          ///< that names them: `overrides`
    std::string text;         ///< as written
    std::string pattern{};    ///< of names of hypervisors or services; else of an aggregate
    std::string aggregate{};  ///< name or UUID

    bool cover(const HostFacts& facts) const;
};

class Estimator {
public:
    virtual ~Estimator() = default;

    /// As in the table of estimators.
    virtual std::string_view name() const = 0;
    /// Whether it rests on usage; if not, it is given none.
    virtual bool measures() const { return false; }
    /// Over which times it wants usage put together; `trusted` is the publication's.
    virtual UsageWindows windows() const { return {}; }
    /// Hosts that its parameters name; `key` is the parameter.
    virtual std::vector<NamedHosts> named() const { return {}; }
    /// What is not known of the usage makes the estimate unknown, if it rests on it.
    virtual Estimate estimate(const HostFacts& facts, const HostUsage& usage) const = 0;
};

}  // namespace reaper
