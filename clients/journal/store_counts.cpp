// The store's reading side: who died, what the reaper did to itself, and how much of everything.
#include <algorithm>

#include "clients/journal/store.hpp"

namespace reaper::journal {
namespace {

// A deletion counts from its first sending that no sparing took back. The words stand here as they
// stand in the condition of the index.
constexpr const char* victims_sql = R"sql(
SELECT sent.at, request.id, sent.server, chosen.name, chosen.project, chosen.host
FROM step AS sent
JOIN request ON request.seq = sent.request
LEFT JOIN chosen ON chosen.request = sent.request AND chosen.server = sent.server
WHERE sent.step IN ('delete-sent', 'force-delete-sent') AND sent.at >= ?1
  AND NOT EXISTS (SELECT 1 FROM step AS later
                  WHERE later.request = sent.request AND later.server = sent.server
                    AND later.step = 'spared' AND later.seq > sent.seq)
  AND NOT EXISTS (SELECT 1 FROM step AS earlier
                  WHERE earlier.request = sent.request AND earlier.server = sent.server
                    AND earlier.step IN ('delete-sent', 'force-delete-sent')
                    AND earlier.seq < sent.seq
                    AND NOT EXISTS (SELECT 1 FROM step AS taken_back
                                    WHERE taken_back.request = sent.request
                                      AND taken_back.server = sent.server
                                      AND taken_back.step = 'spared'
                                      AND taken_back.seq > earlier.seq))
ORDER BY sent.at, sent.seq)sql";

}  // namespace

Result<std::vector<VictimEntry>> Store::victims_since(TimePoint since) {
    std::vector<VictimEntry> victims;
    auto select = database_.statement(victims_sql);
    select.bind(1, since);
    while (select.step())
        victims.push_back({select.time(0), RequestId{select.text(1)}, ServerId{select.text(2)},
                           select.text(3), ProjectId{select.text(4)}, select.text(5)});
    return victims;
}

Result<std::vector<Mark>> Store::marks(int limit) {
    std::vector<Mark> marks;
    auto select =
        database_.statement("SELECT kind, reason, at FROM mark ORDER BY seq DESC LIMIT ?1");
    select.bind(1, std::int64_t{std::clamp(limit, 0, max_rows_listed)});
    while (select.step()) marks.push_back({select.text(0), select.text(1), select.time(2)});
    return marks;
}

std::map<std::string, std::int64_t> Store::counts(const char* sql, TimePoint since) {
    std::map<std::string, std::int64_t> counted;
    auto select = database_.statement(sql);
    select.bind(1, since);
    while (select.step()) counted[select.text(0)] = select.number(1);
    return counted;
}

Result<JournalTotals> Store::totals(TimePoint since) {
    // One moment of the file for all counts, also while a reaper writes.
    const Transaction reading{database_, Transaction::Kind::read};
    JournalTotals totals;
    for (const auto& [word, number] :
         counts("SELECT outcome, count(*) FROM request WHERE finished_at >= ?1 GROUP BY outcome",
                since))
        totals.outcomes[outcome_kind_from(word).value_or(OutcomeKind::failed)] += number;
    for (const auto& [word, number] :
         counts("SELECT aftermath, count(*) FROM request WHERE aftermath_at >= ?1 "
                "GROUP BY aftermath",
                since))
        totals.aftermaths[aftermath_kind_from(word).value_or(AftermathKind::wasted)] += number;
    totals.brakes = counts(
        "SELECT brake, count(*) FROM request WHERE finished_at >= ?1 AND brake <> '' "
        "GROUP BY brake",
        since);
    totals.messages =
        counts("SELECT verdict, count(*) FROM message WHERE at >= ?1 GROUP BY verdict", since);
    totals.marks = counts("SELECT kind, count(*) FROM mark WHERE at >= ?1 GROUP BY kind", since);
    auto open = database_.statement("SELECT count(*) FROM request WHERE finished_at IS NULL");
    totals.under_way = open.step() ? open.number(0) : 0;
    const auto victims = victims_since(since);
    totals.victims = static_cast<std::int64_t>(victims->size());
    return totals;
}

}  // namespace reaper::journal
