#include "reaper/recording/replay.hpp"

#include <algorithm>
#include <ratio>
#include <set>
#include <tuple>
#include <utility>

#include "reaper/decision/decide.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/recording/gzip_lines.hpp"

namespace reaper::recording {

// The recorded cloud under one policy, kept in step with the recording, and decisions on it.

Result<PlaybackEnd> play_back(const std::string& directory,
                              const std::function<void(Line line)>& visit) {
    const auto segments = segments_in(directory);
    if (!segments) return segments.error();
    if (segments->empty())
        return Error{Errc::bad_input,
                     directory +
                         " holds no recording (no recording-*.jsonl.gz); the daemon makes "
                         "one where record.directory says"};
    PlaybackEnd end;
    for (const Segment& segment : *segments) {
        std::optional<std::string> wrong;
        std::size_t number = 0;
        const auto read = read_gzip_lines(segment.path, [&](std::string_view text) {
            ++number;
            auto line = line_from(text);
            // The first line says what it is, and of which version.
            if (line && number == 1 && !std::holds_alternative<Begin>(*line))
                line = Error{Errc::bad_input, "is not the beginning of a recording"};
            if (line)
                visit(std::move(*line));
            else
                wrong = line.error().what;
            return !wrong;
        });
        if (!read) return read.error();
        ++end.segments;
        if (wrong)
            end.remarks.push_back(segment.path + ": line " + std::to_string(number) + " " + *wrong +
                                  "; the rest of it is skipped");
        else if (!read->whole)
            end.remarks.push_back(segment.path +
                                  ": ends amid a piece (the daemon was killed, or "
                                  "still writes): that piece is skipped");
    }
    return end;
}

namespace {

/// Is the circuit that held it one that the settings have too?
bool has_circuit(const SafeguardSettings& settings, std::string_view held) {
    if (held == safeguard::breaker)
        return settings.breaker.wasted > 0 || settings.breaker.failed > 0;
    if (held == safeguard::project_breaker) return settings.project_breaker.wasted > 0;
    if (held == safeguard::unproven) return settings.project_breaker.unproven > 0;
    if (held == safeguard::short_lived) return settings.short_lived.allowance > 0;
    if (held == safeguard::shape_cooldown) return settings.shape_cooldown.wasted > 0;
    return true;
}

/// In place of a plan that deletes servers.
Decision not_now(Plan plan, std::string_view safeguard, std::string reason) {
    NotEnough answer;
    answer.slots_requested = plan.slots_requested;
    answer.slots_possible = plan.slots_freed;
    answer.reason = std::move(reason);
    answer.safeguard = safeguard;
    answer.rejected = std::move(plan.rejected);
    answer.rejected_counts = std::move(plan.rejected_counts);
    return answer;
}

/// As the circuits of then decide it.
Decision unless_held(Decision decision, const Seen& seen, const CompiledPolicy& policy) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty()) return decision;
    if (!seen.held.empty() && has_circuit(policy.safeguards, seen.held))
        return not_now(std::move(*plan), seen.held, seen.held_because);
    const bool in_its_cell =
        policy.scheduler.cells.empty() && stays_in_cell(seen.request, policy.scheduler);
    if (seen.no_move && in_its_cell)
        return not_now(std::move(*plan), safeguard::cell_cooldown, *seen.no_move);
    return decision;
}

PastVictim past(const Victim& victim, const Seen& seen) {
    return {seen.at,     seen.request.id, victim.server,        victim.name,    victim.project,
            victim.host, victim.workload, seen.request.project, victim.created, victim.launched};
}

double hours(Duration span) {
    return std::chrono::duration<double, std::ratio<3600>>(span).count();
}

}  // namespace

class Stage {
public:
    /// From here on; hosts that are there stay.
    void use(ReplayPolicy policy) {
        const bool other_tags = policy.retags;
        policy_ = std::move(policy);
        index_.protect(policy_.compiled->protection);
        if (other_tags) retag_all();
    }

    bool ready() const { return policy_.compiled != nullptr; }

    void put(Host host) {
        tag(host);
        auto next = std::make_unique<Host>(std::move(host));
        index_.put(*next);
        Kept& kept = hosts_[next->id];
        std::swap(kept.host, next);  // the one before lives until the index knows this one
    }

    void erase(const HostId& host) {
        index_.erase(host);
        hosts_.erase(host);
    }

    void clear() {
        index_.clear();
        hosts_.clear();
    }

    void use(TagData tag_data) {
        tag_data_ = std::move(tag_data);
        if (policy_.retags) retag_all();
    }

    /// What its own taggers ask, and the recording does not answer.
    std::optional<std::string> unknown_tag() const {
        if (!policy_.retags) return std::nullopt;
        for (const std::string& tag : policy_.compiled->tagger_inputs().project_tags)
            if (!tag_data_.projects_by_tag.contains(tag)) return tag;
        return std::nullopt;
    }

    /// As it was: with the victims and the skipped servers of the recording.
    Decision decide_as_recorded(const Seen& seen) const {
        return decide(seen, seen.history, seen.skipped);
    }

    /// As if those decisions had been carried out that were made here before. `replayed`: the
    /// requests of the recording, whose victims are not taken from it.
    Choice decide_on(const Seen& seen, const std::set<RequestId>& replayed) {
        std::vector<PastVictim> history;
        for (const PastVictim& victim : seen.history)
            if (!replayed.contains(victim.request)) history.push_back(victim);
        history.insert(history.end(), gone_.begin(), gone_.end());
        std::map<ServerId, std::string> skipped = seen.skipped;
        for (const auto& [server, request] : gone_for_)
            skipped.emplace(server, "it went for an earlier request of the replay");
        Choice choice{decide(seen, history, std::move(skipped))};
        const auto* const plan = std::get_if<Plan>(&choice.decision);
        if (plan == nullptr) return choice;
        static const ResourceClass vcpu{"VCPU"};
        for (const Victim& victim : plan->victims()) {
            const double age = std::max(0.0, hours(seen.at - victim.created));
            choice.lost_hours += age;
            choice.lost_vcpu_hours += age * static_cast<double>(victim.resources.get(vcpu));
            gone_.push_back(past(victim, seen));
            gone_for_.emplace(victim.server, seen.request.id);
        }
        return choice;
    }

private:
    struct Kept {
        std::unique_ptr<Host> host;
    };

    Decision decide(const Seen& seen, const std::vector<PastVictim>& history,
                    std::map<ServerId, std::string> skipped) const {
        const CompiledPolicy& policy = *policy_.compiled;
        Safeguards safeguards{policy.safeguards};
        safeguards.see_several_cells(seen.several_cells);
        for (const PastVictim& victim : history) safeguards.note_victim(victim);
        safeguards.note_cooldown(seen.request.id, {seen.cooling.begin(), seen.cooling.end()},
                                 seen.at);
        Ledger ledger = seen.ledger;
        const std::set<ServerId> given_up(seen.given_up.begin(), seen.given_up.end());
        if (!given_up.empty())
            for (const auto& [id, kept] : hosts_)
                for (const Server& server : kept.host->servers)
                    if (given_up.contains(server.id)) ledger.give_up_on(id, server.id, seen.at);
        Decision decision = reaper::decide(policy, seen.request, index_, tag_data_, ledger, seen.at,
                                           safeguards, std::move(skipped));
        return unless_held(std::move(decision), seen, policy);
    }

    void tag(Host& host) const {
        if (!policy_.retags || !policy_.compiled) return;
        for (Server& server : host.servers)
            reaper::tag(server, policy_.compiled->taggers, tag_data_);
    }

    void retag_all() {
        for (auto& [id, kept] : hosts_) {
            tag(*kept.host);
            index_.put(*kept.host);
        }
    }

    ReplayPolicy policy_;
    TagData tag_data_;
    std::map<HostId, Kept> hosts_;
    CloudIndex index_;
    std::vector<PastVictim> gone_;  ///< by the decisions here, oldest first
    std::map<ServerId, RequestId> gone_for_;
};

namespace {

using HostChoice = std::tuple<HostId, int, std::vector<ServerId>>;

/// Which hosts give how many slots, and their victims.
std::vector<HostChoice> choices_of(const Decision& decision) {
    std::vector<HostChoice> all;
    for (const HostPlan& host : host_plans(decision)) {
        std::vector<ServerId> victims;
        for (const Victim& victim : host.victims) victims.push_back(victim.server);
        std::ranges::sort(victims);
        all.emplace_back(host.host, host.slots, std::move(victims));
    }
    std::ranges::sort(all);
    return all;
}

class Replayer {
public:
    Replayer(const PolicyFor& recorded, const PolicyFor& asked, const ReplayPeriod& period)
        : policy_for_recorded_(recorded), policy_for_asked_(asked), period_(period) {}

    void see(Line line) {
        if (failed_) return;
        std::visit([&](auto& each) { take(each); }, line);
    }
    Result<Replay> end(PlaybackEnd found) {
        if (failed_) return *failed_;
        for (const std::string& remark : found.remarks) replay_.remarks.push_back(remark);
        for (ReplayedRequest& each : replay_.requests) {
            add_names(names_, each.request);
            if (each.recorded) add_names(names_, each.recorded->decision);
            if (each.asked) add_names(names_, each.asked->decision);
        }
        return std::move(replay_);
    }

private:
    void take(OtherLine&) {}
    void take(Begin& begin) {
        if (!replay_.begins) replay_.begins = begin.at;
        replay_.anonymous = replay_.anonymous || begin.anonymous;
        replay_.dry_run = replay_.dry_run && begin.dry_run;
        const bool goes_on = begin.follows && begin.run == run_ && begin.segment == segment_ + 1;
        run_ = begin.run;
        segment_ = begin.segment;
        if (goes_on) return;
        whole_ = false;
        last_.reset();
        for (Stage* stage : {&recorded_, &asked_}) stage->clear();
    }
    void take(PolicyLine& line) {
        if (known_policy_ && *known_policy_ == line) return;
        known_policy_ = line;
        for (const auto& [stage, policy_for] :
             {std::pair{&recorded_, &policy_for_recorded_}, {&asked_, &policy_for_asked_}}) {
            auto policy = (*policy_for)(line);
            if (!policy) {
                failed_ = policy.error();
                return;
            }
            stage->use(std::move(*policy));
        }
    }
    void take(TagsLine& line) {
        recorded_.use(line.tag_data);
        asked_.use(line.tag_data);
    }
    void take(HostLine& line) {
        recorded_.put(line.host);
        asked_.put(std::move(line.host));
    }
    void take(GoneLine& line) {
        recorded_.erase(line.host);
        asked_.erase(line.host);
    }
    void take(WholeLine&) { whole_ = true; }
    void take(std::shared_ptr<const Seen>& seen) {
        last_ = seen;
        learn(seen->request.project, seen->request.project_name);
        if (seen->request.correction) return;
        if (const auto tag = asked_.unknown_tag()) {
            failed_ =
                Error{Errc::bad_input, "the recording does not tell which projects carry the tag " +
                                           in_quotes(*tag) +
                                           ", which a tagger of the configuration asks for: "
                                           "leave its taggers out to use the recorded classes"};
            return;
        }
        if (recorded_.ready() && seen->whole && whole_ && !seen->reserved && in_period(seen->at))
            to_check_.insert_or_assign(seen->request.id, recorded_.decide_as_recorded(*seen));
        else
            to_check_.erase(seen->request.id);
        ReplayedRequest* const entry = entry_of(seen->request, seen->at);
        if (entry != nullptr) decide(*entry, *seen, seen->whole && !seen->reserved);
    }
    void take(RequestLine& line) {
        learn(line.request.project, line.request.project_name);
        waiting_.insert_or_assign(line.request.id, line);
    }
    void take(PlanLine& line) {
        check(line);
        if (const auto* const plan = std::get_if<Plan>(&line.plan.decision))
            for (const Victim& victim : plan->victims()) learn(victim.project, victim.project_name);
        const auto waits = waiting_.find(line.request);
        // Remembered: a like request was refused just before.
        const bool remembered = std::holds_alternative<NotEnough>(line.plan.decision);
        if (waits != waiting_.end() && remembered)
            decide_unseen(waits->second.request, line.plan.at);
    }
    void take(StepLine& line) {
        ReplayedRequest* const entry = known(line.request);
        if (entry == nullptr) return;
        if (begins_eviction(line.step.step)) entry->deleted.insert(line.step.server);
        if (line.step.step == Step::skipped) entry->deleted.erase(line.step.server);
    }
    void take(OutcomeLine& line) {
        if (const auto waits = waiting_.find(line.request); waits != waiting_.end()) {
            const Request request = waits->second.request;
            waiting_.erase(waits);
            // While it is paused, the reaper does not read the cloud for a request.
            if (line.outcome.safeguard == "paused")
                decide_unseen(request, line.outcome.at);
            else
                entry_of(request, line.outcome.at);
        }
        if (ReplayedRequest* const entry = known(line.request)) entry->outcome = line.outcome;
    }
    void take(FreedLine& line) {
        if (ReplayedRequest* const entry = known(line.request)) entry->freed_room = line.result;
    }

    /// Decisions that are made again know no names.
    void learn(const ProjectId& project, const std::string& name) {
        if (!name.empty()) names_.insert_or_assign(project, name);
    }

    bool in_period(TimePoint at) const {
        return (!period_.since || at >= *period_.since) && (!period_.until || at < *period_.until);
    }

    /// Null: it is none of those that are replayed.
    ReplayedRequest* entry_of(const Request& request, TimePoint at) {
        if (ReplayedRequest* const there = known(request.id)) return there;
        if (!in_period(at)) return nullptr;
        if (request.correction) {
            if (corrections_.insert(request.id).second) ++replay_.corrections;
            return nullptr;
        }
        if (!replay_.from) replay_.from = at;
        replay_.to = at;
        numbers_.emplace(request.id, replay_.requests.size());
        replayed_.insert(request.id);
        ReplayedRequest entry;
        entry.request = request;
        entry.at = at;
        replay_.requests.push_back(std::move(entry));
        return &replay_.requests.back();
    }
    ReplayedRequest* known(const RequestId& id) {
        const auto at = numbers_.find(id);
        return at == numbers_.end() ? nullptr : &replay_.requests[at->second];
    }

    /// Once: further rounds are about victims that turned out unfit.
    void decide(ReplayedRequest& entry, const Seen& seen, bool surely) {
        if (entry.recorded) return;
        if (!whole_ || !recorded_.ready()) {
            if (undecided_.insert(seen.request.id).second) ++replay_.undecided;
            return;
        }
        entry.surely = surely;
        entry.recorded = recorded_.decide_on(seen, replayed_);
        entry.asked = asked_.decide_on(seen, replayed_);
    }

    /// In the cloud as it was known to the recording.
    void decide_unseen(const Request& request, TimePoint at) {
        ReplayedRequest* const entry = entry_of(request, at);
        if (entry == nullptr) return;
        Seen seen;
        if (last_) seen = *last_;
        seen.request = request;
        seen.at = at;
        seen.skipped.clear();
        seen.held.clear();
        seen.no_move.reset();
        decide(*entry, seen, false);
    }

    void check(const PlanLine& line) {
        const auto made = to_check_.find(line.request);
        if (made == to_check_.end()) return;
        const Decision again = std::move(made->second);
        to_check_.erase(made);
        // For reasons that no decision knows of: held back, or served by another reaper.
        const bool refused = std::holds_alternative<Refused>(line.plan.decision);
        if (refused && !std::holds_alternative<Refused>(again)) return;
        ++replay_.checked;
        if (same_choice(again, line.plan.decision))
            ++replay_.reproduced;
        else
            replay_.not_reproduced.push_back(line.request);
    }

    const PolicyFor& policy_for_recorded_;
    const PolicyFor& policy_for_asked_;
    const ReplayPeriod period_;
    Replay replay_;
    std::optional<Error> failed_;
    Stage recorded_, asked_;
    std::optional<PolicyLine> known_policy_;
    ProjectNames names_;
    std::string run_;
    int segment_ = 0;
    bool whole_ = false;
    std::shared_ptr<const Seen> last_;
    std::map<RequestId, std::size_t> numbers_;
    std::set<RequestId> replayed_, corrections_, undecided_;
    std::map<RequestId, RequestLine> waiting_;  ///< reported, and not yet decided
    std::map<RequestId, Decision> to_check_;    ///< against the plan that comes next
};

}  // namespace

bool Choice::frees() const {
    const auto* const plan = std::get_if<Plan>(&decision);
    return plan != nullptr && !plan->victims().empty();
}

bool Choice::helps() const {
    return std::holds_alternative<Plan>(decision) || std::holds_alternative<NothingToDo>(decision);
}

std::string_view Choice::safeguard() const {
    if (const auto* const refused = std::get_if<Refused>(&decision)) return refused->safeguard;
    const auto* const too_little = std::get_if<NotEnough>(&decision);
    return too_little == nullptr ? std::string_view{} : too_little->safeguard;
}

bool same_choice(const Decision& a, const Decision& b) {
    if (a.index() != b.index()) return false;
    if (const auto* const first = std::get_if<NotEnough>(&a)) {
        const auto& second = std::get<NotEnough>(b);
        return first->slots_possible == second.slots_possible &&
               first->safeguard == second.safeguard;
    }
    return choices_of(a) == choices_of(b);
}

Result<Replay> replay(const std::string& directory, const PolicyFor& recorded,
                      const PolicyFor& asked, const ReplayPeriod& period) {
    Replayer replayer(recorded, asked, period);
    auto end = play_back(directory, [&](Line line) { replayer.see(std::move(line)); });
    if (!end) return end.error();
    return replayer.end(std::move(*end));
}

}  // namespace reaper::recording
