#include "reaper/eviction/recheck.hpp"

#include <string>
#include <utility>

#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

/// How old, from its beginning, the last look at a victim may be when the deletion goes out.
constexpr Duration recheck_valid_for{5000};
/// How old it may be when a deletion takes it over that comes right after it.
constexpr Duration moment{1000};
/// A look that takes longer, so often in a row: the cloud is too slow to be trusted.
constexpr int looks_at_most = 3;

}  // namespace

Recheck::Recheck(boost::asio::any_io_executor executor, CloudPorts cloud,
                 const LiveSettings& settings)
    : cloud_(cloud), settings_(settings), reading_(executor, 1) {}

Task<Result<RecheckResult>> Recheck::at(const Victim& victim) {
    const Duration began = cloud_.clock.steady();
    std::optional<Result<Allocations>> held;
    std::optional<Result<Seen>> seen;
    std::vector<Task<void>> parts;
    ServerId holder = victim.holder();
    parts.push_back(keep(cloud_.placement.allocations(std::move(holder)), held));
    parts.push_back(keep(see(victim), seen));
    co_await run_all(std::move(parts));
    if (!*held) co_return held->error();
    if (!*seen) co_return seen->error();
    // Placement may have been asked after Nova, and the server have gone in between.
    if ((*held)->empty() && (*seen)->record)
        co_return co_await at(victim, std::move(**held), began);
    co_return judge(victim, std::move(**held), **seen, began);
}

Task<Result<RecheckResult>> Recheck::at(const Victim& victim, Allocations held, Duration began) {
    const auto seen = co_await see(victim);
    if (!seen) co_return seen.error();
    co_return judge(victim, std::move(held), *seen, began);
}

/// What Nova has of it, and whose projects are tagged.
Task<Result<Recheck::Seen>> Recheck::see(const Victim& victim) {
    const std::uint64_t earlier = begun_;
    std::optional<Result<Seen>> seen;
    std::optional<Result<void>> known;
    std::vector<Task<void>> parts;
    parts.push_back(keep(read_server(victim.server), seen));
    parts.push_back(keep(read_tag_data_after(earlier), known));
    co_await run_all(std::move(parts));
    if (!*seen) co_return seen->error();
    if (!*known) co_return known->error();
    if (!victim.held_by.empty()) {
        auto own = co_await cloud_.placement.allocations(victim.server);
        if (!own) co_return own.error();
        (*seen)->own = std::move(*own);
    }
    co_return std::move(**seen);
}

ResultTask<Recheck::Seen> Recheck::read_server(ServerId server) {
    auto record = co_await cloud_.compute.server(std::move(server));
    if (!record) co_return record.error();
    auto lock = co_await read_lock(*record);
    if (!lock) co_return lock.error();
    Seen seen;
    seen.record = std::move(*record);
    seen.lock = *lock;
    co_return seen;
}

RecheckResult Recheck::judge(const Victim& victim, Allocations held, const Seen& seen,
                             Duration began) const {
    RecheckResult look;
    look.began = began;
    look.policy = asked_by_;
    look.tag_data = number_;
    const FreshRules rules{asked_by_->taggers, tag_data_, asked_by_->protection,
                           asked_by_->safeguards.protect.min_run_time, aggregates_};
    const Allocations& own = seen.own ? *seen.own : held;
    const FreshSight sight{seen.record, held, own, seen.lock};
    look.verdict = judge_fresh(victim, sight, rules, cloud_.clock.now());
    look.held = std::move(held);
    return look;
}

/// Where owners' locks count, it makes no difference who set one.
ResultTask<LockHolder> Recheck::read_lock(const std::optional<ServerRecord>& record) {
    if (!record || settings_.policy->protection.by_owners()) co_return LockHolder::none;
    Server server = record->server;
    co_return co_await ask_lock_holder(cloud_, std::move(server));
}

bool Recheck::is_fresh(const RecheckResult& look) const {
    return cloud_.clock.steady() - look.began <= recheck_valid_for &&
           look.policy == settings_.policy && look.tag_data == number_;
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

Task<Result<RecheckResult>> Recheck::fresh_at(const Victim& victim,
                                              std::optional<RecheckResult> earlier) {
    if (earlier && is_fresh(*earlier) && cloud_.clock.steady() - earlier->began <= moment)
        co_return std::move(*earlier);
    co_return co_await fresh_at(victim);
}

/// Whose projects are tagged, and the hosts' aggregates if they protect, by a reading that was
/// begun after this one: looks side by side share it, and none rests on an answer that is older
/// than its own first question.
Task<Result<void>> Recheck::read_tag_data_after(std::uint64_t reading) {
    const auto turn = co_await reading_.acquire();
    if (read_ > reading && asked_by_ == settings_.policy) co_return Result<void>{};
    const std::uint64_t number = ++begun_;
    const auto policy = settings_.policy;
    TaggerInputs tagger_inputs = policy->tagger_inputs();
    auto tag_data = co_await read_tag_data(cloud_, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    if (policy->protection.by_aggregates()) {
        auto aggregates = co_await cloud_.compute.aggregates();
        if (!aggregates) co_return aggregates.error();
        aggregates_ = std::move(*aggregates);
    }
    read_ = number;
    if (asked_by_ != policy || !(*tag_data == tag_data_)) ++number_;
    asked_by_ = policy;
    tag_data_ = std::move(*tag_data);
    co_return Result<void>{};
}

}  // namespace reaper
