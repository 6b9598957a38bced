#include "reaper/recording/recorder.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "reaper/model/time_text.hpp"
#include "reaper/recording/lines.hpp"
#include "reaper/recording/pseudonyms.hpp"
#include "reaper/report/json.hpp"

namespace reaper::recording {
namespace {

/// Copied while no request waits, and for a decision.
constexpr std::size_t hosts_at_a_time = 200;
constexpr std::size_t hosts_for_a_decision = 1'000;
constexpr std::size_t max_remembered = 100'000;
constexpr std::uint64_t segments_kept = 16;

RecordingWriter::Limits limits_of(const RecorderSettings& settings) {
    RecordingWriter::Limits limits;
    limits.max_bytes = settings.max_bytes;
    limits.max_age = settings.max_age;
    limits.segment_bytes = settings.max_bytes / segments_kept;
    return limits;
}

std::string random_name() {
    std::random_device random;
    char text[32];
    std::snprintf(text, sizeof text, "%08x%08x", random(), random());
    return text;
}

/// On which it rests, or which came nearest.
std::set<HostId> hosts_it_rests_on(const Decision& decision) {
    std::set<HostId> all;
    for (const HostPlan& plan : host_plans(decision)) all.insert(plan.host);
    if (const auto* const plan = std::get_if<Plan>(&decision))
        for (const Rejection& rejection : plan->rejected) all.insert(rejection.host);
    if (const auto* const too_little = std::get_if<NotEnough>(&decision))
        for (const Rejection& rejection : too_little->rejected) all.insert(rejection.host);
    return all;
}

}  // namespace

Recorder::Recorder(RecorderSettings settings) : Recorder(settings, limits_of(settings)) {}

Recorder::Recorder(RecorderSettings settings, RecordingWriter::Limits limits)
    : settings_(std::move(settings)),
      changer_(settings_.anonymous ? std::make_shared<const report::NameChanger>(keyed_pseudonyms())
                                   : nullptr),
      run_(random_name()),
      writer_(settings_.directory, limits) {}

template <class Line>
void Recorder::add(Line line, std::string key, std::size_t weight) {
    Item item;
    item.line = [line = std::move(line)]() mutable { return report::dump(line()); };
    item.key = std::move(key);
    item.weight = weight;
    pending_.push_back(std::move(item));
}

void Recorder::submit() {
    std::vector<Item> items;
    items.swap(pending_);
    if (!items.empty()) static_cast<void>(writer_.submit(std::move(items)));
}

// ---- segments ----

void Recorder::begin_if_due(TimePoint now) {
    last_at_ = now;
    const std::uint64_t losses = writer_.losses();
    const bool lost = losses != losses_seen_;
    if (begun_ && !lost && !writer_.wants_segment()) return;
    // A segment that has not seen all hosts yet is not followed by another one.
    if (begun_ && !lost && !base_ended_) return;
    losses_seen_ = losses;
    follows_ = begun_ && !lost;
    begin_segment(now);
}

void Recorder::begin_segment(TimePoint now) {
    begun_ = true;
    pending_.clear();
    if (!follows_) run_ = random_name();
    Begin begin;
    begin.at = now;
    begin.run = run_;
    begin.segment = ++segments_;
    begin.follows = follows_;
    begin.anonymous = settings_.anonymous;
    begin.dry_run = settings_.dry_run;
    begin.version = settings_.version;
    add([begin] { return to_json(begin); });
    pending_.back().begins_segment = true;
    base_begun_ = base_ended_ = false;
    base_left_.clear();
    if (!follows_) written_.clear();
    tags_.reset();
    told_.clear();
    add_policy();
    submit();
}

void Recorder::find_changed(const CloudCache& cache) {
    const bool known =
        cache.index().changes().read(changes_, [&](const HostId& id) { changed_.insert(id); });
    if (known && base_begun_) return;
    const bool from_scratch = !known || !follows_;
    base_begun_ = true;
    for (const Host* const host : cache.hosts())
        (from_scratch ? changed_ : base_left_).insert(host->id);
    // Hosts that are gone are recorded as gone.
    if (from_scratch) changed_.insert(written_.begin(), written_.end());
}

void Recorder::copy(const CloudCache& cache, const HostId& id) {
    const Host* const host = cache.find(id);
    const Changer changer = changer_;
    if (host == nullptr) {
        written_.erase(id);
        add([id, changer] { return gone_line(id, changer.get()); }, "host " + id.str());
        return;
    }
    written_.insert(id);
    auto kept = std::make_shared<const Host>(*host);
    add([kept, changer] { return host_line(*kept, changer.get()); }, "host " + id.str(),
        1 + host->servers.size());
}

/// Those of `first`, then others, up to `most`. True if a reader then knows the current state of
/// all of them.
bool Recorder::copy_changed(const CloudCache& cache, std::size_t most,
                            const std::set<HostId>& first) {
    for (const HostId& id : first)
        if (changed_.erase(id) > 0) copy(cache, id);
    for (std::size_t count = 0; count < most; ++count) {
        std::set<HostId>& from = changed_.empty() ? base_left_ : changed_;
        if (from.empty()) break;
        copy(cache, *from.begin());
        from.erase(from.begin());
    }
    if (!changed_.empty()) return false;
    if (base_left_.empty() && !base_ended_) {
        base_ended_ = true;
        add([] { return whole_line(); });
        pending_.back().ends_base = true;
    }
    return base_ended_ || follows_;
}

void Recorder::keep_up(const CloudCache& cache) {
    begin_if_due(std::max(last_at_, cache.ages().built_at));
    find_changed(cache);
    copy_changed(cache, hosts_at_a_time, {});
    note_tags(cache.tag_data());
    submit();
}

Duration Recorder::step() const {
    constexpr Duration busy{100}, idle{1'000};
    return changed_.empty() && base_ended_ ? idle : busy;
}

// ---- decisions ----

void Recorder::note_policy(const CompiledPolicy& policy) {
    const auto& ids = policy.safeguards.protect.project_ids;
    const auto& servers = policy.safeguards.protect.servers;
    if (policy_ && policy_->first == policy.configured && policy_->second == ids &&
        protected_servers_ == servers)
        return;
    policy_.emplace(policy.configured, ids);
    protected_servers_ = servers;
    PolicyLine line;
    for (const auto& [server, reason] : servers)
        line.protected_servers.insert(changer_ ? changer_->of(report::NameKind::consumer, server)
                                               : server);
    line.policy = changer_ ? anonymous_policy(policy.configured, *changer_) : policy.configured;
    for (const auto& [written, id] : ids)
        if (changer_)
            line.project_ids.emplace(changer_->of(report::NameKind::project, written),
                                     changer_->of(report::NameKind::project, id));
        else
            line.project_ids.emplace(written, id);
    line.configuration = settings_.as_text(line.policy);
    line.revocable_classes = policy.revocable_classes;
    policy_line_ = std::move(line);
    if (begun_) add_policy();
}

void Recorder::add_policy() {
    if (policy_line_) add([line = *policy_line_] { return to_json(line); });
}

void Recorder::note_tags(const TagData& tag_data) {
    if (tags_ && tags_->projects_by_tag == tag_data.projects_by_tag) return;
    tags_ = tag_data;
    const Changer changer = changer_;
    add([tag_data, changer] { return tags_line(tag_data, changer.get()); });
}

void Recorder::on_decision(const DecisionSight& sight) {
    begin_if_due(sight.now);
    find_changed(sight.cache);
    const bool whole =
        copy_changed(sight.cache, hosts_for_a_decision, hosts_it_rests_on(sight.decision));
    note_policy(sight.policy);
    note_tags(sight.cache.tag_data());
    if (told_.size() >= max_remembered) told_.clear();
    told_.insert(sight.request.id);
    auto seen = std::make_shared<const Seen>(seen_by(sight, whole));
    const Changer changer = changer_;
    add([seen, changer] { return seen_line(*seen, changer.get()); }, {},
        1 + seen->history.size() + seen->skipped.size());
    submit();
}

// ---- what came of it ----

/// A request that no decision looked at the cloud for.
void Recorder::note_request(const Request& request, TimePoint at) {
    if (told_.contains(request.id)) return;
    if (told_.size() >= max_remembered) told_.clear();
    told_.insert(request.id);
    const Changer changer = changer_;
    add([request, at, changer] { return request_line(request, at, changer.get()); });
}

void Recorder::on_plan(const Request& request, const PlanEntry& plan) {
    begin_if_due(plan.at);
    note_request(request, plan.at);
    const Changer changer = changer_;
    add([id = request.id, plan, changer] { return plan_line(id, plan, changer.get()); });
    submit();
}

void Recorder::on_step(const Request& request, const StepEntry& step) {
    if (!begun_) return;
    const Changer changer = changer_;
    add([id = request.id, step, changer] { return step_line(id, step, changer.get()); });
    submit();
}

void Recorder::on_outcome(const Request& request, const Outcome& outcome) {
    begin_if_due(outcome.at);
    note_request(request, outcome.at);
    const Changer changer = changer_;
    add([id = request.id, outcome, changer] { return outcome_line(id, outcome, changer.get()); });
    submit();
}

void Recorder::on_freed_room(const RequestId& request, const FreedRoomResult& result) {
    if (!begun_) return;
    const Changer changer = changer_;
    add([request, result, changer] { return freed_line(request, result, changer.get()); });
    submit();
}

}  // namespace reaper::recording
