// The store's reading side: deleted servers, events, totals.
#include <algorithm>

#include "clients/journal/store.hpp"

namespace reaper::journal {
namespace {

// A deletion counts from its first sending that no skipping took back. The words stand here as they
// stand in the condition of the index.
constexpr const char* victims_sql = R"sql(
SELECT sent.at, request.id, sent.server, chosen.name, chosen.project, chosen.host,
       chosen.project_name
FROM step AS sent
JOIN request ON request.seq = sent.request
LEFT JOIN chosen ON chosen.request = sent.request AND chosen.server = sent.server
WHERE sent.step IN ('delete-sent', 'force-delete-sent') AND sent.at >= ?1
  AND NOT EXISTS (SELECT 1 FROM step AS later
                  WHERE later.request = sent.request AND later.server = sent.server
                    AND later.step = 'skipped' AND later.seq > sent.seq)
  AND NOT EXISTS (SELECT 1 FROM step AS earlier
                  WHERE earlier.request = sent.request AND earlier.server = sent.server
                    AND earlier.step IN ('delete-sent', 'force-delete-sent')
                    AND earlier.seq < sent.seq
                    AND NOT EXISTS (SELECT 1 FROM step AS taken_back
                                    WHERE taken_back.request = sent.request
                                      AND taken_back.server = sent.server
                                      AND taken_back.step = 'skipped'
                                      AND taken_back.seq > earlier.seq))
ORDER BY sent.at, sent.seq)sql";

}  // namespace

Result<std::vector<VictimEntry>> Store::victims_since(TimePoint since) {
    std::vector<VictimEntry> victims;
    auto select = database_.statement(victims_sql);
    select.bind(1, since);
    while (select.step())
        victims.push_back({select.time(0), RequestId{select.text(1)}, ServerId{select.text(2)},
                           select.text(3), ProjectId{select.text(4)}, select.text(5),
                           select.text(6)});
    return victims;
}

Result<std::vector<JournalEvent>> Store::events(int limit) {
    JournalQuery query;
    query.limit = limit;
    return find_events(query);
}

std::map<std::string, std::int64_t> Store::counts(const char* sql, TimePoint since) {
    std::map<std::string, std::int64_t> counted;
    auto select = database_.statement(sql);
    select.bind(1, since);
    while (select.step()) counted[select.text(0)] = select.number(1);
    return counted;
}

Result<JournalTotals> Store::totals(TimePoint since) {
    // One state of the file for all counts, also while a reaper writes.
    const Transaction reading{database_, Transaction::Kind::read};
    JournalTotals totals;
    for (const auto& [word, number] :
         counts("SELECT outcome, count(*) FROM request WHERE finished_at >= ?1 GROUP BY outcome",
                since))
        totals.outcomes[outcome_kind_from(word).value_or(OutcomeKind::failed)] += number;
    for (const auto& [word, number] :
         counts("SELECT freed_room, count(*) FROM request WHERE freed_room_at >= ?1 "
                "GROUP BY freed_room",
                since))
        totals
            .freed_rooms[freed_room_result_kind_from(word).value_or(FreedRoomResultKind::wasted)] +=
            number;
    totals.safeguards = counts(
        "SELECT safeguard, count(*) FROM request WHERE finished_at >= ?1 AND safeguard <> '' "
        "GROUP BY safeguard",
        since);
    totals.messages =
        counts("SELECT verdict, count(*) FROM message WHERE at >= ?1 GROUP BY verdict", since);
    totals.events = counts("SELECT kind, count(*) FROM event WHERE at >= ?1 GROUP BY kind", since);
    auto open = database_.statement("SELECT count(*) FROM request WHERE finished_at IS NULL");
    totals.under_way = open.step() ? open.number(0) : 0;
    const auto victims = victims_since(since);
    totals.victims = static_cast<std::int64_t>(victims->size());
    return totals;
}

}  // namespace reaper::journal
