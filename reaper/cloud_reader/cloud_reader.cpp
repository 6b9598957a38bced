#include "reaper/cloud_reader/cloud_reader.hpp"

#include <set>
#include <utility>

#include "reaper/cloud_cache/estimate.hpp"
#include "reaper/cloud_reader/cloud_lists.hpp"

namespace reaper {
namespace {

/// Asked in turn, until every host is covered: a host is left out of a summary only if it has none
/// of the class left.
const ResourceClass summary_classes[] = {ResourceClass{"MEMORY_MB"}, ResourceClass{"VCPU"},
                                         ResourceClass{"DISK_GB"}};

bool covered(const std::vector<HypervisorRecord>& hypervisors, const std::set<HostId>& roots) {
    for (const auto& hypervisor : hypervisors)
        if (!roots.contains(hypervisor.id)) return false;
    return true;
}

ResultTask<std::vector<ProviderSummary>> read_summaries(
    CloudPorts ports, const std::vector<HypervisorRecord>& hypervisors) {
    std::vector<ProviderSummary> all;
    std::set<HostId> roots;
    for (const auto& resource_class : summary_classes) {
        if (covered(hypervisors, roots)) break;
        auto summaries = co_await ports.placement.summaries(resource_class);
        if (!summaries) co_return summaries.error();
        for (auto& summary : *summaries)
            if (!roots.contains(summary.root)) all.push_back(std::move(summary));
        for (const auto& summary : all) roots.insert(summary.root);
    }
    co_return all;
}

std::vector<ProviderId> trees_of(const std::vector<HostId>& hosts, const CloudRecords& records) {
    const std::set<HostId> roots(hosts.begin(), hosts.end());
    std::vector<ProviderId> ids;
    for (const auto& provider : records.providers)
        if (roots.contains(provider.root)) ids.push_back(provider.id);
    return ids;
}

}  // namespace

ResultTask<CloudView> read_cloud(CloudPorts ports, const Taggers& taggers, CloudDepth depth,
                                 ProgressCallback tell) {
    const TimePoint taken_at = ports.clock.now();
    TaggerInputs tagger_inputs;
    for (const auto& tagger : taggers) tagger->ask(tagger_inputs);
    Compute::Progress servers_read = [&tell](std::size_t count) {
        if (tell) tell("servers: " + std::to_string(count));
    };
    auto lists = co_await read_lists(ports, std::move(tagger_inputs), std::move(servers_read));
    if (!lists) co_return lists.error();
    CloudRecords& records = lists->records;
    std::vector<HostId> one_by_one;
    if (depth == CloudDepth::exact) {
        for (const auto& hypervisor : records.hypervisors) one_by_one.push_back(hypervisor.id);
    } else {
        auto summaries = co_await read_summaries(ports, records.hypervisors);
        if (!summaries) co_return summaries.error();
        one_by_one = estimate_states(records, *summaries);
    }
    auto ids = trees_of(one_by_one, records);
    std::function<void(std::size_t, std::size_t)> progress = [&tell](std::size_t done,
                                                                     std::size_t total) {
        if (tell)
            tell("resource providers: " + std::to_string(done) + " of " + std::to_string(total));
    };
    auto states = co_await read_providers(ports, std::move(ids), std::move(progress));
    if (!states) co_return states.error();
    for (auto& [id, state] : *states) records.states.insert_or_assign(id, std::move(state));

    CloudView view;
    view.tag_data = std::move(lists->tag_data);
    view.snapshot = assemble(records, taggers, view.tag_data, taken_at);
    const std::set<HostId> exact(one_by_one.begin(), one_by_one.end());
    for (auto& host : view.snapshot.hosts) host.estimated = !exact.contains(host.id);
    co_return view;
}

}  // namespace reaper
