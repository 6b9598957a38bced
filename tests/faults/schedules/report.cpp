#include "faults/schedules/report.hpp"

#include <cstdio>

namespace reaper::faults {
namespace {

void row(std::string& table, const std::string& what, std::uint64_t number) {
    char line[120];
    std::snprintf(line, sizeof line, "  %-40s %10llu\n", what.c_str(),
                  static_cast<unsigned long long>(number));
    table += line;
}

std::uint64_t of(const Tally& tally, const std::string& rule) {
    const auto at = tally.violations.find(rule);
    return at == tally.violations.end() ? 0 : at->second;
}

}  // namespace

std::string table_of(const Tally& tally, std::uint64_t failed, double elapsed_s) {
    std::string table = "\n";
    row(table, "schedules", tally.schedules);
    row(table, "failed schedules", failed);
    row(table, "crashes", tally.crashes);
    row(table, "schedules with a shared journal", tally.with_shared_journal);
    row(table, "reapers that lost their lease", tally.displaced);
    row(table, "what they tried to write then", tally.fenced);
    row(table, "requests refused by Nova", tally.requests);
    row(table, "calls to the cloud", tally.calls);
    row(table, "deletions", tally.deletions);
    row(table, "deletions whose need was judged", tally.judged);
    row(table, "schedules with the tagger resource", tally.by_class);
    row(table, "plans whose places were judged", tally.places);
    row(table, "... of requests that some hosts refuse", tally.constrained);
    row(table, "times that reserved was set", tally.reserved);
    row(table, "schedules with a gateway", tally.through_gateway);
    row(table, "calls of nova-scheduler through it", tally.searches);
    row(table, "requests that found room after a cull", tally.first_tries_helped);
    row(table, "hosts in answers to searches, judged", tally.told);
    row(table, "claims of it that were judged", tally.claims);
    row(table, "searches that it left", tally.left_searches);
    row(table, "claims that it left", tally.left_claims);
    row(table, "crashes while a search waited", tally.crashes_with_search);
    row(table, "searches that were served then", tally.crashes_serving_search);
    row(table, "crashes while a claim waited", tally.crashes_with_claim);
    row(table, "claims that were served then", tally.crashes_serving_claim);
    row(table, "crashes while victims of either went", tally.crashes_in_cull);
    row(table, "crashes while room was kept", tally.crashes_with_escrow);
    row(table, "changes of what victims hold", tally.kept);
    row(table, "schedules with reservations", tally.with_reservations);
    row(table, "changes of reservations", tally.reservation_writes);
    row(table, "... that released room, judged", tally.reservations_shrunk);
    row(table, "deletions where others have reserved", tally.tenants_judged);
    table += "tenants that went for their lender while\n";
    for (const auto& [race, number] : tally.lender_races) row(table, race, number);
    row(table, "deletions whose notice was judged", tally.notices_kept);
    row(table, "servers that were shelved instead", tally.shelved);
    row(table, "... and brought back by the reaper", tally.returned);
    row(table, "... and still shelved at the end", tally.left_shelved);
    row(table, "failed unshelvings that were asked again", tally.asked_again);
    row(table, "schedules with sold vCPUs", tally.with_sold_room);
    row(table, "rises of what is sold", tally.sold_rises);
    row(table, "falls of it", tally.sold_falls);
    row(table, "hosts left alone, as they went up and down", tally.sold_left_alone);
    row(table, "deletions for their own host", tally.corrected);
    row(table, "... for its load", tally.corrected_for_load);
    table += "requests with a way that found none, by excuse\n";
    for (const auto& [excuse, number] : tally.first_tries_excused) row(table, excuse, number);
    table += "schedules by another order than the default\n";
    for (const auto& [order, number] : tally.orders) row(table, order, number);
    table += "outcomes\n";
    for (const auto& [kind, number] : tally.outcomes) row(table, kind, number);
    table += "safeguards that refused\n";
    for (const auto& [safeguard, number] : tally.safeguards) row(table, safeguard, number);
    table += "freed room\n";
    for (const auto& [kind, number] : tally.freed_rooms) row(table, kind, number);
    table += "faults\n";
    for (std::size_t kind = 0; kind < kinds; ++kind)
        row(table, std::string{name_of(static_cast<Kind>(kind))}, tally.faults[kind]);
    table += "races: after the last look, before the deletion arrived, victims became\n";
    for (const auto& [became, number] : tally.races) row(table, became, number);
    table += "judgement\n";
    row(table, "regular servers killed (rule 1)", tally.regular_killed);
    row(table, "unfit servers killed in all (rule 1)", of(tally, "rule-1"));
    row(table, "killed without effect (rule 2)", of(tally, "rule-2"));
    row(table, "over-evictions (rule 3)", of(tally, "rule-3"));
    row(table, "served twice (rule 4)", of(tally, "rule-4"));
    row(table, "done before written (rule 5)", of(tally, "rule-5"));
    row(table, "acknowledged too early (rule 6)", of(tally, "rule-6"));
    row(table, "killed for a revocable requester (rule 7)", of(tally, "rule-7"));
    row(table, "writes of a dry run (rule 8)", of(tally, "rule-8"));
    row(table, "took too long (rule 9)", of(tally, "rule-9"));
    row(table, "killed while paused", of(tally, "kill-switch"));
    row(table, "killed with the breaker due", of(tally, "breaker"));
    row(table, "killed beyond a limit", of(tally, "limits"));
    row(table, "killed against a policy in force", of(tally, "reload"));
    row(table, "killed without a waiting requester", of(tally, "requester-first"));
    row(table, "results of freed room missing or untrue", of(tally, "freed-room"));
    row(table, "killed where the request may not land", of(tally, "constraint"));
    row(table, "room held wrongly or left held", of(tally, "held-room"));
    row(table, "room kept wrongly or left kept", of(tally, "escrow"));
    row(table, "first tries refused needlessly", of(tally, "first-try"));
    row(table, "promised room taken by others", of(tally, "exclusive-room"));
    row(table, "reserved room released for no request", of(tally, "reserved-room"));
    row(table, "notice not given, not kept or left", of(tally, "notice"));
    row(table, "deleted instead of shelved", of(tally, "shelve"));
    row(table, "shelved, and lost or half", of(tally, "shelved-left"));
    row(table, "tenants that went for strangers", of(tally, "tenant-for-stranger"));
    row(table, "reservations that hold another amount", of(tally, "reservation-lost"));
    row(table, "vCPUs sold that are in use", of(tally, "sold-room"));
    row(table, "killed needlessly for their own host", of(tally, "correction"));
    row(table, "requests lost", of(tally, "lost"));
    row(table, "done without the lease", of(tally, "fence"));
    row(table, "without an end", of(tally, "liveness"));
    row(table, "reaper ended by itself", of(tally, "crash-loop"));
    row(table, "replays that went another way", of(tally, "replay"));
    char line[80];
    std::snprintf(line, sizeof line, "%.1f s, %.1f ms for a schedule\n", elapsed_s,
                  tally.schedules ? elapsed_s * 1000 / static_cast<double>(tally.schedules) : 0.0);
    return table + line;
}

}  // namespace reaper::faults
