#include "reaper/eviction/recheck.hpp"

#include <string>
#include <utility>

#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

/// How old, from its beginning, the last look at a victim may be when the deletion goes out.
constexpr Duration recheck_valid_for{5000};
/// A look that takes longer, so often in a row: the cloud is too slow to be trusted.
constexpr int looks_at_most = 3;

}  // namespace

Recheck::Recheck(CloudPorts cloud, std::shared_ptr<const CompiledPolicy> policy)
    : cloud_(cloud), policy_(std::move(policy)) {}

Task<Result<RecheckResult>> Recheck::at(const Victim& victim) {
    RecheckResult look;
    look.began = cloud_.clock.steady();
    auto allocations = co_await cloud_.placement.allocations(victim.server);
    if (!allocations) co_return allocations.error();
    auto record = co_await cloud_.compute.server(victim.server);
    if (!record) co_return record.error();
    auto known = co_await refresh_tag_data();
    if (!known) co_return known.error();
    const FreshRules rules{policy_->taggers, tag_data_, policy_->protection,
                           policy_->safeguards.protect.min_run_time};
    look.verdict = judge_fresh(victim, *record, *allocations, rules, cloud_.clock.now());
    co_return look;
}

bool Recheck::is_fresh(const RecheckResult& look) const {
    return cloud_.clock.steady() - look.began <= recheck_valid_for;
}

/// One that is fresh when it is there.
Task<Result<RecheckResult>> Recheck::fresh_at(const Victim& victim) {
    for (int looks = 0; looks < looks_at_most; ++looks) {
        auto look = co_await at(victim);
        if (!look || is_fresh(*look)) co_return look;
    }
    co_return Error{Errc::timeout, "the cloud takes more than " +
                                       format_duration(recheck_valid_for) +
                                       " to tell about one server: too slow to delete by"};
}

/// Whose projects are tagged, as of a second ago at most: one answer serves victims side by side.
Task<Result<void>> Recheck::refresh_tag_data() {
    constexpr Duration fresh_for{1000};
    const Duration now = cloud_.clock.steady();
    if (tag_data_at_ && now - *tag_data_at_ < fresh_for) co_return Result<void>{};
    TaggerInputs tagger_inputs = policy_->tagger_inputs();
    auto tag_data = co_await read_tag_data(cloud_, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    tag_data_ = std::move(*tag_data);
    tag_data_at_ = now;
    co_return Result<void>{};
}

}  // namespace reaper
