#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/api/settled_query.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::api {

// What is asked of the journal over the API, and where a page of it begins.

/// Where a page of entries without an id of their own begins: `seen` of those at that time were on
/// the pages before, as was all that is later. What is written meanwhile moves no page.
struct TimeMarker {
    std::optional<TimePoint> at;  ///< none: the first page
    std::size_t seen = 0;
};

/// After these lines of a page, newest first and at least one, which `former` began.
template <class Lines>
TimeMarker marker_after(const Lines& lines, const TimeMarker& former) {
    TimeMarker next{lines.back().at, 0};
    for (const auto& line : lines) next.seen += line.at == *next.at ? 1 : 0;
    if (former.at == next.at) next.seen += former.seen;
    return next;
}

namespace {

constexpr std::string_view unfinished_ones = "none";
constexpr int most_at_one_time = 1'000'000;

Error bad(const std::string& why) {
    return Error{Errc::bad_input, why};
}

}  // namespace

/// `since`: a time, or how long ago; none: from the beginning. `bad_input` for anything else.
Result<std::optional<TimePoint>> since_of(const Query& query, Clock* clock) {
    const std::string& since = query.text("since");
    if (since.empty()) return std::optional<TimePoint>{};
    std::optional<TimePoint> at = parse_time_or_date(since);
    const auto ago = parse_duration(since);
    if (ago && clock != nullptr) at = clock->now() - *ago;
    if (at) return at;
    return bad("since: expected a time or a duration, such as 2024-05-01T12:00:00Z or 2h; found " +
               in_quotes(since));
}

/// The filters that are there: outcome, project, flavor, host, server, since, until. `bad_input`
/// names the one that is not understood.
Result<JournalQuery> journal_query_of(const Query& query, Clock* clock) {
    JournalQuery asked;
    asked.patient = true;
    asked.project = query.text("project");
    asked.flavor = query.text("flavor");
    asked.host = query.text("host");
    asked.server = query.text("server");
    const std::string& outcome = query.text("outcome");
    asked.under_way = outcome == unfinished_ones;
    if (!outcome.empty() && !asked.under_way) {
        asked.outcome = outcome_kind_from(outcome);
        if (!asked.outcome)
            return bad("outcome: there is no " + in_quotes(outcome) +
                       "; expected one such as freed, not-enough or refused, or none");
    }
    if (const std::string& planned = query.text("planned"); !planned.empty()) {
        asked.planned = planned == "true";
        if (!asked.planned && planned != "false")
            return bad("planned: expected true or false, found " + in_quotes(planned));
    }
    if (const std::string& until = query.text("until"); !until.empty()) {
        asked.until = parse_time_or_date(until);
        if (!asked.until)
            return bad("until: expected a time such as 2024-05-01T12:00:00Z, found " +
                       in_quotes(until));
    }
    auto since = since_of(query, clock);
    if (!since) return since.error();
    asked.since = *since;
    if (asked.since && asked.until && *asked.since >= *asked.until)
        return bad("since: must be before until; a duration counts from now");
    return asked;
}

/// `2024-05-01T12:00:00.000Z~2`; empty: the first page. `bad_input` for anything else.
Result<TimeMarker> time_marker_of(const std::string& text) {
    if (text.empty()) return TimeMarker{};
    const std::size_t mark = text.find('~');
    const auto at = parse_time_or_date(text.substr(0, mark));
    std::size_t seen = 0;
    bool counted = mark != std::string::npos && mark + 1 < text.size() && text.size() - mark < 9;
    for (std::size_t i = mark + 1; counted && i < text.size(); ++i) {
        counted = text[i] >= '0' && text[i] <= '9';
        seen = seen * 10 + static_cast<std::size_t>(text[i] - '0');
    }
    if (at && counted && seen <= most_at_one_time) return TimeMarker{at, seen};
    return bad("marker: " + in_quotes(text) + " is of no page; follow the link of the page before");
}

std::string to_string(const TimeMarker& marker) {
    return marker.at ? iso_time(*marker.at) + "~" + std::to_string(marker.seen) : std::string{};
}

/// Only what the marker leaves.
void narrow(JournalQuery& query, const TimeMarker& marker) {
    if (!marker.at) return;
    const TimePoint before = *marker.at + Duration{1};
    query.until = query.until ? std::min(*query.until, before) : before;
    query.skip = static_cast<int>(marker.seen);
}

namespace {

using nlohmann::json;

constexpr std::size_t usual_lines = 100;
constexpr std::size_t most_lines = 1000;  ///< in one answer

/// The page with its link to the next one. `lines`: one more than the page has, if there is one.
template <class Lines>
json page_of_lines(const ApiRequest& request, const char* name, Lines lines, const PageAsked& page,
                   const TimeMarker& former) {
    const bool more = lines.size() > page.limit;
    if (more) lines.pop_back();
    json links = more ? next_link(request, to_string(marker_after(lines, former))) : json::array();
    return {{name, report::array_of(lines)}, {std::string{name} + "_links", std::move(links)}};
}

/// With what the cloud could not be asked about, if there is any.
HttpResponse with_remarks(json body, const SettledQuery& settled) {
    if (!settled.not_asked.empty()) body["remarks"] = settled.not_asked;
    return answered(std::move(body));
}

/// Names those projects that the journal has no names of.
template <class Lines>
void name_projects(const Backend& backend, Lines& lines) {
    const auto view = backend.daemon.view();
    if (!view) return;
    for (auto& line : lines) add_names(view->cache.project_names(), line);
}

void name_projects(const Backend&, std::vector<MessageEntry>&) {}
void name_projects(const Backend&, std::vector<JournalEvent>&) {}

/// What the journal knows of the names in the query, or the other one.
ResultTask<KnownValues> known_in(const Backend& backend, JournalQuery query) {
    KnownValues nothing_named;
    if (query.project.empty() && query.host.empty() && query.flavor.empty())
        co_return nothing_named;
    JournalQuery same = query;
    auto known = co_await backend.journal.known_values(std::move(same));
    if (!known || backend.also == nullptr) co_return known;
    const ProjectId id{query.project};
    const auto other = co_await backend.also->known_values(std::move(query));
    if (!other) {
        backend.also_unread(other.error());
        co_return known;
    }
    known->host = known->host || other->host;
    known->flavor = known->flavor || other->flavor;
    std::set<ProjectId> projects{known->projects.begin(), known->projects.end()};
    projects.insert(other->projects.begin(), other->projects.end());
    // An id goes before a name.
    if (projects.contains(id)) projects = {id};
    known->projects.assign(projects.begin(), projects.end());
    co_return known;
}

/// What the query names is found; else why it is not.
Task<std::variant<SettledQuery, HttpResponse>> settled(const Backend& backend, JournalQuery query) {
    using Settled = std::variant<SettledQuery, HttpResponse>;
    const JournalQuery asked = query;
    if (backend.clock != nullptr)
        if (auto kept = backend.settled->find(asked, backend.clock->steady()))
            co_return Settled{SettledQuery{std::move(*kept)}};
    const auto known = co_await known_in(backend, std::move(query));
    if (!known) co_return Settled{not_readable(known.error())};
    const WhoKnows cloud{backend.identity, backend.compute};
    SettledQuery found = co_await settle(asked, *known, cloud);
    if (!found.not_asked.empty() && backend.connect) {
        const WhoKnows connected = backend.connect();
        found = co_await settle(asked, *known, connected);
    }
    if (found.ambiguous) co_return Settled{refuse(400, "project: " + *found.ambiguous)};
    if (found.unknown) co_return Settled{refuse(404, *found.unknown)};
    const bool keeps = found.not_asked.empty() || backend.connect;
    if (backend.clock != nullptr && keeps)
        backend.settled->keep(asked, found.query, backend.clock->steady());
    co_return Settled{std::move(found)};
}

/// Of both journals, the newest first.
ResultTask<std::vector<VictimEntry>> find_victims(const Backend& backend, JournalQuery query) {
    if (backend.also == nullptr) co_return co_await backend.journal.find_victims(std::move(query));
    const int skipped = std::exchange(query.skip, 0);
    query.limit += skipped;
    const auto most = static_cast<std::size_t>(query.limit);
    JournalQuery same = query;
    auto victims = co_await backend.journal.find_victims(std::move(same));
    if (!victims) co_return victims;
    auto others = co_await backend.also->find_victims(std::move(query));
    if (others)
        std::move(others->begin(), others->end(), std::back_inserter(*victims));
    else
        backend.also_unread(others.error());
    std::stable_sort(victims->begin(), victims->end(),
                     [](const VictimEntry& a, const VictimEntry& b) { return a.at > b.at; });
    if (victims->size() > most) victims->resize(most);
    const auto first = std::min(static_cast<std::ptrdiff_t>(victims->size()),
                                static_cast<std::ptrdiff_t>(skipped));
    victims->erase(victims->begin(), victims->begin() + first);
    co_return victims;
}

const std::vector<std::string_view> filters{"limit",  "marker", "outcome", "project", "host",
                                            "flavor", "server", "since",   "until"};
const std::vector<std::string_view> victim_filters{"limit", "marker", "outcome", "project",
                                                   "host",  "flavor", "server",  "since",
                                                   "until", "planned"};
const std::vector<std::string_view> only_times{"limit", "marker", "since", "until"};

/// Of what begins at `since`.
HttpResponse not_found_out(Error error) {
    if (error.code == Errc::timeout) error.what += ": narrow `since`";
    return not_readable(error);
}

/// Victims, messages, events: `find` asks the journal for them.
template <class Find>
Task<HttpResponse> list_by_time(const Backend& backend, ApiRequest request,
                                std::vector<std::string_view> parameters, const char* name,
                                Find find) {
    const Query query{request, parameters};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, usual_lines, most_lines);
    if (!page) co_return refuse(400, page.error().what);
    const auto marker = time_marker_of(page->marker);
    if (!marker) co_return refuse(400, marker.error().what);
    auto asked = journal_query_of(query, backend.clock);
    if (!asked) co_return refuse(400, asked.error().what);
    auto named = co_await settled(backend, std::move(*asked));
    if (auto* const refused = std::get_if<HttpResponse>(&named)) co_return std::move(*refused);
    const SettledQuery& known = std::get<SettledQuery>(named);
    JournalQuery wanted = known.query;
    narrow(wanted, *marker);
    wanted.limit = static_cast<int>(page->limit) + 1;
    auto found = co_await find(std::move(wanted));
    if (!found) co_return not_found_out(found.error());
    name_projects(backend, *found);
    json body = page_of_lines(request, name, std::move(*found), *page, *marker);
    co_return with_remarks(std::move(body), known);
}

}  // namespace

Task<HttpResponse> list_requests(const Backend& backend, ApiRequest request) {
    const Query query{request, filters};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, usual_lines, most_lines);
    if (!page) co_return refuse(400, page.error().what);
    auto asked = journal_query_of(query, backend.clock);
    if (!asked) co_return refuse(400, asked.error().what);
    auto named = co_await settled(backend, std::move(*asked));
    if (auto* const refused = std::get_if<HttpResponse>(&named)) co_return std::move(*refused);
    const SettledQuery& known = std::get<SettledQuery>(named);
    JournalQuery wanted = known.query;
    wanted.after = page->marker;
    wanted.limit = static_cast<int>(page->limit) + 1;
    auto found = co_await backend.journal.find_requests(std::move(wanted));
    if (!found && found.error().code == Errc::not_found)
        co_return refuse(400, "marker: " + found.error().what);
    if (!found) co_return not_found_out(found.error());
    const bool more = found->size() > page->limit;
    if (more) found->pop_back();
    name_projects(backend, *found);
    json links = more ? next_link(request, found->back().request.id.str()) : json::array();
    json body = {{"requests", report::array_of(*found)}, {"requests_links", std::move(links)}};
    co_return with_remarks(std::move(body), known);
}

Task<HttpResponse> list_victims(const Backend& backend, ApiRequest request) {
    return list_by_time(
        backend, std::move(request), victim_filters, "victims",
        [&backend](JournalQuery wanted) { return find_victims(backend, std::move(wanted)); });
}

Task<HttpResponse> list_messages(const Backend& backend, ApiRequest request) {
    return list_by_time(backend, std::move(request), only_times, "messages",
                        [&backend](JournalQuery wanted) {
                            return backend.journal.find_messages(std::move(wanted));
                        });
}

Task<HttpResponse> list_journal_events(const Backend& backend, ApiRequest request) {
    return list_by_time(
        backend, std::move(request), only_times, "events",
        [&backend](JournalQuery wanted) { return backend.journal.find_events(std::move(wanted)); });
}

Task<HttpResponse> get_totals(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto since = since_of(query, backend.clock);
    if (!since) co_return refuse(400, since.error().what);
    const TimePoint from = since->value_or(TimePoint{});
    auto totals = co_await backend.journal.totals(from);
    if (!totals) co_return not_found_out(totals.error());
    auto holds = co_await backend.journal.holds();
    if (!holds) co_return not_readable(holds.error());
    co_return answered({{"since", iso_time(from)},
                        {"totals", report::to_json(*totals)},
                        {"holds", report::array_of(*holds)}});
}

namespace {

constexpr std::size_t usual_slots = 48;
constexpr std::size_t most_slots = 1000;
constexpr std::chrono::hours usual_span{24};

template <class Counts>
json counts_json(const Counts& counts) {
    json made = json::object();
    for (const auto& [kind, number] : counts) made[std::string{to_string(kind)}] = number;
    return made;
}

}  // namespace

Task<HttpResponse> get_timeline(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since", "limit"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, usual_slots, most_slots);
    if (!page) co_return refuse(400, page.error().what);
    const auto asked = since_of(query, backend.clock);
    if (!asked) co_return refuse(400, asked.error().what);
    const auto number = static_cast<std::int64_t>(page->limit);
    const TimePoint now = backend.clock->now();
    const TimePoint since = asked->value_or(now - usual_span);
    // Rounded up: the last slot ends no earlier than now.
    const Duration slot =
        std::max((now - since + Duration{number - 1}) / number, Duration{std::chrono::seconds{1}});
    const auto timeline = co_await backend.journal.timeline(since, slot);
    if (!timeline) co_return not_found_out(timeline.error());
    json slots = json::array();
    for (std::int64_t i = 0; i < number; ++i) {
        const auto at = timeline->find(i);
        const TimelineSlot there = at == timeline->end() ? TimelineSlot{} : at->second;
        slots.push_back({{"at", iso_time(since + slot * i)},
                         {"outcomes", counts_json(there.outcomes)},
                         {"victims", there.victims},
                         {"freed_room", counts_json(there.freed_rooms)},
                         {"waited_for", there.waited_for},
                         {"first_tries", there.first_tries}});
    }
    co_return answered({{"since", iso_time(since)},
                        {"until", iso_time(now)},
                        {"slot_seconds", std::chrono::duration<double>(slot).count()},
                        {"slots", std::move(slots)}});
}

Task<HttpResponse> get_request(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    RequestId id{request.id};
    auto record = co_await backend.journal.record(std::move(id));
    if (!record) co_return not_readable(record.error());
    if (!*record) co_return refuse(404, "the journal knows no request " + in_quotes(request.id));
    if (const auto view = backend.daemon.view()) add_names(view->cache.project_names(), **record);
    co_return answered(report::to_json(**record));
}

namespace {

/// Of a server of the cloud, by its id or name; else why there is no explanation.
HttpResponse never_chosen(const Backend& backend, const std::string& asked) {
    if (const auto view = backend.daemon.view())
        for (const Host* const host : view->cache.hosts())
            for (const Server& server : host->servers)
                if (server.id.str() == asked || is_name(asked, server.name))
                    return answered(
                        {{"asked", asked},
                         {"server", server.id.str()},
                         {"name", server.name},
                         {"host", host->service_host},
                         {"never_chosen",
                          report::why_never_chosen(server, *host, view->policy.protection)}});
    return refuse(404, report::not_explained(asked));
}

}  // namespace

Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    std::string asked = request.id;
    auto told = co_await report::find_explanation(backend.journal, std::move(asked));
    if (!told) co_return not_readable(told.error());
    if (!*told) co_return never_chosen(backend, request.id);
    if (const auto view = backend.daemon.view())
        report::add_names(view->cache.project_names(), **told);
    co_return answered(report::to_json(**told));
}

}  // namespace reaper::api
