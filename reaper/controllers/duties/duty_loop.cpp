#include "reaper/controllers/duties/duty_loop.hpp"

#include <algorithm>
#include <utility>

#include "reaper/duties/life_span.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

ResultTask<void> DutyLoop::look() {
    const std::uint64_t epoch = dependencies_.serving();
    if (epoch != std::exchange(epoch_, epoch)) {
        watched_.clear();
        culls_known_ = false;
    }
    spdlog::debug("looking for servers that have to go");
    Policy policy = dependencies_.settings.policy;
    // Its scopes or its cooldown may be others.
    if (policy != std::exchange(policy_, policy)) culls_known_ = false;
    if (!may_act()) co_return Result<void>{};
    if (policy->duties.life_span.on()) end_old(policy->duties.life_span);
    if (policy->duties.watermark.marks.empty()) {
        watched_.clear();
        culls_known_ = false;
        co_return Result<void>{};
    }
    co_return co_await keep_free(std::move(policy));
}

bool DutyLoop::may_act() const {
    return epoch_ != 0 && dependencies_.serving() == epoch_ && dependencies_.refresher.built() &&
           !dependencies_.paused();
}

std::vector<DutyScope> DutyLoop::scopes() const {
    return duty_scopes(dependencies_.settings.policy->scheduler,
                       dependencies_.refresher.cache().hosts());
}

/// Calls `visit` with each revocable server that no correction or lock keeps, and its host.
template <class Visit>
void DutyLoop::each_server(const DutyScope& scope, CorrectionSource source, Visit visit) const {
    const auto kept = dependencies_.refresher.kept_by_nova();
    for (const Host* const host : scope.hosts) {
        if (!host->up || dependencies_.corrections.busy(host->id, source)) continue;
        for (const Server& server : host->servers)
            if (server.revocable() && !kept.contains(server.id)) visit(server, *host);
    }
}

/// One correction for each host.
void DutyLoop::order(const std::vector<Going>& all, CorrectionSource source) {
    std::map<HostId, Correction> by_host;
    for (const Going& each : all) {
        Correction& there = by_host[each.host->id];
        there.host = each.host->id;
        there.host_name = each.host->name;
        there.servers.push_back({each.server, each.why});
    }
    for (auto& [host, correction] : by_host)
        dependencies_.corrections.order(std::move(correction), source);
}

// ---- life span ----

/// As many as may end now: those first whose ends are longest ago.
void DutyLoop::end_old(const LifeSpanSettings& settings) {
    constexpr auto source = CorrectionSource::life_span;
    const TimePoint now = dependencies_.clock.now();
    const Duration steady = dependencies_.clock.steady();
    const std::chrono::duration<double, std::ratio<3600>> hours =
        steady - std::exchange(counted_at_, steady);
    const double of_a_minute = std::max(settings.per_hour / 60.0, 1.0);
    may_end_ = std::min(may_end_ + hours.count() * settings.per_hour, of_a_minute);
    std::map<std::pair<TimePoint, ServerId>, Going> ended;  // a host may be in several scopes
    for (const DutyScope& scope : scopes())
        each_server(scope, source, [&](const Server& server, const Host& host) {
            tell_wrong(server, settings);
            const auto span = life_span_of(server, settings);
            if (!span || span->ends_at > now || !dependencies_.corrections.may_go(server, host))
                return;
            ended.try_emplace(
                {span->ends_at, server.id},
                Going{&host, server.id,
                      "its life span of " + exact_duration(span->after) + " (that of " + span->of +
                          ") ended " + format_duration(now - span->ends_at) + " ago"});
        });
    std::vector<Going> going;
    for (auto& [when, each] : ended) {
        if (may_end_ < 1) break;
        may_end_ -= 1;
        going.push_back(std::move(each));
    }
    order(going, source);
}

/// Once for each flavor.
void DutyLoop::tell_wrong(const Server& server, const LifeSpanSettings& settings) {
    constexpr std::size_t most = 1'000;
    const auto wrong = wrong_life_span(server, settings);
    if (!wrong || told_wrong_.size() >= most) return;
    std::string said = "flavor " + printable(server.flavor_name, 64) + " has '" +
                       printable(*wrong, 64) + "' as " + printable(settings.flavor_key);
    if (told_wrong_.contains(said)) return;
    spdlog::warn("life span: {}, which is no duration such as 12h: its servers do not end", said);
    told_wrong_.insert(std::move(said));
}

// ---- watermark ----

ResultTask<void> DutyLoop::keep_free(Policy policy) {
    if (!culls_known_) {
        auto known = co_await know_culls();
        if (!known) co_return known.error();
    }
    if (!may_act() || !cull(policy->duties.watermark, false)) co_return Result<void>{};
    auto read = co_await dependencies_.refresher.rebuild_unless_recent();
    if (!read) co_return read.error();
    // It may be another's, which is not over, or which failed.
    const bool fresh = dependencies_.refresher.build() == dependencies_.refresher.builds_begun();
    if (fresh && may_act() && dependencies_.settings.policy == policy)
        cull(policy->duties.watermark, true);
    co_return Result<void>{};
}

/// The cooldown holds for what was culled before this reaper began to serve, too.
ResultTask<void> DutyLoop::know_culls() {
    const TimePoint now = dependencies_.clock.now();
    const Duration cooldown = dependencies_.settings.policy->duties.watermark.cooldown;
    auto unfinished = co_await dependencies_.journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    auto ended = co_await dependencies_.journal.culls_since(now - cooldown);
    if (!ended) co_return ended.error();
    for (const auto* const records : {&*unfinished, &*ended})
        for (const RequestRecord& record : *records) {
            if (record.request.source != RequestSource::watermark) continue;
            const Duration ago = std::max(now - record.request.sent_at, Duration{});
            for (const DutyScope& scope : scopes()) {
                if (!scope.has(record.request.correction->host)) continue;
                auto& at = watched_[scope.name].culled_at;
                at = std::max(at.value_or(Duration::min()), dependencies_.clock.steady() - ago);
            }
        }
    culls_known_ = true;
    co_return Result<void>{};
}

namespace {

/// `93 % of VCPU in the cloud are used (high mark 90 %, low mark 80 %)`
std::string usage_text(const std::vector<Mark>& marks, const Resources& excess,
                       const DutyScope& scope, const Ledger& ledger) {
    std::string text;
    for (const Mark& mark : marks) {
        if (excess.get(mark.resource_class) <= 0) continue;
        const Usage usage = usage_of(mark.resource_class, scope.hosts, ledger);
        text += (text.empty() ? "" : ", ") + std::to_string(usage.used * 100 / usage.capacity) +
                " % of " + mark.resource_class.str() + " in " + printable(scope.name) +
                " are used (high mark " + std::to_string(mark.high) + " %, low mark " +
                std::to_string(mark.low) + " %)";
    }
    return text;
}

}  // namespace

std::vector<WatermarkCandidate> DutyLoop::candidates(const DutyScope& scope) const {
    std::vector<WatermarkCandidate> all;
    each_server(scope, CorrectionSource::watermark, [&](const Server& server, const Host& host) {
        // The room of a tenant goes back to its reservation: as much is used as before.
        if (dependencies_.ledger.reserved().lender_of(server.id) != nullptr) return;
        if (takes_servers(host) && dependencies_.corrections.may_go(server, host))
            all.push_back({server.id, &host, start_of(server), held_on(server, host)});
    });
    return all;
}

/// The limit of a request bounds the whole cull.
void DutyLoop::begin_cull(const std::vector<WatermarkCandidate>& chosen, const std::string& why,
                          const std::string& needed) {
    const int most = dependencies_.settings.policy->safeguards.limits.victims_per_request;
    std::vector<Going> going;
    for (const auto& each : chosen)
        if (most <= 0 || going.size() < static_cast<std::size_t>(most))
            going.push_back({each.host, each.server, why});
    const std::string now_go = std::to_string(most) + " go now (limits.victims_per_request)";
    spdlog::info(
        "watermark: {}{}{} chosen{}", needed, dependencies_.settings.dry_run ? "a dry run: " : "",
        counted(chosen.size(), "server"), going.size() < chosen.size() ? "; " + now_go : "");
    order(going, CorrectionSource::watermark);
}

/// True if something has to go; `really`: it does.
bool DutyLoop::cull(const WatermarkSettings& settings, bool really) {
    bool any = false;
    for (const DutyScope& scope : scopes()) {
        Watched& watched = watched_[scope.name];
        const Resources excess =
            excess_of(settings.marks, scope.hosts, dependencies_.ledger, watched.over);
        if (excess.empty()) watched.told_none = false;
        const Duration now = dependencies_.clock.steady();
        if (excess.empty() || (watched.culled_at && now - *watched.culled_at < settings.cooldown))
            continue;
        const auto chosen = choose_for(excess, candidates(scope));
        const std::string why = usage_text(settings.marks, excess, scope, dependencies_.ledger);
        const std::string needed = why + ": " + amounts_text(excess) + " must come free; ";
        if (chosen.empty()) {
            if (!std::exchange(watched.told_none, true))
                spdlog::warn("watermark: {}no revocable server may go now", needed);
            continue;
        }
        any = true;
        if (!really) continue;
        watched.told_none = false;
        watched.culled_at = now;
        begin_cull(chosen, why, needed);
    }
    return any;
}

}  // namespace reaper
