// The configured policy, compiled: taggers and strategy as objects.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "config/settings.hpp"
#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/shelving.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/safeguards/protection.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"

namespace reaper {

// The configured oversubscription, compiled: estimator and QoS controller as objects.

struct OversubscriptionPolicy {
    config::Oversubscription configured;
    ResourceClass room_class;
    std::unique_ptr<Estimator> estimator;
    std::unique_ptr<QosController> qos;

    /// Is the host one of those whose room may be sold?
    bool covers(const Host& host) const;
};

/// Null if nothing is to be sold. `bad_input` names the plugin or the parameter that can't be used.
Result<std::shared_ptr<const OversubscriptionPolicy>> compile_oversubscription(
    const config::Oversubscription& settings);

struct CompiledPolicy {
    config::Policy configured;  ///< as it is written, before names were looked up
    config::Policy resolved;    ///< what it was made of
    Taggers taggers;
    std::unique_ptr<Strategy> strategy;
    std::string strategy_name;
    int alternatives = 1;
    SafeguardSettings safeguards;
    Protection protection;  ///< what `safeguards` protect
    SchedulerRules scheduler;
    NoticeRules notice;
    ShelveRules shelve;
    DutySettings duties;

    TaggerInputs tagger_inputs() const;
    /// The classes whose inventories are offered as revocable room (Tagger::marker_class).
    std::set<ResourceClass> revocable_classes;
    /// Of all taggers (Tagger::held_class).
    std::set<ResourceClass> held_classes() const;
};

/// `bad_input` names the plugin or the parameter that can't be used.
Result<std::shared_ptr<const CompiledPolicy>> compile_policy(const config::Policy& policy);
/// The same for one whose names were looked up; `configured`: as it is written.
Result<std::shared_ptr<const CompiledPolicy>> compile_policy(const config::Policy& resolved,
                                                             config::Policy configured);

/// The same policy with these servers protected by operators, each with the reason.
Result<std::shared_ptr<const CompiledPolicy>> with_protected(
    std::shared_ptr<const CompiledPolicy> policy, std::map<std::string, std::string> servers);

}  // namespace reaper
