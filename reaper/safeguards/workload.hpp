// Workloads: servers that are one thing to their owner, though each has an id and a life of its
// own.
#pragma once

#include <string>
#include <string_view>

#include "reaper/model/cloud.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

/// Names a workload in the whole cloud.
struct Workload {
    ProjectId project;
    std::string name;

    friend auto operator<=>(const Workload&, const Workload&) = default;
};

/// `given` if there is one (the value of the metadata that names it), else what the server's name
/// says without its last parts that only number it: `web-12`, `web-7f3a2b1c` and
/// `web-9c000000-0000-4000-8000-000000000001` are all `web`. At least the first part stays.
Workload workload_of(const ProjectId& project, std::string_view server_name,
                     std::string_view given);

/// The same of a server; `key` of its metadata, empty: by its name.
Workload workload_of(const Server& server, const std::string& key);

/// The value of the metadata that names the server's workload; empty if none does.
std::string workload_given(const Server& server, const std::string& key);

/// A workload that keeps being evicted.
struct Thrashing {
    Workload workload;
    int evictions = 0;  ///< by how many requests, within the window
    Duration grace{};   ///< its servers are kept while they have run less
};

/// `grace * 2^(evictions - after)`, at most `max_grace`; nothing below `after`.
Duration grace_for(const ThrashSettings& settings, int evictions);

}  // namespace reaper
