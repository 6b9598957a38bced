#include "reaper/service/snapshot_reader.hpp"

#include <boost/asio/this_coro.hpp>
#include <set>
#include <utility>

#include "reaper/executor/async.hpp"
#include "reaper/snapshot/assemble.hpp"

namespace reaper {
namespace {

/// Providers read at a time: enough to keep the connections busy, few enough that no call waits
/// long in the client's queue.
constexpr int providers_at_a_time = 16;

/// The bulk part of a picture, one answer each.
struct Bulk {
    std::optional<Result<std::vector<ServerRecord>>> servers;
    std::optional<Result<std::vector<HypervisorRecord>>> hypervisors;
    std::optional<Result<std::vector<ComputeServiceRecord>>> services;
    std::optional<Result<std::vector<AggregateRecord>>> aggregates;
    std::optional<Result<std::vector<ProviderRecord>>> providers;
    std::optional<Result<TagFacts>> facts;

    std::optional<Error> first_error() const {
        std::optional<Error> error;
        const auto look = [&](const auto& part) {
            if (!error && part->has_error()) error = part->error();
        };
        look(facts);
        look(providers);
        look(hypervisors);
        look(services);
        look(aggregates);
        look(servers);
        return error;
    }
};

/// The reading of all providers, shared by its parallel parts.
struct ProviderReading {
    Placement& placement;
    AsyncSemaphore places;
    std::function<void(std::size_t, std::size_t)> progress;
    std::size_t total = 0;
    std::size_t done = 0;
    std::map<ProviderId, ProviderState> states;
    std::optional<Error> error;
};

Task<void> read_provider(ProviderReading& reading, ProviderId id) {
    const auto permit = co_await reading.places.acquire();
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

/// The providers in the trees of compute hosts.
std::vector<ProviderId> of_hosts(const std::vector<ProviderRecord>& providers,
                                 const std::vector<HypervisorRecord>& hypervisors) {
    std::set<ProviderId> roots;
    for (const auto& hypervisor : hypervisors) roots.insert(hypervisor.id);
    std::vector<ProviderId> ids;
    for (const auto& provider : providers)
        if (roots.contains(provider.root)) ids.push_back(provider.id);
    return ids;
}

Task<void> read_bulk(CloudPorts ports, TagQuestions questions, Bulk& bulk) {
    std::vector<Task<void>> parts;
    parts.push_back(keep(read_tag_facts(ports, std::move(questions)), bulk.facts));
    parts.push_back(keep(ports.placement.providers(), bulk.providers));
    parts.push_back(keep(ports.compute.hypervisors(), bulk.hypervisors));
    parts.push_back(keep(ports.compute.compute_services(), bulk.services));
    parts.push_back(keep(ports.compute.aggregates(), bulk.aggregates));
    parts.push_back(keep(ports.compute.servers(), bulk.servers));
    co_await run_all(std::move(parts));
}

}  // namespace

ResultTask<TagFacts> read_tag_facts(CloudPorts ports, TagQuestions questions) {
    TagFacts facts;
    for (const auto& tag : questions.project_tags) {
        auto projects = co_await ports.identity.projects_with_tag(tag);
        if (!projects) co_return projects.error();
        auto& ids = facts.projects_by_tag[tag];
        for (const auto& project : *projects) ids.insert(project.id);
    }
    co_return facts;
}

ResultTask<Picture> read_picture(CloudPorts ports, const Taggers& taggers,
                                 std::function<void(std::size_t, std::size_t)> progress) {
    const TimePoint taken_at = ports.clock.now();
    TagQuestions questions;
    for (const auto& tagger : taggers) tagger->ask(questions);
    Bulk bulk;
    co_await read_bulk(ports, questions, bulk);
    if (auto error = bulk.first_error()) co_return *error;

    const auto ids = of_hosts(**bulk.providers, **bulk.hypervisors);
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

    CloudRecords records;
    records.servers = std::move(**bulk.servers);
    records.hypervisors = std::move(**bulk.hypervisors);
    records.services = std::move(**bulk.services);
    records.aggregates = std::move(**bulk.aggregates);
    records.providers = std::move(**bulk.providers);
    records.states = std::move(reading.states);
    Picture picture;
    picture.facts = std::move(**bulk.facts);
    picture.snapshot = assemble(records, taggers, picture.facts, taken_at);
    co_return picture;
}

}  // namespace reaper
