#include "reaper/decision/policy.hpp"

#include <string_view>
#include <utility>
#include <variant>

#include "reaper/decision/cloud_names.hpp"
#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/host_facts.hpp"

namespace reaper {

// One plugin of a table, made from its settings.

/// `info`: its entry in the table, null if there is none. `bad_input` names the plugin or the
/// parameter that can't be used; `kind` is its word for people.
template <class Info, class Made>
Result<Made> make_plugin(const Info* info, std::string_view kind, const config::Plugin& plugin) {
    const auto named = [&] { return std::string{kind} + " '" + plugin.name + "'"; };
    if (info == nullptr) return Error{Errc::bad_input, "there is no " + named()};
    if (const auto wrong = check_parameters(info->parameters, plugin.parameters); !wrong.empty())
        return Error{Errc::bad_input, named() + ": " + wrong.front().parameter + ": expected " +
                                          wrong.front().expected};
    auto made = info->make(with_standards(info->parameters, plugin.parameters));
    if (const auto* wrong = std::get_if<ParameterError>(&made))
        return Error{Errc::bad_input,
                     named() + ": " + wrong->parameter + ": expected " + wrong->expected};
    return std::move(std::get<Made>(made));
}

bool OversubscriptionPolicy::covers(const Host& host) const {
    return sells_room(facts_of(host), configured.hosts, configured.aggregates);
}

Result<std::shared_ptr<const OversubscriptionPolicy>> compile_oversubscription(
    const config::Oversubscription& settings) {
    std::shared_ptr<const OversubscriptionPolicy> none;
    if (!settings.enabled) return none;
    auto compiled = std::make_shared<OversubscriptionPolicy>();
    compiled->configured = settings;
    compiled->room_class = ResourceClass{settings.room_class};
    auto estimator = make_plugin<EstimatorInfo, std::unique_ptr<Estimator>>(
        find_estimator(settings.estimator.name), "estimator", settings.estimator);
    if (!estimator) return estimator.error();
    compiled->estimator = std::move(*estimator);
    auto qos = make_plugin<QosInfo, std::unique_ptr<QosController>>(find_qos(settings.qos.name),
                                                                    "QoS controller", settings.qos);
    if (!qos) return qos.error();
    compiled->qos = std::move(*qos);
    return std::shared_ptr<const OversubscriptionPolicy>{std::move(compiled)};
}

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
    compiled->notice = NoticeRules{policy.notice};
    compiled->shelve = ShelveRules{policy.shelve};
    compiled->protection = Protection{policy.safeguards.protect};
    compiled->duties = policy.duties;
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
