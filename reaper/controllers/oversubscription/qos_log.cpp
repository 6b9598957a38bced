#include "reaper/controllers/oversubscription/qos_log.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
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

}  // namespace reaper
