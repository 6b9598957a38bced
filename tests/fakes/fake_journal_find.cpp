// What is looked for in the journal in memory.
#include <algorithm>
#include <limits>
#include <set>

#include "fakes/fake_journal.hpp"
#include "reaper/model/text.hpp"

namespace reaper::test {
namespace {

template <class Chosen>
void each_chosen(const RequestRecord& record, const Chosen& chosen) {
    for (const auto& entry : record.plans)
        if (const auto* const plan = std::get_if<Plan>(&entry.decision))
            for (const auto& victim : plan->victims()) chosen(victim);
}

/// What dry runs planned; the oldest first.
std::vector<VictimEntry> planned_victims(const std::map<RequestId, RequestRecord>& records) {
    std::vector<VictimEntry> planned;
    for (const auto& [id, record] : records) {
        if (!record.outcome || record.outcome->kind != OutcomeKind::dry_run) continue;
        each_chosen(record, [&, &id = id, &record = record](const Victim& victim) {
            planned.push_back({record.outcome->at, id, victim.server, victim.name, victim.project,
                               victim.host, victim.project_name});
        });
    }
    std::stable_sort(planned.begin(), planned.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return planned;
}

bool in_time(const JournalQuery& query, TimePoint at) {
    return (!query.since || at >= *query.since) && (!query.until || at < *query.until);
}

bool ended_so(const JournalQuery& query, const std::optional<Outcome>& outcome) {
    if (query.under_way) return !outcome;
    return !query.outcome || (outcome && outcome->kind == *query.outcome);
}

bool concerns(const JournalQuery& query, const RequestRecord& record) {
    const std::string& host = query.host;
    const std::string& server = query.server;
    const auto victims = victims_of(record);
    if (!host.empty() && std::none_of(victims.begin(), victims.end(),
                                      [&](const auto& each) { return each.host == host; }))
        return false;
    bool named = server.empty();
    for (const auto& requester : record.request.requesters)
        named = named || requester.str() == server;
    for (const auto& [id, name] : record.request.requester_names)
        named = named || is_name(server, name);
    each_chosen(record, [&](const Victim& each) {
        named = named || each.server.str() == server || is_name(server, each.name);
    });
    return named && record.request.id.str().starts_with(query.id_begins) &&
           in_time(query, record.received_at) && ended_so(query, record.outcome) &&
           (query.project.empty() || record.request.project.str() == query.project) &&
           (query.flavor.empty() || record.request.flavor == query.flavor);
}

template <class Things>
void cut(Things& things, int limit, int skip = 0) {
    const auto left_out = std::min(static_cast<std::size_t>(std::max(skip, 0)), things.size());
    things.erase(things.begin(), things.begin() + static_cast<std::ptrdiff_t>(left_out));
    const auto most = static_cast<std::size_t>(std::max(limit, 0));
    if (things.size() > most) things.erase(things.begin() + limit, things.end());
}

/// Of a time, newest first.
template <class Things>
Things looked_for(const Things& oldest_first, const JournalQuery& query) {
    Things found{oldest_first.rbegin(), oldest_first.rend()};
    std::erase_if(found, [&](const auto& each) { return !in_time(query, each.at); });
    cut(found, query.limit, query.skip);
    return found;
}

}  // namespace

ResultTask<std::vector<RequestSummary>> FakeJournal::find_requests(JournalQuery query) {
    impatient += query.patient ? 0 : 1;
    auto lines = co_await list(std::numeric_limits<int>::max());
    if (!lines) co_return lines;
    if (!query.after.empty()) {
        const auto marker = std::find_if(
            lines->begin(), lines->end(),
            [&](const RequestSummary& line) { return line.request.id.str() == query.after; });
        if (marker == lines->end())
            co_return Error{Errc::not_found, "the journal knows no request '" + query.after + "'"};
        lines->erase(lines->begin(), marker + 1);
    }
    std::erase_if(*lines, [&](const RequestSummary& line) {
        return !concerns(query, records.at(line.request.id));
    });
    cut(*lines, query.limit, query.skip);
    co_return lines;
}

ResultTask<std::vector<VictimEntry>> FakeJournal::find_victims(JournalQuery query) {
    impatient += query.patient ? 0 : 1;
    constexpr TimePoint always{};
    auto victims = co_await victims_since(always);
    if (!victims) co_return victims;
    if (query.planned) *victims = planned_victims(records);
    std::erase_if(*victims, [&](const VictimEntry& victim) {
        const RequestRecord& record = records.at(victim.request);
        bool flavor = query.flavor.empty();
        each_chosen(record, [&](const Victim& each) {
            flavor = flavor || (each.server == victim.server && each.flavor == query.flavor);
        });
        return !flavor || !in_time(query, victim.at) || !ended_so(query, record.outcome) ||
               (!query.project.empty() && victim.project.str() != query.project) ||
               (!query.host.empty() && victim.host != query.host) ||
               (!query.server.empty() && victim.server.str() != query.server &&
                !is_name(query.server, victim.name));
    });
    std::reverse(victims->begin(), victims->end());
    cut(*victims, query.limit, query.skip);
    co_return victims;
}

ResultTask<std::vector<MessageEntry>> FakeJournal::find_messages(JournalQuery query) {
    impatient += query.patient ? 0 : 1;
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    co_return looked_for(notes, query);
}

ResultTask<std::vector<JournalEvent>> FakeJournal::find_events(JournalQuery query) {
    impatient += query.patient ? 0 : 1;
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    if (events_fail) co_return *events_fail;
    auto marks = noted_marks;
    std::erase_if(marks, [&](const JournalEvent& each) {
        return !query.kind.empty() && each.kind != query.kind;
    });
    co_return looked_for(marks, query);
}

ResultTask<KnownValues> FakeJournal::known_values(JournalQuery query) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    KnownValues known;
    known.host = query.host.empty();
    known.flavor = query.flavor.empty();
    std::set<ProjectId> by_id, by_name;
    const auto look = [&](const auto& each) {
        if (each.project.str() == query.project) by_id.insert(each.project);
        if (each.project_name == query.project) by_name.insert(each.project);
        known.flavor = known.flavor || each.flavor == query.flavor;
    };
    for (const auto& entry : records) {
        look(entry.second.request);
        each_chosen(entry.second, [&](const Victim& each) {
            look(each);
            known.host = known.host || each.host == query.host;
        });
    }
    const auto& found = by_id.empty() ? by_name : by_id;
    if (!query.project.empty()) known.projects.assign(found.begin(), found.end());
    co_return known;
}

ResultTask<std::vector<ChosenServer>> FakeJournal::chosen(std::string server, int limit) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<ChosenServer> found;
    for (const auto& entry : records) {
        const RequestRecord& record = entry.second;
        std::map<ServerId, ChosenServer> of_request;
        each_chosen(record, [&](const Victim& each) {
            if (each.server.str() == server || is_name(server, each.name))
                of_request[each.server] = {record.request.id, record.received_at, each.server,
                                           each.name,         each.project,       each.host};
        });
        for (auto& [victim, one] : of_request) found.push_back(std::move(one));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.received_at > b.received_at; });
    cut(found, limit);
    co_return found;
}

}  // namespace reaper::test
