#include "reaper/api/history.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

constexpr std::size_t usual_requests = 100;
constexpr std::size_t most_requests = 1000;  ///< in one answer
/// Requests that are looked at for one answer: the journal writes nothing meanwhile.
constexpr int most_looked_at = 20'000;
constexpr int first_look = 256;

constexpr std::string_view unfinished_ones = "none";

struct Filter {
    std::optional<OutcomeKind> outcome;
    bool unfinished = false;
    std::string project, flavor, server;
    std::optional<TimePoint> since, until;
    std::optional<std::set<RequestId>> on_host;  ///< servers were deleted there for these
    std::set<RequestId> chose_server;            ///< plans of these chose it

    bool wants(const RequestSummary& line) const {
        if (unfinished && line.outcome) return false;
        if (outcome && (!line.outcome || line.outcome->kind != *outcome)) return false;
        if (!project.empty() && line.request.project.str() != project) return false;
        if (!flavor.empty() && line.request.flavor != flavor) return false;
        if (!server.empty() && !is_about_server(line.request)) return false;
        if (since && line.received_at < *since) return false;
        if (until && line.received_at >= *until) return false;
        return !on_host || on_host->contains(line.request.id);
    }
    bool is_about_server(const Request& request) const {
        const auto& waiting = request.requesters;
        return chose_server.contains(request.id) ||
               std::find(waiting.begin(), waiting.end(), ServerId{server}) != waiting.end();
    }
};

/// `since`: a time, or how long ago; none: from the beginning.
Result<std::optional<TimePoint>> since_of(const Query& query, const Backend& backend) {
    const std::string& since = query.text("since");
    if (since.empty()) return std::optional<TimePoint>{};
    std::optional<TimePoint> at = parse_time_or_date(since);
    const auto ago = parse_duration(since);
    if (ago && backend.clock != nullptr) at = backend.clock->now() - *ago;
    if (at) return at;
    return Error{Errc::bad_input,
                 "since: expected a time or a duration, such as 2024-05-01T12:00:00Z or 2h; "
                 "found " +
                     in_quotes(since)};
}

Result<Filter> filter_of(const Query& query, const Backend& backend) {
    const auto wrong = [](const std::string& why) { return Error{Errc::bad_input, why}; };
    Filter filter;
    filter.project = query.text("project");
    filter.flavor = query.text("flavor");
    filter.server = query.text("server");
    const std::string& outcome = query.text("outcome");
    filter.unfinished = outcome == unfinished_ones;
    if (!outcome.empty() && !filter.unfinished) {
        filter.outcome = outcome_kind_from(outcome);
        if (!filter.outcome)
            return wrong("outcome: there is no " + in_quotes(outcome) +
                         "; expected one such as freed, not-enough or refused, or none");
    }
    if (const std::string& until = query.text("until"); !until.empty()) {
        filter.until = parse_time_or_date(until);
        if (!filter.until)
            return wrong("until: expected a time such as 2024-05-01T12:00:00Z, found " +
                         in_quotes(until));
    }
    auto since = since_of(query, backend);
    if (!since) return since.error();
    filter.since = *since;
    return filter;
}

ResultTask<std::set<RequestId>> with_victims_on(const Backend& backend, std::string host,
                                                std::optional<TimePoint> since) {
    const TimePoint from = since ? *since : TimePoint{};
    auto victims = co_await backend.feed.victims_since(from);
    if (!victims) co_return victims.error();
    std::set<RequestId> ids;
    for (const VictimEntry& victim : *victims)
        if (victim.host == host) ids.insert(victim.request);
    co_return ids;
}

ResultTask<std::set<RequestId>> that_chose(const Backend& backend, std::string server) {
    auto found = co_await backend.feed.chosen(std::move(server), most_looked_at);
    if (!found) co_return found.error();
    std::set<RequestId> ids;
    for (const ChosenServer& each : *found) ids.insert(each.request);
    co_return ids;
}

struct Found {
    std::vector<RequestSummary> lines;  ///< of the page, and one more if there is one
    bool marker_seen = false;
};

Found look_through(std::vector<RequestSummary> newest, const Filter& filter,
                   const PageAsked& page) {
    Found found;
    found.marker_seen = page.marker.empty();
    for (RequestSummary& line : newest) {
        if (found.lines.size() > page.limit) break;
        if (!found.marker_seen) {
            found.marker_seen = line.request.id.str() == page.marker;
            continue;
        }
        if (filter.wants(line)) found.lines.push_back(std::move(line));
    }
    return found;
}

/// Further back, until the page is full or there is nothing more.
ResultTask<Found> find_requests(const Backend& backend, Filter filter, PageAsked page) {
    for (int count = first_look;; count = std::min(count * 8, most_looked_at)) {
        auto newest = co_await backend.feed.list(count);
        if (!newest) co_return newest.error();
        const std::size_t seen = newest->size();
        const bool older_too =
            !filter.since || newest->empty() || newest->back().received_at >= *filter.since;
        Found found = look_through(std::move(*newest), filter, page);
        const bool full = found.marker_seen && found.lines.size() > page.limit;
        const bool all = seen < static_cast<std::size_t>(count) || count == most_looked_at;
        if (full || all || (found.marker_seen && !older_too)) co_return found;
    }
}

HttpResponse not_readable(const Error& error) {
    return refuse(503, "the journal can't be read: " + error.what);
}

}  // namespace

Task<HttpResponse> list_requests(const Backend& backend, ApiRequest request) {
    const Query query{
        request,
        {"limit", "marker", "outcome", "project", "host", "flavor", "server", "since", "until"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, usual_requests, most_requests);
    if (!page) co_return refuse(400, page.error().what);
    auto filter = filter_of(query, backend);
    if (!filter) co_return refuse(400, filter.error().what);
    std::string host = query.text("host");
    if (!host.empty()) {
        auto ids = co_await with_victims_on(backend, std::move(host), filter->since);
        if (!ids) co_return not_readable(ids.error());
        filter->on_host = std::move(*ids);
    }
    if (!filter->server.empty()) {
        std::string server = filter->server;
        auto ids = co_await that_chose(backend, std::move(server));
        if (!ids) co_return not_readable(ids.error());
        filter->chose_server = std::move(*ids);
    }
    PageAsked asked = *page;
    auto found = co_await find_requests(backend, std::move(*filter), std::move(asked));
    if (!found) co_return not_readable(found.error());
    if (!found->marker_seen)
        co_return refuse(400, "marker: " + in_quotes(page->marker) + " is not among the newest " +
                                  std::to_string(most_looked_at) +
                                  " requests; 'reaper history' reads all of the journal");
    const bool more = found->lines.size() > page->limit;
    if (more) found->lines.pop_back();
    json links = json::array();
    if (more) links = next_link(request, found->lines.back().request.id.str());
    co_return answered(
        {{"requests", report::array_of(found->lines)}, {"requests_links", std::move(links)}});
}

Task<HttpResponse> get_totals(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto since = since_of(query, backend);
    if (!since) co_return refuse(400, since.error().what);
    const TimePoint from = since->value_or(TimePoint{});
    auto totals = co_await backend.feed.totals(from);
    if (!totals) co_return not_readable(totals.error());
    auto holds = co_await backend.feed.holds();
    if (!holds) co_return not_readable(holds.error());
    co_return answered({{"since", iso_time(from)},
                        {"totals", report::to_json(*totals)},
                        {"holds", report::array_of(*holds)}});
}

Task<HttpResponse> get_request(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    RequestId id{request.id};
    auto record = co_await backend.feed.record(std::move(id));
    if (!record) co_return not_readable(record.error());
    if (!*record) co_return refuse(404, "the journal knows no request " + in_quotes(request.id));
    co_return answered(report::to_json(**record));
}

}  // namespace reaper::api
