#include "reaper/decision/attempts.hpp"

#include <algorithm>
#include <utility>

#include "reaper/safeguards/safeguards.hpp"
#include "reaper/model/duration_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

const Server* server_of(const Host* host, const ServerId& id) {
    if (host == nullptr) return nullptr;
    const auto at = std::find_if(host->servers.begin(), host->servers.end(),
                                 [&](const Server& server) { return server.id == id; });
    return at == host->servers.end() ? nullptr : &*at;
}

void append(std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
}

}  // namespace

Decision Attempts::run(std::vector<Thrashing> thrashing, std::map<HostId, std::string> doubted) {
    thrashing_ = std::move(thrashing);
    doubted_ = std::move(doubted);
    // Room in the making for this very request is not left lying.
    for (const auto& promise : ledger_.promises())
        if (promise.request == request_.id) doubted_.erase(promise.host);
    std::erase_if(doubted_, [&](const auto& each) {
        return cloud_.row_of(each.first) == CloudIndex::no_row;
    });

    Decision decision;
    for (const bool leave_out : {true, false}) {
        if (!leave_out && doubted_.empty()) continue;
        for (const bool spare : {true, false}) {
            if (!spare && thrashing_.empty()) continue;
            decision = attempt(spare, leave_out);
            if (std::holds_alternative<NotEnough>(decision)) continue;
            explain(decision);
            return decision;
        }
    }
    name_brake(std::get<NotEnough>(decision));
    return decision;
}

RunTimes Attempts::run_times(bool spare) const {
    RunTimes times{settings_.protect.min_run_time, settings_.thrash.workload_key, options_.now};
    if (spare) times.spare(thrashing_);
    return times;
}

Decision Attempts::attempt(bool spare, bool leave_out) {
    const RunTimes times = run_times(spare);
    PlanOptions options = options_;
    options.restraint = times.keeps_nobody() ? nullptr : &times;
    options.doubted = leave_out && !doubted_.empty() ? &doubted_ : nullptr;
    return make_plan(request_, cloud_, ledger_, strategy_, strategy_name_, options);
}

/// What had to give way, where it shows in the plan.
void Attempts::explain(Decision& decision) const {
    const auto use_doubted = [&](const std::vector<HostPlan>& hosts, std::string& text) {
        for (const auto& host : hosts)
            if (const auto at = doubted_.find(host.host); at != doubted_.end())
                append(text, host.host_name + " is used although " + at->second +
                                 ": nothing else is enough");
    };
    if (auto* nothing = std::get_if<NothingToDo>(&decision))
        return use_doubted(nothing->hosts, nothing->reason);
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr) return;
    name_workloads(*plan);
    use_doubted(plan->hosts, plan->note);
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
                               " of workloads that were evicted often lately can't be spared "
                               "(thrash): nothing else is enough");
}

void Attempts::name_workloads(Plan& plan) const {
    if (settings_.thrash.workload_key.empty()) return;
    for (auto& host : plan.hosts)
        for (auto& victim : host.victims)
            if (const Server* const server = server_of(cloud_.find(host.host), victim.server))
                victim.workload = workload_given(*server, settings_.thrash.workload_key);
}

/// Whether all servers that may go without these brakes give enough; the soft ones are off.
bool Attempts::enough_without(bool projects, bool aggregates, bool run_time,
                              bool protection) const {
    static const Protection nobody;
    const RunTimes times = run_times(false);
    PlanOptions options = options_;
    options.restraint = run_time || times.keeps_nobody() ? nullptr : &times;
    if (protection) options.protection = &nobody;
    Allowances allowances;
    if (options_.allowances != nullptr) {
        allowances = *options_.allowances;
        if (projects) allowances.each_project.reset();
        if (aggregates) allowances.each_aggregate.reset();
        options.allowances = &allowances;
    }
    return slots_possible(request_, cloud_, ledger_, options) >= request_.slots;
}

void Attempts::name_brake(NotEnough& answer) const {
    if (!answer.brake.empty() || answer.slots_possible >= answer.slots_requested) return;
    struct Brake {
        std::string_view word;
        bool on;
        std::string reason;
    };
    const auto* const left = options_.allowances;
    const Duration least = settings_.protect.min_run_time;
    const std::vector<Brake> brakes{
        {brake::limit_project, left != nullptr && left->each_project.has_value(),
         "the limit of victims of a project stands in the way"},
        {brake::limit_aggregate, left != nullptr && left->each_aggregate.has_value(),
         "the limit of victims in an aggregate stands in the way"},
        {brake::min_run_time, least > Duration::zero(),
         "servers that have not run for " + words_of(least) + " would have to go"},
        {brake::is_protected, options_.protection != nullptr && !options_.protection->empty(),
         "protected servers would have to go"}};
    const auto settle = [&](const Brake& brake) {
        answer.brake = brake.word;
        append(answer.reason, brake.reason);
    };
    for (std::size_t i = 0; i < brakes.size(); ++i)
        if (brakes[i].on && enough_without(i == 0, i == 1, i == 2, i == 3))
            return settle(brakes[i]);
    // Several together: the one that has to go last is named.
    bool off[4] = {};
    int taken = 0;
    for (std::size_t i = 0; i < brakes.size(); ++i) {
        if (!brakes[i].on) continue;
        off[i] = true;
        if (++taken > 1 && enough_without(off[0], off[1], off[2], off[3])) return settle(brakes[i]);
    }
}

}  // namespace reaper
