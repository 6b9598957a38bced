// Samples of a monitoring system, by host: whose figure is it, and is it one? Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/measurement.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper {

/// By which labels name them.
HostNames names_of(const std::vector<const Host*>& hosts);

/// One figure of a host.
struct Figure {
    double value = 0;
    TimePoint at{};   ///< that the query was evaluated for
    std::string why;  ///< not empty: it is no figure, for this reason
};

/// Those of known hosts. A value that is not finite, negative or reported twice is no figure.
/// `what`: its name in the reasons.
std::map<HostId, Figure> figures_by_host(const std::vector<Sample>& samples, const HostNames& names,
                                         const std::string& host_label, std::string_view what);

/// Why the times of the samples, asked for between these two times, show that the clock of the
/// metrics server differs too much from ours; none if it does not.
std::optional<std::string> why_clocks_differ(const std::vector<Sample>& samples, TimePoint from,
                                             TimePoint to);

// For metrics that have each server: what a host's servers use, without the holders of
// oversubscribed room. Pure.

struct OthersUse {
    UsageRange used;
    std::string why;  ///< not empty: it is not known, for this reason
};

/// How samples name hosts and servers.
struct SampleLabels {
    std::string host;
    std::string server;  ///< the server's UUID
};

/// The figures of one host, by server.
struct ServerFigures {
    std::map<ServerId, double> values;
    std::string why;  ///< not empty: one of them is no figure, for this reason
};

/// Of known hosts. A value that is not finite, negative or reported twice is no figure. `what`: its
/// name in the reasons.
std::map<HostId, ServerFigures> figures_by_server(const std::vector<Sample>& samples,
                                                  const HostNames& names,
                                                  const SampleLabels& labels,
                                                  std::string_view what);

/// The largest figure of a regular server that runs there; 0 if none runs. None: not one of them is
/// measured. Where the servers of a host are not read in detail, any of them may be regular.
std::optional<double> worst_of_regular(const Host& host, const std::map<ServerId, double>& values);

/// Of these hosts, on which that much of the class is held, or was lately. Where the servers of a
/// host are not read in detail, it is not known which of them hold it. A server that runs and is
/// not measured (it is new) uses between nothing and all that it holds. Where no server is measured
/// and others than holders run, the exporter is gone, and nothing is known. `past`: of a time when
/// not all of them ran; then those are left out.
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
