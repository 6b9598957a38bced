// The judgement on notice before the end: no server goes before the time in its metadata, none that
// runs goes without notice, and where one stays its metadata say so.
#include "faults/schedules/checker.hpp"
#include "reaper/model/notice.hpp"

namespace reaper::faults {
namespace {

std::optional<TimePoint> told_end(const cloudsim::Server& server) {
    const auto* const extra = server.extra();
    if (extra == nullptr) return std::nullopt;
    const auto at = extra->metadata.find(evict_at_key);
    return at == extra->metadata.end() ? std::nullopt : parse_time(at->second);
}

}  // namespace

bool Checker::gives_notice(const cloudsim::Request& request) const {
    if (!plan_.with_notice() || plan_.dry_run) return false;
    const bool removes =
        request.method == "DELETE" && request.target.ends_with("/metadata/reaper%3Aevict_at");
    return removes || (request.method == "POST" && request.target.ends_with("/action") &&
                       (request.body.find("os-stop") != std::string::npos ||
                        request.body.find("os-start") != std::string::npos));
}

/// The last end that this journal has of it, with this step.
std::optional<TimePoint> Checker::journaled_end(const test::FakeJournal& journal,
                                                const Uuid& server, Step with) {
    std::optional<TimePoint> end;
    for (const auto& [id, record] : journal.records)
        for (const StepEntry& step : record.steps)
            if (step.step == with && step.server.str() == server.text())
                end = std::max(end, parse_time(step.detail));
    return end;
}

/// As the deletion arrives. Where the reaper's clock was set, the times are not comparable.
void Checker::judge_notice(const Basis& basis, const cloudsim::Server& server) {
    if (!plan_.with_notice() || plan_.has(Kind::clock_step) || basis.forced) return;
    const TimePoint now = timeline_.true_now();
    const auto end = told_end(server);
    ++tally_.notices_kept;
    if (end && now < *end)
        blame("notice", server.id.text() + " is deleted " + std::to_string((*end - now).count()) +
                            " ms before the time in its metadata");
    const bool ran = server.state == cloudsim::VmState::active && basis.look && basis.look->ran;
    if (!ran || end) return;
    const auto journaled = journaled_end(*journals_[basis.machine], server.id, Step::notified);
    if (!journaled || now < *journaled)
        blame("notice", server.id.text() + " runs, and is deleted without notice");
}

/// Where nothing kept the reaper from telling Nova so: only a machine that is gone knows of its own
/// notice.
void Checker::judge_notices_left() {
    if (!plan_.with_notice()) return;
    for (const Item& item : plan_.items)
        if (is_network(item.kind)) return;
    const test::FakeJournal& other = *journals_[1 - machine_];
    for (const cloudsim::Server* const server : site_.world().nova.listed()) {
        const auto end = told_end(*server);
        if (end && !accepted_.contains(server->id) &&
            journaled_end(journal(), server->id, Step::notice_sent) &&
            (&other == &journal() || journaled_end(other, server->id, Step::notice_sent) != end) &&
            server->task == cloudsim::TaskState::none)
            blame("notice", server->id.text() + " stays, and its metadata say that it ends");
    }
}

}  // namespace reaper::faults
