#include "reaper/controllers/qos_log.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

/// A figure that goes up and down around its threshold is one that is above it.
constexpr Duration calm_for = std::chrono::minutes{1};

std::string name_of(const Host& host) {
    return printable(host.name, 64);
}

std::string wanted_of(const HostCorrection& correction) {
    return correction.all ? "all revocable servers must go"
                          : counted(correction.shed_vcpus, "vCPU") + " must go";
}

}  // namespace

void QosLog::look(const Host& host, const QosVerdict& verdict, TimePoint now) {
    if (!verdict.too_busy) return;
    const auto at = busy_.find(host.id);
    if (*verdict.too_busy) {
        if (at != busy_.end()) {
            at->second.calm_since.reset();
            return;
        }
        busy_[host.id].since = now;
        spdlog::info("oversubscription: {} is too busy: {}", name_of(host),
                     verdict.correction ? verdict.correction->why : verdict.why);
        return;
    }
    if (at == busy_.end()) return;
    Busy& busy = at->second;
    if (!busy.calm_since) busy.calm_since = now;
    if (now - *busy.calm_since < calm_for) return;
    spdlog::info("oversubscription: {} is calm again; it was too busy for {}", name_of(host),
                 format_duration(*busy.calm_since - busy.since));
    busy_.erase(at);
}

void QosLog::corrected(const Host& host, const HostCorrection& correction,
                       const OrderedCorrection& ordered, bool dry_run) {
    spdlog::info("oversubscription: {}: {}: {}; {}{} with {} {}", name_of(host), correction.why,
                 wanted_of(correction), dry_run ? "a dry run, would choose " : "",
                 counted(ordered.servers, "server"), counted(ordered.vcpus, "vCPU"),
                 ordered.servers == 1 ? "goes" : "go");
    if (const auto at = busy_.find(host.id); at != busy_.end()) at->second.not_corrected.clear();
}

void QosLog::not_corrected(const Host& host, const HostCorrection& correction, std::string why) {
    Busy& busy = busy_[host.id];
    if (busy.not_corrected == why) return;
    spdlog::info("oversubscription: {}: {}: {}; none goes: {}", name_of(host), correction.why,
                 wanted_of(correction), why);
    busy.not_corrected = std::move(why);
}

void QosLog::left(const Host& host) {
    if (busy_.erase(host.id) > 0)
        spdlog::info("oversubscription: no revocable servers are left on {}, which was too busy",
                     printable(host.name, 64));
}

void QosLog::keep_only(const std::map<HostId, HostLoad>& hosts) {
    std::erase_if(busy_, [&](const auto& each) { return !hosts.contains(each.first); });
}

void QosLog::shift(Duration by) {
    for (auto& [host, busy] : busy_) {
        busy.since += by;
        if (busy.calm_since) *busy.calm_since += by;
    }
}

}  // namespace reaper
