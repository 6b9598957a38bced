#include "reaper/eviction/recheck.hpp"

#include <string>
#include <utility>

namespace reaper {
namespace {

/// How old, from its beginning, the last look at a victim may be when the deletion goes out.
constexpr Duration look_holds{5000};
/// A look that takes longer, so often in a row: the cloud is too slow to be trusted.
constexpr int looks_at_most = 3;

}  // namespace

LastLook::LastLook(CloudPorts cloud, std::shared_ptr<const CompiledPolicy> policy)
    : cloud_(cloud), policy_(std::move(policy)) {}

Task<Result<Look>> LastLook::at(const Victim& victim) {
    Look look;
    look.began = cloud_.clock.steady();
    auto allocations = co_await cloud_.placement.allocations(victim.server);
    if (!allocations) co_return allocations.error();
    auto record = co_await cloud_.compute.server(victim.server);
    if (!record) co_return record.error();
    auto known = co_await read_facts();
    if (!known) co_return known.error();
    const FreshRules rules{policy_->taggers, facts_, policy_->protection,
                           policy_->brakes.protect.min_run_time};
    look.verdict = judge_fresh(victim, *record, *allocations, rules, cloud_.clock.now());
    co_return look;
}

bool LastLook::is_fresh(const Look& look) const {
    return cloud_.clock.steady() - look.began <= look_holds;
}

/// One that is fresh when it is there.
Task<Result<Look>> LastLook::fresh_at(const Victim& victim) {
    for (int looks = 0; looks < looks_at_most; ++looks) {
        auto look = co_await at(victim);
        if (!look || is_fresh(*look)) co_return look;
    }
    co_return Error{Errc::timeout, "the cloud takes more than " +
                                       std::to_string(look_holds.count() / 1000) +
                                       " s to tell about one server: too slow to delete by"};
}

/// Whose projects are tagged, as of a second ago at most: one answer serves victims side by side.
Task<Result<void>> LastLook::read_facts() {
    constexpr Duration fresh_for{1000};
    const Duration now = cloud_.clock.steady();
    if (facts_at_ && now - *facts_at_ < fresh_for) co_return Result<void>{};
    TagQuestions questions = policy_->questions();
    auto facts = co_await read_tag_facts(cloud_, std::move(questions));
    if (!facts) co_return facts.error();
    facts_ = std::move(*facts);
    facts_at_ = now;
    co_return Result<void>{};
}

}  // namespace reaper
