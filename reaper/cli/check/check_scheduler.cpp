// How nova-scheduler is set up can't be read: what the reaper takes it to be is told, to be
// compared with its nova.conf, and what in the cloud speaks against it.
#include <algorithm>
#include <string_view>
#include <utility>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/admitted_room.hpp"

namespace reaper::cli {
namespace {

constexpr const char* subject = "scheduler";

std::string_view on_or_off(bool on) {
    return on ? "on" : "off";
}

std::string_view word_of(SchedulerRules::OwnAggregates own) {
    using Own = SchedulerRules::OwnAggregates;
    if (own == Own::off) return "off";
    return own == Own::limit ? "limit" : "required";
}

std::string options_of(const SchedulerRules& rules) {
    std::string text = "own_aggregates " + std::string{word_of(rules.own_aggregates)};
    const std::pair<const char*, bool> flags[] = {
        {"tenant_filter", rules.tenant_filter},
        {"trait_isolation", rules.trait_isolation},
        {"extra_specs_filter", rules.extra_specs_filter},
        {"image_type_filter", rules.image_type_filter},
        {"image_metadata_filter", rules.image_metadata_filter},
        {"pcpu_fallback", rules.pcpu_fallback},
        {"pci_in_placement", rules.pci_in_placement}};
    for (const auto& [name, on] : flags)
        text += std::string{", "} + name + " " + std::string{on_or_off(on)};
    return text;
}

/// An aggregate whose metadata has such a key (and value); none if there is none.
const AggregateRecord* marked(const std::vector<AggregateRecord>& aggregates, std::string_view key,
                              std::string_view value) {
    for (const auto& aggregate : aggregates)
        for (const auto& [own_key, own_value] : aggregate.metadata)
            if (own_key.starts_with(key) && (value.empty() || own_value == value))
                return &aggregate;
    return nullptr;
}

/// Metadata that means nothing to the scheduler that is configured, and hardly is there for
/// nothing.
void tell_marked(const SchedulerRules& rules, const std::vector<AggregateRecord>& aggregates,
                 const Report& report) {
    const AggregateRecord* const tenants = marked(aggregates, "filter_tenant_id", "");
    if (tenants != nullptr && !rules.tenant_filter &&
        rules.own_aggregates == SchedulerRules::OwnAggregates::off)
        report({Verdict::warn, subject,
                "aggregate " + in_quotes(tenants->name) +
                    " has filter_tenant_id, and neither scheduler.tenant_filter nor "
                    "scheduler.own_aggregates is on: if nova-scheduler goes by it, servers are "
                    "deleted in vain"});
    const AggregateRecord* const isolated = marked(aggregates, "trait:", "required");
    if (isolated != nullptr && !rules.trait_isolation)
        report({Verdict::warn, subject,
                "aggregate " + in_quotes(isolated->name) +
                    " has trait:...=required, and scheduler.trait_isolation is off: if "
                    "nova-scheduler goes by it, servers are deleted in vain"});
}

/// Flavors whose res-type admits no room: no server of them gets any.
Task<void> tell_flavors(CloudPorts cloud, const SchedulerRules& rules, const Report& report) {
    auto flavors = co_await cloud.compute.all_flavors();
    if (!flavors) {
        report({Verdict::fail, "flavors", flavors.error().what});
        co_return;
    }
    for (const auto& [id, flavor] : *flavors) {
        const auto admitted = admitted_room({}, flavor.extra_specs, {}, rules.res_type_traits);
        if (const auto* const refused = std::get_if<Refused>(&admitted))
            report({Verdict::warn, "flavors",
                    "no server of " + in_quotes(flavor.name) +
                        " is helped, and where the gateway " +
                        "is asked none boots: " + refused->reason});
    }
}

Task<void> tell_release(CloudPorts cloud, CloudSession& session, const Report& report) {
    auto release = co_await cloud.compute.release();
    if (!release) {
        report({Verdict::fail, subject, release.error().what});
        co_return;
    }
    auto endpoint = co_await session.endpoint(CloudService::compute);
    const std::string version = endpoint ? endpoint->service_version : "an unknown version";
    report({Verdict::ok, subject,
            "Nova " + std::string{to_string(*release)} + ", as its API has " + version +
                "; if it is another release, set scheduler.nova_release"});
}

}  // namespace

Task<void> check_scheduler(CloudPorts cloud, CloudSession& session, SchedulerRules rules,
                           const Report& report) {
    if (rules.release)
        report({Verdict::ok, subject,
                "Nova " + std::string{to_string(*rules.release)} + ", as configured"});
    else
        co_await tell_release(cloud, session, report);
    report(
        {Verdict::ok, subject, options_of(rules) + ": compare with nova.conf of nova-scheduler"});
    auto aggregates = co_await cloud.compute.aggregates();
    if (aggregates) tell_marked(rules, *aggregates, report);
    co_await tell_flavors(cloud, rules, report);
}

}  // namespace reaper::cli
