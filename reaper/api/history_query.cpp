#include "reaper/api/history_query.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::api {
namespace {

constexpr std::string_view unfinished_ones = "none";
constexpr int most_at_one_time = 1'000'000;

Error bad(const std::string& why) {
    return Error{Errc::bad_input, why};
}

}  // namespace

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

Result<JournalQuery> journal_query_of(const Query& query, Clock* clock) {
    JournalQuery asked;
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

void narrow(JournalQuery& query, const TimeMarker& marker) {
    if (!marker.at) return;
    const TimePoint before = *marker.at + Duration{1};
    query.until = query.until ? std::min(*query.until, before) : before;
    query.skip = static_cast<int>(marker.seen);
}

}  // namespace reaper::api
