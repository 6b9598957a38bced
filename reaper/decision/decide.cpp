#include "reaper/decision/decide.hpp"

#include <functional>

#include "reaper/decision/budget_usage.hpp"
#include "reaper/decision/duties.hpp"
#include "reaper/decision/requester_class.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/correction_plan.hpp"
#include "reaper/planner/revocable_room.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

RunTimes::RunTimes(const SafeguardSettings& settings, TimePoint now) : now_{now} {
    rules_.min_run_time = settings.protect.min_run_time;
    rules_.workload_key = settings.thrash.workload_key;
    rules_.horizon = rules_.min_run_time;
    max_grace_ = settings.thrash.max_grace;
}

void RunTimes::keep(const std::vector<Thrashing>& workloads) {
    for (const auto& each : workloads) {
        if (each.grace <= Duration::zero()) continue;
        skipped_.insert_or_assign(each.workload, each);
        rules_.grace.insert_or_assign(each.workload, each.grace);
        longest_grace_ = std::max(longest_grace_, each.grace);
        // Later ones, too: what is known of servers is known for all graces.
        rules_.horizon = std::max({rules_.min_run_time, max_grace_, longest_grace_});
    }
}

/// The workload for which the server is kept now.
const Thrashing* RunTimes::thrashing(const Server& server) const {
    if (longest_grace_ <= Duration::zero() || start_of(server) <= now_ - longest_grace_)
        return nullptr;
    const auto at = skipped_.find(workload_of(server, rules_.workload_key));
    if (at == skipped_.end() || start_of(server) <= now_ - at->second.grace) return nullptr;
    return &at->second;
}

std::optional<TimePoint> RunTimes::kept_until(const Server& server) const {
    const auto* const often = thrashing(server);
    const Duration needed =
        std::max(rules_.min_run_time, often == nullptr ? Duration::zero() : often->grace);
    const TimePoint until = start_of(server) + needed;
    if (until <= now_) return std::nullopt;
    return until;
}

std::optional<std::string> RunTimes::why_kept(const Server& server, const Host&) const {
    if (auto young = why_too_young(server, rules_.min_run_time, now_)) return young;
    const auto* const often = thrashing(server);
    if (often == nullptr) return std::nullopt;
    return "its workload '" + printable(often->workload.name, 64) + "' was evicted " +
           std::to_string(often->evictions) + " times lately: it is kept until it has run for " +
           format_duration(often->grace) + " (thrash)";
}

bool RunTimes::keeps(const Server& server, const Host&) const {
    const bool young =
        rules_.min_run_time > Duration::zero() && start_of(server) > now_ - rules_.min_run_time;
    return young || thrashing(server) != nullptr;
}

bool RunTimes::may_keep(const HostRow& row) const {
    return !keeps_none() && row.last_start > (now_ - longest()).time_since_epoch().count();
}

std::optional<std::string> LateFilter::why_kept(const Server& server, const Host& host) const {
    if (other_ != nullptr)
        if (auto why = other_->why_kept(server, host)) return why;
    if (shelve_.apply_to(server))
        return "it is to be shelved, which may take longer than nova-scheduler waits";
    if (!is_late(server)) return std::nullopt;
    return "it is to have " + format_duration(notice_.left_of(server)) +
           " of notice, longer than nova-scheduler waits";
}

bool LateFilter::keeps(const Server& server, const Host& host) const {
    return (other_ != nullptr && other_->keeps(server, host)) || is_late(server) ||
           shelve_.apply_to(server);
}

namespace {

/// Of the time that a search has, what a deletion takes.
constexpr Duration for_deletion{2'000};

const Server* server_of(const Host* host, const ServerId& id) {
    if (host == nullptr) return nullptr;
    const auto at = std::ranges::find(host->servers, id, &Server::id);
    return at == host->servers.end() ? nullptr : &*at;
}

void append(std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
}

/// Attempts: soft safeguards give way one after the other until a plan is possible; and which
/// safeguard it was where none is.
class Attempts {
public:
    /// `options` with protection and budgets; the rest of what safeguards is made here. The
    /// arguments must outlive this.
    Attempts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
             const Strategy& strategy, std::string_view strategy_name,
             const SafeguardSettings& settings, const PlanOptions& options)
        : request_{request},
          cloud_{cloud},
          ledger_{ledger},
          strategy_{strategy},
          strategy_name_{strategy_name},
          settings_{settings},
          options_{options} {}

    Decision run(std::vector<Thrashing> thrashing, std::map<HostId, std::string> in_cooldown) {
        thrashing_ = std::move(thrashing);
        in_cooldown_ = std::move(in_cooldown);
        // Room in the making for this very request is not left lying.
        for (const auto* const promise : ledger_.promises_of(request_.id)) {
            const auto at = in_cooldown_.find(promise->host);
            if (at == in_cooldown_.end()) continue;
            if (promise->released) released_there_.insert(*at);
            in_cooldown_.erase(at);
        }
        std::erase_if(in_cooldown_, [&](const auto& each) {
            return cloud_.row_of(each.first) == CloudIndex::no_row;
        });

        Decision decision;
        for (const bool leave_out : {true, false}) {
            if (!leave_out && in_cooldown_.empty()) continue;
            for (const bool keep : {true, false}) {
                if (!keep && thrashing_.empty()) continue;
                decision = attempt(keep, leave_out);
                if (std::holds_alternative<NotEnough>(decision)) continue;
                explain(decision);
                return decision;
            }
        }
        NotEnough& not_enough = std::get<NotEnough>(decision);
        name_safeguard(not_enough);
        not_enough.for_search = late_filter(nullptr).has_value();
        return decision;
    }

private:
    Decision attempt(bool keep, bool leave_out) {
        const RunTimes times = run_times(keep);
        PlanOptions options = options_;
        options.victim_filter = times.keeps_none() ? nullptr : &times;
        const auto late = late_filter(options.victim_filter);
        if (late) options.victim_filter = &*late;
        options.in_cooldown = leave_out && !in_cooldown_.empty() ? &in_cooldown_ : nullptr;
        return make_plan(request_, cloud_, ledger_, strategy_, strategy_name_, options);
    }

    RunTimes run_times(bool keep) const {
        RunTimes times{settings_, options_.now};
        if (keep) times.keep(thrashing_);
        return times;
    }

    /// None where no client waits for the answer, or no server has notice or is shelved.
    std::optional<LateFilter> late_filter(const VictimFilter* other) const {
        static const NoticeRules no_notice;
        static const ShelveRules no_shelving;
        if (request_.source != RequestSource::gateway ||
            (options_.notice == nullptr && options_.shelve == nullptr))
            return std::nullopt;
        return LateFilter{options_.notice != nullptr ? *options_.notice : no_notice,
                          options_.shelve != nullptr ? *options_.shelve : no_shelving,
                          request_.deadline - options_.now - for_deletion, other};
    }

    /// What had to give way, where it shows in the plan.
    void explain(Decision& decision) const {
        const auto use_in_cooldown = [&](const std::vector<HostPlan>& hosts, std::string& text) {
            for (const auto& host : hosts)
                for (const auto* const cooling : {&in_cooldown_, &released_there_})
                    if (const auto at = cooling->find(host.host); at != cooling->end())
                        append(text, host.host_name + " is used although " + at->second +
                                         ": nothing else is enough");
        };
        if (auto* nothing = std::get_if<NothingToDo>(&decision))
            return use_in_cooldown(nothing->hosts, nothing->reason);
        auto* const plan = std::get_if<Plan>(&decision);
        if (plan == nullptr) return;
        name_workloads(*plan);
        use_in_cooldown(plan->hosts, plan->note);
        if (thrashing_.empty()) return;
        const RunTimes times = run_times(true);
        long gone = 0;
        for (const auto& host : plan->hosts)
            for (const auto& victim : host.victims) {
                const Host* const at = cloud_.find(host.host);
                const Server* const server = server_of(at, victim.server);
                if (server != nullptr && times.keeps(*server, *at)) ++gone;
            }
        if (gone > 0)
            append(plan->note, counted(gone, "victim") +
                                   " of workloads that were evicted often lately can't be kept "
                                   "(thrash): nothing else is enough");
    }

    void name_workloads(Plan& plan) const {
        if (settings_.thrash.workload_key.empty()) return;
        for (auto& host : plan.hosts)
            for (auto& victim : host.victims)
                if (const Server* const server = server_of(cloud_.find(host.host), victim.server))
                    victim.workload = workload_given(*server, settings_.thrash.workload_key);
    }

    void name_safeguard(NotEnough& answer) const {
        if (!answer.safeguard.empty() || answer.slots_possible >= answer.slots_requested) return;
        struct Safeguard {
            std::string_view word;
            bool on;
            std::string reason;
        };
        const auto* const left = options_.budgets;
        const Duration least = settings_.protect.min_run_time;
        const std::vector<Safeguard> safeguards{
            {safeguard::limit_project, left != nullptr && left->each_project.has_value(),
             "the limit of victims of a project stands in the way"},
            {safeguard::limit_aggregate, left != nullptr && left->each_aggregate.has_value(),
             "the limit of victims in an aggregate stands in the way"},
            {safeguard::min_run_time, least > Duration::zero(),
             "servers that have not run for " + format_duration(least) + " would have to go"},
            {safeguard::notice, late_filter(nullptr).has_value(),
             "servers would have to go whose notice or shelving takes longer than nova-scheduler "
             "waits"},
            {safeguard::is_protected,
             options_.protection != nullptr && !options_.protection->empty(),
             "protected servers would have to go"}};
        const auto settle = [&](const Safeguard& safeguard) {
            answer.safeguard = safeguard.word;
            append(answer.reason, safeguard.reason);
        };
        for (std::size_t i = 0; i < safeguards.size(); ++i)
            if (safeguards[i].on && enough_without(i == 0, i == 1, i == 2, i == 4, i == 3))
                return settle(safeguards[i]);
        // Several together: the one that has to go last is named.
        bool off[5] = {};
        int taken = 0;
        for (std::size_t i = 0; i < safeguards.size(); ++i) {
            if (!safeguards[i].on) continue;
            off[i] = true;
            if (++taken > 1 && enough_without(off[0], off[1], off[2], off[4], off[3]))
                return settle(safeguards[i]);
        }
    }

    /// Whether all servers that may go without these safeguards give enough; the soft ones are off.
    bool enough_without(bool projects, bool aggregates, bool run_time, bool protection,
                        bool notice) const {
        static const Protection none;
        const RunTimes times = run_times(false);
        PlanOptions options = options_;
        options.victim_filter = run_time || times.keeps_none() ? nullptr : &times;
        const auto late = late_filter(options.victim_filter);
        if (late && !notice) options.victim_filter = &*late;
        if (protection) options.protection = &none;
        Budgets budgets;
        if (options_.budgets != nullptr) {
            budgets = *options_.budgets;
            if (projects) budgets.each_project.reset();
            if (aggregates) budgets.each_aggregate.reset();
            options.budgets = &budgets;
        }
        return slots_possible(request_, cloud_, ledger_, options) >= request_.slots;
    }

    const Request& request_;
    const CloudIndex& cloud_;
    const Ledger& ledger_;
    const Strategy& strategy_;
    std::string_view strategy_name_;
    const SafeguardSettings& settings_;
    const PlanOptions& options_;
    std::vector<Thrashing> thrashing_;
    std::map<HostId, std::string> in_cooldown_;
    std::map<HostId, std::string> released_there_;  ///< in cooldown, and released for the request
};

Budgets budgets_left(const Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                     const Ledger& ledger, const PlanOptions& options) {
    Budgets left = BudgetUsage{safeguards.settings().limits,
                               options.scheduler,
                               safeguards.history(),
                               request,
                               cloud,
                               ledger,
                               options.now}
                       .left();
    left.project_names = &cloud.project_names();
    return left;
}

/// A plan that deletes servers is none where none are deleted for the request now.
Decision unless_held(Decision decision, const Safeguards& safeguards, const Request& request,
                     TimePoint now) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty()) return decision;
    auto held = safeguards.why_not_now(request, now);
    if (!held) return decision;
    NotEnough not_now;
    not_now.slots_requested = plan->slots_requested;
    not_now.slots_possible = plan->slots_freed;
    not_now.reason = std::move(held->reason);
    not_now.safeguard = held->safeguard;
    not_now.rejected = std::move(plan->rejected);
    not_now.rejected_counts = std::move(plan->rejected_counts);
    return not_now;
}

/// What can be done about it.
Decision with_advice(Decision decision) {
    auto* const less = std::get_if<NotEnough>(&decision);
    if (less != nullptr && less->safeguard == safeguard::limit_request)
        less->reason +=
            "; for more, an operator approves a plan (reaper plan --save, then reaper apply)";
    return decision;
}

/// Hosts that a search can't wait for, as another request's notice there ends too late.
void pass_over_late(const Notices& notices, const Request& request, const Ledger& ledger,
                    std::map<HostId, std::string>& passed_over) {
    if (request.source != RequestSource::gateway) return;
    for (const auto& [server, given] : notices.all()) {
        const auto* const eviction = ledger.eviction(server);
        if (eviction == nullptr || given.request == request.id ||
            given.until <= request.deadline - for_deletion)
            continue;
        passed_over.emplace(eviction->host,
                            "a server there has notice until " + iso_time(given.until));
    }
}

}  // namespace

Decision plan_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options) {
    safeguards.prune(options.now);
    safeguards.deletions().see([&](const HostId& id) { return cloud.find(id); }, options.now);
    const Budgets left = budgets_left(safeguards, request, cloud, ledger, options);
    options.protection = &safeguards.protection();
    options.budgets = left.empty() ? nullptr : &left;
    Attempts attempts{request, cloud, ledger, strategy, strategy_name, safeguards.settings(),
                      options};
    auto passed_over = safeguards.passed_over(options.now);
    pass_over_late(safeguards.notices(), request, ledger, passed_over);
    Decision decision = attempts.run(safeguards.thrashing(options.now), std::move(passed_over));
    return with_advice(unless_held(std::move(decision), safeguards, request, options.now));
}

Decision correction_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                          const Ledger& ledger, PlanOptions options) {
    safeguards.prune(options.now);
    const Budgets left = budgets_left(safeguards, request, cloud, ledger, options);
    const RunTimes times{safeguards.settings(), options.now};
    options.protection = &safeguards.protection();
    options.victim_filter = &times;
    options.budgets = left.empty() ? nullptr : &left;
    return unless_held(plan_correction(request, cloud, ledger, options), safeguards, request,
                       options.now);
}

namespace {

/// If it is not known which host is in which cell: no cull for a move if a cull for a similar one
/// had no effect, or may have had none.
Decision unless_cooling_down(Decision decision, const Request& request, const SchedulerRules& rules,
                             const Safeguards& safeguards) {
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || !rules.cells.empty() || !stays_in_cell(request, rules)) return decision;
    if (plan->victims().empty()) return decision;
    auto why = safeguards.why_no_move(request);
    if (!why) return decision;
    NotEnough answer;
    answer.slots_requested = plan->slots_requested;
    answer.slots_possible = plan->slots_freed;
    answer.reason = std::move(*why);
    answer.safeguard = safeguard::cell_cooldown;
    return answer;
}

/// Says of each host that its slots are those of the fallback.
void mark_fallback(Decision& decision, const Resources& slot) {
    static const std::string why =
        "its CPUs as VCPU, for which Nova asks Placement too (scheduler.pcpu_fallback)";
    if (auto* const plan = std::get_if<Plan>(&decision)) {
        plan->note += (plan->note.empty() ? "" : "; ") + why;
        for (auto& host : plan->hosts) host.slot = slot;
    } else if (auto* const nothing = std::get_if<NothingToDo>(&decision)) {
        nothing->reason += "; " + why;
        for (auto& host : nothing->hosts) host.slot = slot;
    }
}

/// What PCPU and VCPU cost are not figures of one kind: the number of victims decides.
void forget_cost(Decision& decision) {
    if (auto* const plan = std::get_if<Plan>(&decision)) plan->cost = {};
}

/// Nova asks for both, and takes a host of either: the better plan.
Decision plan_either(const Request& request, const SchedulerRules& rules,
                     const std::function<Decision(const Request&)>& plan) {
    Decision first = plan(request);
    if (!request.fallback || !rules.pcpu_fallback || std::holds_alternative<NothingToDo>(first))
        return first;
    Decision second = plan(by_fallback(request));
    forget_cost(first);
    forget_cost(second);
    if (!better(second, first)) {
        add_cut(first, second);
        return first;
    }
    mark_fallback(second, request.fallback->resources);
    return second;
}

/// With what is left of the notices that were given for the request.
NoticeRules notice_for(const Request& request, const CompiledPolicy& policy, const Notices& notices,
                       TimePoint now) {
    NoticeRules notice = policy.notice;
    for (const Notice& given : notices.of(request.id))
        if (given.told)
            notice.under_notice(given.server, std::max(Duration::zero(), given.until - now));
    return notice;
}

/// The reasons of a plan's victims say which of them are shelved.
void name_shelved(Decision& decision, const ShelveRules& rules, const CloudIndex& hosts) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || rules.none()) return;
    for (HostPlan& there : plan->hosts) {
        const Host* const host = hosts.find(there.host);
        if (host == nullptr) continue;
        for (Victim& victim : there.victims)
            for (const Server& server : host->servers)
                if (server.id == victim.server && rules.departure_of(server) != Departure::deleted)
                    victim.reason += "; it is to be shelved";
    }
}

}  // namespace

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, std::map<ServerId, std::string> skipped) {
    Safeguards nothing_known{policy.safeguards};
    return decide(policy, request, cache, ledger, nothing_known, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> skipped) {
    Safeguards nothing_known{policy.safeguards};
    return decide(policy, request, hosts, tag_data, ledger, now, nothing_known, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, Safeguards& safeguards,
                std::map<ServerId, std::string> skipped) {
    const CloudIndex hosts{cache.snapshot, policy.protection};
    return decide(policy, request, hosts, cache.tag_data, ledger, cache.snapshot.taken_at,
                  safeguards, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                Safeguards& safeguards, std::map<ServerId, std::string> skipped) {
    if (!request.placement.first_hosts.empty()) {
        Request there = request;
        there.placement.only_hosts = std::exchange(there.placement.first_hosts, {});
        Decision decision =
            decide(policy, there, hosts, tag_data, ledger, now, safeguards, skipped);
        if (!host_plans(decision).empty()) return decision;
    }
    PlanOptions options;
    options.scheduler = &policy.scheduler;
    options.alternatives = policy.alternatives;
    options.seed = seed_of(request.id);
    options.now = now;
    options.skipped = std::move(skipped);
    for (const auto& [server, given] : safeguards.notices().all())
        if (given.request != request.id)
            options.skipped.emplace(server, "it has notice, for request " + given.request.str());
    const NoticeRules notice = notice_for(request, policy, safeguards.notices(), now);
    if (!notice.none()) options.notice = &notice;
    if (!policy.shelve.none()) options.shelve = &policy.shelve;
    if (request.correction) {
        skip_not_due(policy, request, hosts, ledger, now, options.skipped);
        Decision decision =
            correction_under(safeguards, request, hosts, ledger, std::move(options));
        // At the end of its life span a server goes for good.
        if (request.source != RequestSource::life_span)
            name_shelved(decision, policy.shelve, hosts);
        return decision;
    }
    const auto why_revocable = why_requester_revocable(policy, request, hosts, tag_data);
    if (why_revocable && !request.borrows) return refused_as_revocable(*why_revocable);
    if (auto why = outside_all_shards(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    if (auto why = refused_for_isolation(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    if (auto why = why_cell_unknown(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    const std::function<Decision(ResType)> search = [&](ResType type) -> Decision {
        if (type == ResType::revocable)
            return plan_either(request, policy.scheduler, [&](const Request& asked) {
                return find_revocable_room(asked, hosts, ledger, policy.revocable_classes,
                                           &policy.scheduler);
            });
        return unless_cooling_down(plan_either(request, policy.scheduler,
                                               [&](const Request& asked) {
                                                   return plan_under(safeguards, asked, hosts,
                                                                     ledger, *policy.strategy,
                                                                     policy.strategy_name, options);
                                               }),
                                   request, policy.scheduler, safeguards);
    };
    if (why_revocable) {
        // Room that is there; the victims of a plan for it do not matter. What others deleted is
        // not waited for: it may take a deletion of ours.
        Decision there = search(ResType::regular);
        const auto* const nothing = std::get_if<NothingToDo>(&there);
        if (nothing != nullptr && nothing->pending_releases().empty()) return there;
        return refused_as_revocable(*why_revocable);
    }
    Decision decision = decide_in_phases(request.phases, search);
    name_shelved(decision, policy.shelve, hosts);
    return decision;
}

}  // namespace reaper
