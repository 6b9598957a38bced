#include "reaper/cloud_reader/snapshot_reader.hpp"

#include <set>
#include <utility>

#include "reaper/cloud_reader/cloud_lists.hpp"
#include "reaper/cloud_cache/assemble.hpp"

namespace reaper {
namespace {

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

}  // namespace

ResultTask<Picture> read_picture(CloudPorts ports, const Taggers& taggers,
                                 std::function<void(std::size_t, std::size_t)> progress) {
    const TimePoint taken_at = ports.clock.now();
    TagQuestions questions;
    for (const auto& tagger : taggers) tagger->ask(questions);
    Compute::Progress silent;
    auto lists = co_await read_lists(ports, std::move(questions), std::move(silent));
    if (!lists) co_return lists.error();
    auto ids = of_hosts(lists->records.providers, lists->records.hypervisors);
    auto states = co_await read_providers(ports, std::move(ids), std::move(progress));
    if (!states) co_return states.error();
    lists->records.states = std::move(*states);
    Picture picture;
    picture.facts = std::move(lists->facts);
    picture.snapshot = assemble(lists->records, taggers, picture.facts, taken_at);
    co_return picture;
}

}  // namespace reaper
