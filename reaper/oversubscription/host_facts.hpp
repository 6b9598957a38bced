// Hosts as estimators and metrics know them: what Nova and Placement say of one, which ones sell
// oversubscribed room, and which one a label of a metric means. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"
#include "reaper/oversubscription/estimator.hpp"

namespace reaper {

// Hosts and aggregates that the settings of oversubscription name: a name that covers no host sells
// nothing and keeps nothing back, and looks right anyway. Pure.

/// A name that does nothing.
struct IdleName {
    bool no_host = false;  ///< of the cloud; else there are some, and room of none is sold
    std::string key;       ///< `oversubscription.estimator.overrides`
    std::string detail;    ///< what is written there, what is wrong with it, and what to do
};

/// `hosts` and `aggregates` say where room is sold (sells_room). In the order of the keys; nothing
/// is said of a cloud without hosts.
std::vector<IdleName> idle_names(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& aggregates,
                                 const Estimator& estimator, const std::vector<HostFacts>& cloud);

HostFacts facts_of(const Host& host);
/// VCPU of its root, as Placement has them; none: not known.
std::optional<double> vcpus_of_root(const Host& host);
/// As far as Nova's lists report: its names and aggregates.
HostFacts facts_of(const HypervisorRecord& host, const std::vector<AggregateRecord>& aggregates);

/// Where oversubscribed room is sold: `hosts` are patterns of names of hypervisors or services; if
/// there are `aggregates` (names or UUIDs), the host must be in one of them too.
bool sells_room(const HostFacts& facts, const std::vector<std::string>& hosts,
                const std::vector<std::string>& aggregates);

/// Finds hosts by what metrics call them.
class HostNames {
public:
    /// Under the names of its hypervisor and of its service.
    void add(const HostFacts& facts);
    /// By NAME or NAME:PORT, whatever the case of the letters. None if no host is called so, or
    /// more than one.
    std::optional<HostId> find(std::string_view label) const;

private:
    void add(const std::string& name, const HostId& host);
    const HostId* named(const std::string& name) const;

    std::map<std::string, HostId> by_name_;  // in lower case; an empty id: several
};

}  // namespace reaper
