#include "reaper/cloud/reader/cloud_reader.hpp"

#include <boost/asio/this_coro.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reaper/cloud/cache/cells_seen.hpp"
#include "reaper/cloud/cache/estimate.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// Providers read at a time: enough to keep the connections busy, few enough that no call waits
/// long in the client's queue.
constexpr int providers_at_a_time = 16;

/// The bulk part of a cache, one answer each.
struct Bulk {
    std::optional<Result<std::vector<ServerRecord>>> servers;
    std::optional<Result<std::vector<ServerRecord>>> soft_deleted;
    std::optional<Result<std::vector<HypervisorRecord>>> hypervisors;
    std::optional<Result<std::vector<ComputeServiceRecord>>> services;
    std::optional<Result<std::vector<AggregateRecord>>> aggregates;
    std::optional<Result<std::vector<ProviderRecord>>> providers;
    std::optional<Result<TagData>> tag_data;
    std::optional<Result<HostNumbers>> numbers;

    std::optional<Error> first_error() const {
        std::optional<Error> error;
        const auto look = [&](const auto& part) {
            if (!error && part->has_error()) error = part->error();
        };
        look(tag_data);
        look(providers);
        look(hypervisors);
        look(services);
        look(aggregates);
        look(servers);
        look(soft_deleted);
        return error;
    }
};

/// The reading of all providers, shared by its parallel parts.
struct ProviderReading {
    Placement& placement;
    AsyncSemaphore permits;
    std::function<void(std::size_t, std::size_t)> progress;
    std::size_t total = 0;
    std::size_t done = 0;
    std::map<ProviderId, ProviderState> states;
    std::optional<Error> error;
};

Task<void> read_provider(ProviderReading& reading, ProviderId id) {
    const auto permit = co_await reading.permits.acquire();
    if (reading.error) co_return;
    auto state = co_await reading.placement.provider(id);
    if (state) {
        reading.states.emplace(id, std::move(*state));
    } else if (state.error().code != Errc::not_found) {  // gone since it was listed: not there
        if (!reading.error) reading.error = state.error();
    }
    ++reading.done;
    if (reading.progress) reading.progress(reading.done, reading.total);
}

Task<void> read_all(CloudPorts ports, UnfinishedDeletions& unfinished, TaggerInputs tagger_inputs,
                    Compute::Progress servers_read, Bulk& bulk) {
    std::vector<Task<void>> parts;
    parts.push_back(keep(read_tag_data(ports, std::move(tagger_inputs)), bulk.tag_data));
    parts.push_back(keep(ports.placement.providers(), bulk.providers));
    parts.push_back(keep(ports.compute.hypervisors(), bulk.hypervisors));
    parts.push_back(keep(ports.compute.compute_services(), bulk.services));
    parts.push_back(keep(ports.compute.aggregates(), bulk.aggregates));
    parts.push_back(keep(ports.compute.host_numbers(), bulk.numbers));
    parts.push_back(keep(ports.compute.servers(std::move(servers_read)), bulk.servers));
    parts.push_back(keep(unfinished.list(true), bulk.soft_deleted));
    co_await run_all(std::move(parts));
}

}  // namespace

ResultTask<TagData> read_tag_data(CloudPorts ports, TaggerInputs tagger_inputs) {
    TagData tag_data;
    for (const auto& tag : tagger_inputs.project_tags) {
        auto projects = co_await ports.identity.projects_with_tag(tag);
        if (!projects) co_return projects.error();
        auto& ids = tag_data.projects_by_tag[tag];
        for (const auto& project : *projects) ids.insert(project.id);
    }
    co_return tag_data;
}

ResultTask<CloudLists> read_lists(CloudPorts ports, UnfinishedDeletions& unfinished,
                                  TaggerInputs tagger_inputs, Compute::Progress servers_read) {
    Bulk bulk;
    co_await read_all(ports, unfinished, std::move(tagger_inputs), std::move(servers_read), bulk);
    if (auto error = bulk.first_error()) co_return *error;
    CloudLists lists;
    lists.records.servers = std::move(**bulk.servers);
    lists.records.hypervisors = std::move(**bulk.hypervisors);
    lists.records.services = std::move(**bulk.services);
    lists.records.aggregates = std::move(**bulk.aggregates);
    lists.records.providers = std::move(**bulk.providers);
    lists.tag_data = std::move(**bulk.tag_data);
    lists.soft_deleted = std::move(**bulk.soft_deleted);
    // They only warn: a cloud without them is read anyway.
    if (*bulk.numbers)
        lists.records.numbers = std::move(**bulk.numbers);
    else
        spdlog::debug("can't determine whether Nova has several cells: {}",
                      bulk.numbers->error().what);
    co_return lists;
}

ResultTask<std::map<ProviderId, ProviderState>> read_providers(
    CloudPorts ports, std::vector<ProviderId> ids,
    std::function<void(std::size_t, std::size_t)> progress) {
    const auto executor = co_await boost::asio::this_coro::executor;
    ProviderReading reading{ports.placement,
                            AsyncSemaphore{executor, providers_at_a_time},
                            std::move(progress),
                            ids.size(),
                            0,
                            {},
                            {}};
    std::vector<Task<void>> reads;
    for (const auto& id : ids) reads.push_back(read_provider(reading, id));
    co_await run_all(std::move(reads));
    if (reading.error) co_return *reading.error;
    co_return std::move(reading.states);
}

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

/// What it holds in Placement is not known here.
bool may_be_revocable(const Server& server, const Taggers& taggers, const TagData& tag_data) {
    for (const auto& tagger : taggers)
        if (tagger->marker_class()) return true;
    return why_revocable(server, taggers, tag_data).has_value();
}

/// A server that Nova listed before its soft deletion is on both lists.
void add_unfinished(std::vector<ServerRecord> found, std::vector<ServerRecord>& servers) {
    std::map<ServerId, ServerRecord> marked;
    for (auto& record : found) marked.emplace(record.server.id, std::move(record));
    for (auto& record : servers)
        if (auto same = marked.extract(record.server.id)) record = std::move(same.mapped());
    for (auto& each : marked) servers.push_back(std::move(each.second));
}

}  // namespace

ResultTask<std::vector<ServerRecord>> find_unfinished(UnfinishedDeletions& unfinished,
                                                      const Taggers& taggers,
                                                      const TagData& tag_data,
                                                      std::vector<ServerRecord> soft_deleted,
                                                      const std::vector<ServerRecord>& going) {
    for (const auto& record : going)
        if (record.server.soft_deleted()) soft_deleted.push_back(record);
    std::erase_if(soft_deleted, [&](const ServerRecord& record) {
        return !may_be_revocable(record.server, taggers, tag_data);
    });
    std::vector<ServerId> ids;
    for (const auto& record : soft_deleted) ids.push_back(record.server.id);
    auto learned = co_await unfinished.learn(std::move(ids));
    if (!learned) co_return learned.error();
    std::erase_if(soft_deleted, [&](const ServerRecord& record) {
        return !unfinished.known_as_ours(record.server.id);
    });
    for (auto& record : soft_deleted) record.server.unfinished_deletion = true;
    co_return soft_deleted;
}

ResultTask<CloudView> read_cloud(CloudPorts ports, UnfinishedDeletions& unfinished,
                                 const Taggers& taggers, CloudDepth depth, ProgressCallback tell) {
    const TimePoint taken_at = ports.clock.now();
    TaggerInputs tagger_inputs;
    for (const auto& tagger : taggers) tagger->ask(tagger_inputs);
    Compute::Progress servers_read = [&tell](std::size_t count) {
        if (tell) tell("servers: " + std::to_string(count));
    };
    auto lists =
        co_await read_lists(ports, unfinished, std::move(tagger_inputs), std::move(servers_read));
    if (!lists) co_return lists.error();
    CloudRecords& records = lists->records;
    auto found = co_await find_unfinished(unfinished, taggers, lists->tag_data,
                                          std::move(lists->soft_deleted), records.servers);
    if (!found) co_return found.error();
    add_unfinished(std::move(*found), records.servers);
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
    view.several_cells = why_several_cells(records.numbers).value_or("");
    view.snapshot = assemble(records, taggers, view.tag_data, taken_at);
    const std::set<HostId> exact(one_by_one.begin(), one_by_one.end());
    for (auto& host : view.snapshot.hosts) host.estimated = !exact.contains(host.id);
    co_return view;
}

ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth) {
    HostReading reading;
    reading.host = std::move(id);
    reading.began = ports.clock.now();
    reading.with_traits = depth == HostDepth::all || depth == HostDepth::placement;

    std::optional<Result<std::optional<ComputeServiceRecord>>> service;
    std::optional<Result<std::vector<ServerRecord>>> servers;
    std::vector<std::optional<Result<ProviderState>>> states(providers.size());
    std::optional<Result<std::set<std::string>>> aggregates;
    std::vector<Task<void>> parts;
    parts.push_back(keep(ports.compute.compute_service(service_host), service));
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (reading.with_traits)
            parts.push_back(keep(ports.placement.provider(providers[i]), states[i]));
        else
            parts.push_back(keep(ports.placement.room(providers[i]), states[i]));
    }
    if (depth != HostDepth::room)
        parts.push_back(keep(ports.compute.servers_on(service_host), servers));
    if (depth == HostDepth::placement)
        parts.push_back(keep(ports.placement.aggregates(reading.host), aggregates));
    co_await run_all(std::move(parts));

    if (!*service) co_return service->error();
    reading.service = std::move(**service);
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (!*states[i]) co_return states[i]->error();
        reading.states.emplace(providers[i], std::move(**states[i]));
    }
    if (servers) {
        if (!*servers) co_return servers->error();
        reading.servers = std::move(**servers);
    }
    if (aggregates) {
        if (!*aggregates) co_return aggregates->error();
        reading.aggregates = std::move(**aggregates);
    }
    co_return reading;
}

}  // namespace reaper
