#include "reaper/controllers/oversubscription/qos_loop.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/model/text.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/inventory_plan.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr Duration calm_for = std::chrono::minutes{1};

}  // namespace

BusyHosts::Seen BusyHosts::look(const HostId& host, std::optional<bool> too_busy, TimePoint now) {
    const auto at = hosts_.find(host);
    if (!too_busy) return {};
    if (*too_busy) {
        if (at == hosts_.end()) {
            hosts_.emplace(host, Busy{now});
            return {Change::too_busy, {}};
        }
        at->second.calm_since.reset();
        return {};
    }
    if (at == hosts_.end()) return {};
    Busy& busy = at->second;
    if (!busy.calm_since) busy.calm_since = now;
    if (now - *busy.calm_since < calm_for) return {};
    const Seen calm{Change::calm,
                    std::chrono::duration_cast<Duration>(*busy.calm_since - busy.since)};
    hosts_.erase(at);
    return calm;
}

void BusyHosts::shift(Duration by) {
    for (auto& [host, busy] : hosts_) {
        busy.since += by;
        if (busy.calm_since) *busy.calm_since += by;
    }
}

namespace {

std::string name_of(const Host& host) {
    return printable(host.name, 64);
}

std::string wanted_of(const HostCorrection& correction) {
    return correction.all ? "all revocable servers must go"
                          : counted(correction.shed_vcpus, "vCPU") + " must go";
}

}  // namespace

void QosLog::look(const Host& host, const QosVerdict& verdict, const BusyHosts::Seen& seen) {
    if (seen.change == BusyHosts::Change::none) return;
    not_corrected_.erase(host.id);
    left_.erase(host.id);
    if (seen.change == BusyHosts::Change::too_busy)
        spdlog::info("oversubscription: {} is too busy: {}", name_of(host),
                     verdict.correction ? verdict.correction->why : verdict.why);
    else
        spdlog::info("oversubscription: {} is calm again; it was too busy for {}", name_of(host),
                     format_duration(seen.lasted));
}

void QosLog::corrected(const Host& host, const HostCorrection& correction,
                       const OrderedCorrection& ordered, bool dry_run) {
    spdlog::info("oversubscription: {}: {}: {}; {}{} with {} {}", name_of(host), correction.why,
                 wanted_of(correction), dry_run ? "a dry run, would choose " : "",
                 counted(ordered.servers, "server"), counted(ordered.vcpus, "vCPU"),
                 ordered.servers == 1 ? "goes" : "go");
    not_corrected_.erase(host.id);
}

void QosLog::not_corrected(const Host& host, const HostCorrection& correction, std::string why) {
    std::string& told = not_corrected_[host.id];
    if (told == why) return;
    spdlog::info("oversubscription: {}: {}: {}; none goes: {}", name_of(host), correction.why,
                 wanted_of(correction), why);
    told = std::move(why);
}

void QosLog::left(const Host& host) {
    if (left_.insert(host.id).second)
        spdlog::info("oversubscription: no revocable servers are left on {}, which is too busy",
                     name_of(host));
}

void QosLog::clear() {
    not_corrected_.clear();
    left_.clear();
}

namespace {

constexpr std::size_t asked_at_a_time = 8;

Task<void> ask_one(CloudPorts cloud, CacheRefresher& refresher, HostLoad& load) {
    const Host* const host = refresher.cache().find(load.host);
    if (host != nullptr && !facts_of(*host).exact) {
        // Once: what is exact outlives bulk readings.
        std::vector<HostId> ids{load.host};
        const auto read = co_await refresher.read_hosts(std::move(ids), HostDepth::state);
        if (!read) spdlog::debug("{}", read.error().what);
    }
    if (const Host* const known = refresher.cache().find(load.host))
        load.cores = vcpus_of_root(*known);
    load.measured_at = cloud.clock.now();
    auto averages = co_await cloud.compute.load_averages(load.host);
    if (!averages) {
        load.why_unknown = averages.error().what;
    } else if (!*averages) {
        load.why_unknown = "Nova does not report its load";
    } else {
        load.load5 = (*averages)->minutes5;
        load.load15 = (*averages)->minutes15;
    }
}

/// Of these hosts, each asked for by itself: up to microversion 2.87, which is what the call uses,
/// every release of Nova asks nova-compute. A host that does not report it, or can't be asked, is
/// not known. Stolen time and pressure are never known.
Task<std::map<HostId, HostLoad>> loads_by_nova(CloudPorts cloud, CacheRefresher& refresher,
                                               std::vector<HostId> hosts) {
    std::map<HostId, HostLoad> loads;
    for (const HostId& id : hosts) loads[id].host = id;
    for (std::size_t from = 0; from < hosts.size(); from += asked_at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + asked_at_a_time, hosts.size()); ++i)
            some.push_back(ask_one(cloud, refresher, loads.at(hosts[i])));
        co_await run_all(std::move(some));
    }
    co_return loads;
}

/// Older load is in no average.
constexpr Duration load_remembers = std::chrono::hours{1};
/// An end is in the journal after this time at most.
constexpr Duration journal_may_lag = std::chrono::minutes{1};

/// Bulk answers do not say which server holds which class.
bool may_have_revocable(const Host& host) {
    return host.estimated || std::any_of(host.servers.begin(), host.servers.end(),
                                         [](const Server& server) { return server.revocable(); });
}

/// Oversubscribed room is for sale, as far as the cache knows.
bool offers(const Host& host, const ResourceClass& room_class) {
    return std::any_of(host.providers.begin(), host.providers.end(), [&](const Provider& provider) {
        const auto found = provider.inventories.find(room_class);
        return found != provider.inventories.end() && published_room(found->second) > 0;
    });
}

}  // namespace

ResultTask<void> QosLoop::look() {
    const Policy policy = dependencies_.settings.oversubscription;
    const std::uint64_t epoch = dependencies_.serving();
    if (!policy || epoch == 0 || epoch_ != epoch) forget();
    epoch_ = policy ? epoch : 0;
    if (epoch_ == 0) co_return Result<void>{};
    const LoadFigures figures = policy->qos->figures();
    if (!figures.any()) {
        busy_.clear();
        seen_.clear();
    }
    if (!figures.any() || !dependencies_.refresher.built() || dependencies_.paused()) {
        interrupt();
        co_return Result<void>{};
    }
    std::vector<HostId> hosts;
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (is_watched(host->id, *policy)) hosts.push_back(host->id);
    forget_unwatched(*policy);
    being_corrected_ = dependencies_.corrections.under_way();
    if (hosts.empty()) co_return Result<void>{};
    std::vector<HostId> asked = hosts;
    auto loads = co_await this->loads(*policy, std::move(asked));
    ResourceClass room_class = policy->room_class;
    Result<void> known;
    if (loads) known = co_await know_evictions(std::move(room_class));
    if (!loads || !known) interrupt();
    if (!loads) co_return loads.error();
    if (!known) co_return known.error();
    if (dependencies_.serving() != epoch || dependencies_.settings.oversubscription != policy ||
        dependencies_.paused())
        co_return Result<void>{};
    count_evictions();
    for (const HostId& id : hosts)
        if (const auto load = loads->find(id); load != loads->end())
            co_await look_at(id, load->second, policy);
    co_return Result<void>{};
}

/// Where revocable servers may run, or begin to, or are about to; and, until it is calm, where they
/// ran.
bool QosLoop::is_watched(const HostId& host, const OversubscriptionPolicy& policy) const {
    const Host* const found = dependencies_.refresher.cache().find(host);
    return found != nullptr && policy.covers(*found) &&
           (may_have_revocable(*found) || offers(*found, policy.room_class) ||
            busy_.contains(host) || (dependencies_.to_be_sold && dependencies_.to_be_sold(host)));
}

bool QosLoop::load_awaited(const HostId& host) const {
    const auto& policy = dependencies_.settings.oversubscription;
    return policy && policy->qos->figures().any() && !seen_.contains(host);
}

Result<CorrectionNeed> QosLoop::needed(const HostId& host) const {
    const auto& policy = dependencies_.settings.oversubscription;
    const bool watched = policy && policy->qos->figures().any();
    if (watched && busy_.contains(host)) return CorrectionNeed{};
    if (watched && !seen_.contains(host))
        return Error{Errc::unreachable, "how busy the host is is not known yet"};
    return CorrectionNeed{Resources{}};
}

void QosLoop::forget() {
    states_.clear();
    known_until_.reset();
    evicted_.clear();
    busy_.clear();
    seen_.clear();
    log_.clear();
}

/// What was shed of a host counts even if no server is left there: one may come.
void QosLoop::forget_unwatched(const OversubscriptionPolicy& policy) {
    const auto gone = [&](const HostId& host) {
        const Host* const found = dependencies_.refresher.cache().find(host);
        return found == nullptr || !policy.covers(*found);
    };
    std::erase_if(states_, [&](const auto& each) { return gone(each.first); });
    busy_.forget_if(gone);
    std::erase_if(seen_, [&](const HostId& host) { return !is_watched(host, policy); });
    log_.forget_if(gone);
}

/// What is measured later does not follow what was measured before.
void QosLoop::interrupt() {
    for (auto& [host, state] : states_) state.in_a_row = 0;
}

ResultTask<std::map<HostId, HostLoad>> QosLoop::loads(const OversubscriptionPolicy& policy,
                                                      std::vector<HostId> hosts) {
    if (policy.configured.qos_source == "nova") {
        auto asked =
            co_await loads_by_nova(dependencies_.cloud, dependencies_.refresher, std::move(hosts));
        co_return std::move(asked);
    }
    if (dependencies_.metrics == nullptr)
        co_return Error{Errc::bad_input,
                        "nothing is measured: there is no oversubscription.prometheus.url"};
    co_return co_await dependencies_.metrics->loads(policy.qos->figures());
}

QosVerdict QosLoop::judge(const Host& host, const HostLoad& load,
                          const OversubscriptionPolicy& policy) {
    HostLoad known = load;
    if (policy.qos->figures().guest_steal) known.guest_steal = worst_of_regular(host, load.guests);
    QosVerdict verdict = policy.qos->look(states_[host.id], known, dependencies_.cloud.clock.now());
    if (!verdict.correction) return verdict;
    verdict.too_busy = true;
    // Figures of a time that began before the last correction have load that went with it.
    const auto& corrected_at = verdict.state.corrected_at;
    if (corrected_at && load.measured_at - load.reach < *corrected_at) {
        verdict.why = "the last correction is still to show: " + verdict.correction->why;
        verdict.correction.reset();
    }
    return verdict;
}

Task<void> QosLoop::look_at(HostId id, const HostLoad& load, Policy policy) {
    const Host* host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) co_return;
    QosVerdict verdict = judge(*host, load, *policy);
    if (policy->qos->figures().guest_steal && host->estimated && verdict.too_busy.value_or(false)) {
        // The guests that wait may be revocable.
        host = co_await read_host(id);
        if (host == nullptr) co_return;
        verdict = judge(*host, load, *policy);
    }
    const TimePoint now = dependencies_.cloud.clock.now();
    states_[id] = verdict.state;
    if (verdict.too_busy) seen_.insert(id);
    log_.look(*host, verdict, busy_.look(id, verdict.too_busy, now));
    if (!may_have_revocable(*host)) {
        if (busy_.contains(id)) log_.left(*host);
        co_return;
    }
    if (!verdict.correction || being_corrected_.contains(id) ||
        dependencies_.corrections.under_way(id))
        co_return;
    if (auto why = dependencies_.corrections.why_busy(id, CorrectionSource::qos); !why.empty()) {
        log_.not_corrected(*host, *verdict.correction, std::move(why));
        co_return;
    }
    if (host->estimated) host = co_await read_host(id);
    if (host == nullptr) co_return;
    const OrderedCorrection ordered =
        dependencies_.corrections.correct(*host, *verdict.correction, CorrectionSource::qos);
    if (ordered.servers == 0)
        log_.not_corrected(*host, *verdict.correction, "no revocable server may go now");
    else
        log_.corrected(*host, *verdict.correction, ordered, dependencies_.settings.dry_run);
}

/// Null if it can't be read, or is gone.
Task<const Host*> QosLoop::read_host(HostId id) {
    std::vector<HostId> ids{id};
    auto read = co_await dependencies_.refresher.read_hosts(std::move(ids), HostDepth::state);
    const Host* const found = dependencies_.refresher.cache().find(id);
    co_return read ? found : nullptr;
}

// ---- what went ----

/// Of the last hour at first, then what the journal has since.
ResultTask<void> QosLoop::know_evictions(ResourceClass room_class) {
    const TimePoint begun = dependencies_.cloud.clock.now();
    const TimePoint since = known_until_
                                ? std::max(*known_until_ - journal_may_lag, begun - load_remembers)
                                : begun - load_remembers;
    // What ends between the two reads is in both, and the record with its end counts.
    auto unfinished = co_await dependencies_.journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    // Those that a former process ordered are not under way in `corrections`.
    for (const RequestRecord& record : *unfinished)
        if (record.request.correction) being_corrected_.insert(record.request.correction->host);
    auto ended = co_await dependencies_.journal.culls_since(since);
    if (!ended) co_return ended.error();
    const TimePoint now = dependencies_.cloud.clock.now();
    std::set<RequestId> told;
    for (const auto* const records : {&*unfinished, &*ended})
        for (const RequestRecord& record : *records) {
            std::vector<EvictedServer>& known = evicted_[record.request.id];
            known = by_this_clock(evicted_servers(record, room_class), known, now);
            told.insert(record.request.id);
        }
    known_until_ = std::min(begun, now);
    // A record that is read again keeps the time that it has here.
    std::erase_if(evicted_, [&](const auto& each) {
        const auto& servers = each.second;
        return !told.contains(each.first) &&
               std::all_of(servers.begin(), servers.end(), [&](const EvictedServer& server) {
                   return server.at < now - load_remembers;
               });
    });
    co_return Result<void>{};
}

void QosLoop::count_evictions() {
    std::map<HostId, std::vector<EvictedServer>> by_host;
    for (const auto& [request, servers] : evicted_)
        for (const EvictedServer& server : servers) by_host[server.host].push_back(server);
    for (const auto& [host, servers] : by_host) states_.try_emplace(host);
    for (auto& [host, state] : states_)
        state = after_evictions(std::move(state), std::move(by_host[host]));
}

void QosLoop::on_clock_step(Duration by) {
    for (auto& [host, state] : states_) state.shift(by);
    for (auto& [request, servers] : evicted_)
        for (EvictedServer& server : servers) server.at += by;
    // The journal's times do not move.
    if (known_until_) *known_until_ += std::min(by, Duration{0});
    busy_.shift(by);
}

}  // namespace reaper
