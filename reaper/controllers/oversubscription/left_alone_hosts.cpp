#include "reaper/controllers/oversubscription/left_alone_hosts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

constexpr const char* left_alone_kind = "host-left-alone";
/// As long ago as an event can be that makes the quiet time longer which began last: each is twice
/// the one before, up to the longest.
Duration remembers(const PublicationRules& rules) {
    const RetrySettings& quiet = rules.quiet;
    int doublings = 1;
    for (Duration each = std::max(quiet.retry_after, Duration{1}); each < quiet.max_retry_after;
         each *= 2)
        ++doublings;
    return (quiet.max_retry_after + 2 * rules.flap_window) * doublings;
}

}  // namespace

JournalEvent left_alone_event(const HostId& host, const std::string& name, const Circuit& quiet,
                              TimePoint now) {
    JournalEvent event;
    event.kind = left_alone_kind;
    event.reason = host.str() + " (" + printable(name, 64) +
                   "): its oversubscribed room went up and down too often";
    if (const auto until = quiet.until())
        event.reason += "; it does not rise for " + format_duration(*until - now);
    event.at = now;
    return event;
}

ResultTask<std::map<HostId, Circuit>> left_alone_hosts(JournalReader& journal,
                                                       PublicationRules rules, TimePoint now) {
    std::map<HostId, Circuit> hosts;
    if (rules.flaps == 0) co_return hosts;
    JournalQuery query;
    query.kind = left_alone_kind;
    query.since = now - remembers(rules);
    query.limit = std::numeric_limits<int>::max();
    auto events = co_await journal.find_events(std::move(query));
    if (!events) co_return events.error();
    std::map<HostId, std::vector<TimePoint>> times;
    for (const JournalEvent& event : *events)
        times[HostId{event.reason.substr(0, event.reason.find(' '))}].push_back(
            std::min(event.at, now));  // the clock may have been set back
    for (auto& [host, at] : times) {
        std::sort(at.begin(), at.end());
        hosts.emplace(host, left_alone_since(at, rules));
    }
    co_return hosts;
}

}  // namespace reaper
