#include "reaper/controllers/qos_loop.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "reaper/controllers/nova_loads.hpp"
#include "reaper/model/correction_id.hpp"

namespace reaper {
namespace {

/// Load of longer ago is in no average any more.
constexpr Duration load_remembers = std::chrono::hours{1};

/// Bulk answers do not tell who holds which class.
bool may_have_revocable(const Host& host) {
    return host.estimated || std::any_of(host.servers.begin(), host.servers.end(),
                                         [](const Server& server) { return server.revocable(); });
}

}  // namespace

ResultTask<void> QosLoop::look() {
    const auto policy = dependencies_.settings.oversubscription;
    const std::uint64_t epoch = dependencies_.serving();
    if (!policy || epoch == 0) {
        states_.clear();
        log_.clear();
        epoch_ = 0;
        co_return Result<void>{};
    }
    const LoadFigures figures = policy->qos->figures();
    if (!figures.any() || !dependencies_.refresher.built() || dependencies_.paused())
        co_return Result<void>{};
    if (epoch_ != epoch) {
        states_.clear();
        log_.clear();
        auto known = co_await know_corrections();
        if (!known) co_return known;
        epoch_ = epoch;
    }
    std::vector<HostId> hosts;
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (policy->covers(*host) && may_have_revocable(*host)) hosts.push_back(host->id);
    if (hosts.empty()) co_return Result<void>{};
    auto loads = co_await this->loads(*policy, std::move(hosts));
    if (!loads) co_return loads.error();
    if (dependencies_.serving() != epoch || dependencies_.settings.oversubscription != policy ||
        dependencies_.paused())
        co_return Result<void>{};
    std::erase_if(states_, [&](const auto& each) { return !loads->contains(each.first); });
    log_.keep_only(*loads);
    for (const auto& [id, load] : *loads) co_await look_at(id, load, policy);
    co_return Result<void>{};
}

ResultTask<std::map<HostId, HostLoad>> QosLoop::loads(const OversubscriptionPolicy& policy,
                                                      std::vector<HostId> hosts) {
    if (policy.configured.qos_source == "nova")
        co_return co_await loads_by_nova(dependencies_.cloud, dependencies_.refresher,
                                         std::move(hosts));
    if (dependencies_.metrics == nullptr)
        co_return Error{Errc::bad_input,
                        "nothing is measured: there is no oversubscription.prometheus.url"};
    co_return co_await dependencies_.metrics->loads(policy.qos->figures());
}

Task<void> QosLoop::look_at(HostId id, const HostLoad& load, Policy policy) {
    const Host* host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) co_return;
    if (!may_have_revocable(*host)) {
        log_.left(*host);
        co_return;
    }
    const TimePoint now = dependencies_.cloud.clock.now();
    QosVerdict verdict = policy->qos->look(states_[id], load, now);
    states_[id] = verdict.state;
    log_.look(*host, verdict, now);
    if (!verdict.correction) co_return;
    if (auto why = dependencies_.corrections.why_busy(id); !why.empty()) {
        log_.not_corrected(*host, *verdict.correction, std::move(why));
        co_return;
    }
    if (host->estimated) {
        std::vector<HostId> ids{id};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(ids), HostDepth::state);
        host = dependencies_.refresher.cache().find(id);
        if (!read || host == nullptr) co_return;
    }
    const OrderedCorrection ordered =
        dependencies_.corrections.correct(*host, *verdict.correction, CorrectionSource::qos);
    if (ordered.servers == 0) {
        log_.not_corrected(*host, *verdict.correction, "no revocable server may go now");
        co_return;
    }
    states_[id] = after_correction(states_[id], ordered.vcpus, now);
    log_.corrected(*host, *verdict.correction, ordered, dependencies_.settings.dry_run);
}

/// What this reaper's journal has of the last hour.
ResultTask<void> QosLoop::know_corrections() {
    const TimePoint since = dependencies_.cloud.clock.now() - load_remembers;
    auto ended = co_await dependencies_.journal.culls_since(since);
    if (!ended) co_return ended.error();
    auto unfinished = co_await dependencies_.journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    for (const auto& record : *ended) note_past(record);
    for (const auto& record : *unfinished) note_past(record);
    co_return Result<void>{};
}

void QosLoop::note_past(const RequestRecord& record) {
    const auto& policy = dependencies_.settings.oversubscription;
    if (!policy || !record.request.correction || !is_of_qos(record.request.id)) return;
    static const ResourceClass vcpu{"VCPU"};
    static const ResourceClass pcpu{"PCPU"};
    std::map<ServerId, Resources> held;
    for (const PlanEntry& entry : record.plans)
        if (const auto* const plan = std::get_if<Plan>(&entry.decision))
            for (const Victim& victim : plan->victims())
                held.insert_or_assign(victim.server, victim.resources);
    const auto sent = victims_of(record);
    Amount vcpus = 0;
    for (const VictimEntry& each : sent) {
        const Resources& resources = held[each.server];
        vcpus += resources.get(vcpu) + resources.get(pcpu) + resources.get(policy->room_class);
    }
    if (vcpus == 0) return;
    QosState& state = states_[record.request.correction->host];
    const TimePoint at = std::min(sent.front().at, dependencies_.cloud.clock.now());
    state = after_correction(state, vcpus, at);
}

void QosLoop::on_clock_step(Duration by) {
    for (auto& [host, state] : states_) state.shift(by);
    log_.shift(by);
}

}  // namespace reaper
