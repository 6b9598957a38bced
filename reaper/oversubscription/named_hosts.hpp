// Hosts and aggregates that the settings of oversubscription name: a name that covers no host sells
// nothing and keeps nothing back, and looks right anyway. Pure.
#pragma once

#include <string>
#include <vector>

#include "reaper/oversubscription/estimator.hpp"

namespace reaper {

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

}  // namespace reaper
