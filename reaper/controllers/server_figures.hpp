// Where the metrics tell each server apart: what the others use on a host than the holders of
// oversubscribed room. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/controllers/host_figures.hpp"
#include "reaper/oversubscription/measurement.hpp"

namespace reaper {

struct OthersUse {
    UsageOf used;
    std::string why;  ///< not empty: it is not known, for this reason
};

/// How samples name hosts and servers.
struct SampleLabels {
    std::string host;
    std::string server;  ///< the server's UUID
};

/// Of these hosts, on which so much of the class is held, or was lately. Where the servers of a
/// host are not read in detail, it is not known which of them hold it. A server that runs and is
/// not measured (it is new) uses between nothing and all that it holds. `past`: of a time when not
/// all of them ran; then those are left out.
std::map<HostId, OthersUse> use_by_others(const std::vector<Sample>& samples,
                                          const HostNames& names, const SampleLabels& labels,
                                          const std::vector<const Host*>& hosts,
                                          const std::map<HostId, Amount>& held,
                                          const ResourceClass& room_class, bool past);

/// What the host's servers hold of the class.
Amount oversubscribed_on(const Host& host, const ResourceClass& room_class);
/// What the server holds of it there.
Amount oversubscribed_by(const Server& server, const Host& host, const ResourceClass& room_class);
/// VCPU, PCPU and oversubscribed room together.
Amount vcpus_held(const Server& server, const Host& host, const ResourceClass& room_class);

}  // namespace reaper
