// What is asked of the journal over the API, and where a page of it begins.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "reaper/api/answers.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::api {

/// `since`: a time, or how long ago; none: from the beginning. `bad_input` for anything else.
Result<std::optional<TimePoint>> since_of(const Query& query, Clock* clock);

/// The filters that are there: outcome, project, flavor, host, server, since, until. `bad_input`
/// names the one that is not understood.
Result<JournalQuery> journal_query_of(const Query& query, Clock* clock);

/// Where a page of entries without an id of their own begins: `seen` of those at that time were on
/// the pages before, as was all that is later. What is written meanwhile moves no page.
struct TimeMarker {
    std::optional<TimePoint> at;  ///< none: the first page
    std::size_t seen = 0;
};
/// `2024-05-01T12:00:00.000Z~2`; empty: the first page. `bad_input` for anything else.
Result<TimeMarker> time_marker_of(const std::string& text);
std::string to_string(const TimeMarker& marker);

/// Only what the marker leaves.
void narrow(JournalQuery& query, const TimeMarker& marker);

/// After these lines of a page, newest first and at least one, which `former` began.
template <class Lines>
TimeMarker marker_after(const Lines& lines, const TimeMarker& former) {
    TimeMarker next{lines.back().at, 0};
    for (const auto& line : lines) next.seen += line.at == *next.at ? 1 : 0;
    if (former.at == next.at) next.seen += former.seen;
    return next;
}

}  // namespace reaper::api
