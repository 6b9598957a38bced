#include "reaper/decision/policy.hpp"

#include <utility>

#include "reaper/decision/cloud_names.hpp"
#include "reaper/decision/make_plugin.hpp"

namespace reaper {
namespace {

Result<SchedulerRules> scheduler_rules(const config::Scheduler& settings) {
    using Own = SchedulerRules::OwnAggregates;
    SchedulerRules rules;
    rules.tenant_filter = settings.tenant_filter;
    rules.trait_isolation = settings.trait_isolation;
    rules.extra_specs_filter = settings.extra_specs_filter;
    rules.cells = settings.cells;
    rules.cross_cell_resize = settings.cross_cell_resize;
    rules.image_type_filter = settings.image_type_filter;
    rules.image_metadata_filter = settings.image_metadata_filter;
    rules.pcpu_fallback = settings.pcpu_fallback;
    rules.pci_in_placement = settings.pci_in_placement;
    rules.res_type_traits = rules.res_type_taken_out = settings.res_type_traits;
    if (settings.nova_release != "auto") {
        rules.release = nova_release_from(settings.nova_release);
        if (!rules.release)
            return Error{Errc::bad_input, "scheduler.nova_release: there is no release '" +
                                              settings.nova_release + "' of Nova"};
    }
    if (settings.own_aggregates == "limit") rules.own_aggregates = Own::limit;
    if (settings.own_aggregates == "required") rules.own_aggregates = Own::required;
    for (const auto& text : settings.watched_aggregates) {
        const auto names = aggregates_of(text);
        if (names.empty())
            return Error{Errc::bad_input, "watched_aggregates: '" + text +
                                              "' names no aggregate: a name, a UUID or several "
                                              "with | between them are expected"};
        rules.watched.emplace_back(names.begin(), names.end());
    }
    return rules;
}

}  // namespace

TaggerInputs CompiledPolicy::tagger_inputs() const {
    TaggerInputs tagger_inputs;
    for (const auto& tagger : taggers) tagger->ask(tagger_inputs);
    return tagger_inputs;
}

std::set<ResourceClass> CompiledPolicy::held_classes() const {
    std::set<ResourceClass> classes;
    for (const auto& tagger : taggers)
        if (auto held = tagger->held_class()) classes.insert(std::move(*held));
    return classes;
}

Result<std::shared_ptr<const CompiledPolicy>> compile_policy(const config::Policy& policy) {
    return compile_policy(policy, policy);
}

Result<std::shared_ptr<const CompiledPolicy>> compile_policy(const config::Policy& policy,
                                                             config::Policy configured) {
    auto compiled = std::make_shared<CompiledPolicy>();
    compiled->configured = std::move(configured);
    compiled->resolved = policy;
    const auto rule = tagger_conflict_from(policy.tagger_conflict);
    if (!rule)
        return Error{Errc::bad_input, "tagger_conflict: there is no '" + policy.tagger_conflict +
                                          "'; expected any, first or all"};
    compiled->taggers = Taggers{*rule};
    for (const auto& plugin : policy.taggers) {
        auto tagger = make_plugin<TaggerInfo, std::unique_ptr<Tagger>>(find_tagger(plugin.name),
                                                                       "tagger", plugin);
        if (!tagger) return tagger.error();
        compiled->taggers.push_back(std::move(*tagger));
    }
    compiled->revocable_classes = revocable_classes(compiled->taggers);
    auto strategy = make_plugin<StrategyInfo, std::unique_ptr<Strategy>>(
        find_strategy(policy.strategy.name), "strategy", policy.strategy);
    if (!strategy) return strategy.error();
    compiled->strategy = std::move(*strategy);
    compiled->strategy_name = policy.strategy.name;
    compiled->alternatives = policy.alternatives;
    auto scheduler = scheduler_rules(policy.scheduler);
    if (!scheduler) return scheduler.error();
    compiled->scheduler = std::move(*scheduler);
    compiled->safeguards = policy.safeguards;
    compiled->protection = Protection{policy.safeguards.protect};
    return std::shared_ptr<const CompiledPolicy>{std::move(compiled)};
}

Result<std::shared_ptr<const CompiledPolicy>> with_protected(
    std::shared_ptr<const CompiledPolicy> policy, std::map<std::string, std::string> servers) {
    if (policy->safeguards.protect.servers == servers) return policy;
    config::Policy changed = policy->resolved;
    changed.safeguards.protect.servers = std::move(servers);
    return compile_policy(changed, policy->configured);
}

}  // namespace reaper
