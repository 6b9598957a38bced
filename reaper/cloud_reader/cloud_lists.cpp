#include "reaper/cloud_reader/cloud_lists.hpp"

#include <boost/asio/this_coro.hpp>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/runtime/async.hpp"

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

}  // namespace reaper
