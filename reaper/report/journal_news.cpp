#include "reaper/report/journal_news.hpp"

#include <algorithm>

#include "reaper/model/project_names.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::report {
namespace {

NewsLine request_line(TimePoint at, const RequestSummary& request, const char* news,
                      const std::string& what) {
    NewsLine line{at, iso_time(at) + "  " + news + "  " + safe(what), to_json(request)};
    line.json["news"] = news;
    return line;
}

std::string kind_and_reason(const RequestSummary& request, std::string_view kind,
                            const std::string& reason) {
    return request.request.id.str() + " " + std::string{kind} +
           (reason.empty() ? "" : ": " + reason);
}

/// What is not over by then will not be.
constexpr Duration longest_of_interest = std::chrono::hours{1};

void in_order(std::vector<NewsLine>& lines) {
    std::ranges::stable_sort(lines, {}, &NewsLine::at);
}

}  // namespace

bool RequestNews::reach(const std::vector<RequestSummary>& newest) const {
    if (seen_.empty() || newest.empty()) return true;
    return seen_.contains(newest.back().request.id) &&
           newest.back().received_at <= oldest_not_over_;
}

std::vector<NewsLine> RequestNews::look(const std::vector<RequestSummary>& newest, bool all) {
    std::vector<NewsLine> lines;
    oldest_not_over_ = TimePoint::max();
    TimePoint newest_at{};
    for (auto each = newest.rbegin(); each != newest.rend(); ++each) {
        auto known = seen_.find(each->request.id);
        if (known == seen_.end() && before_.has(each->received_at)) {
            const auto over = [&](const auto& what) {
                return what && before_.over_by_then(what->at);
            };
            known =
                seen_.emplace(each->request.id, Seen{over(each->outcome), over(each->freed_room)})
                    .first;
        }
        const Seen before = known == seen_.end() ? Seen{} : known->second;
        if (known == seen_.end())
            lines.push_back(
                request_line(each->received_at, *each, "received", to_string(each->request)));
        if (each->outcome && !before.ended)
            lines.push_back(request_line(
                each->outcome->at, *each, "ended",
                kind_and_reason(*each, to_string(each->outcome->kind), each->outcome->reason)));
        if (each->freed_room && !before.room_known)
            lines.push_back(request_line(each->freed_room->at, *each, "freed-room",
                                         kind_and_reason(*each, to_string(each->freed_room->kind),
                                                         each->freed_room->reason)));
        const bool waits_for_room =
            each->outcome && each->outcome->kind == OutcomeKind::freed && !each->freed_room;
        const bool young = each->received_at > newest.front().received_at - longest_of_interest;
        if (young && (!each->outcome || waits_for_room))
            oldest_not_over_ = std::min(oldest_not_over_, each->received_at);
        seen_[each->request.id] = {each->outcome.has_value(), each->freed_room.has_value()};
        newest_at = std::max(newest_at, each->received_at);
        if (each->outcome) newest_at = std::max(newest_at, each->outcome->at);
        if (each->freed_room) newest_at = std::max(newest_at, each->freed_room->at);
    }
    if (!newest.empty()) before_.note(newest.back().received_at, newest_at, all);
    in_order(lines);
    return lines;
}

bool VictimNews::reach(const std::vector<VictimEntry>& newest) const {
    return seen_.empty() || newest.empty() ||
           seen_.contains({newest.back().request, newest.back().server});
}

std::vector<NewsLine> VictimNews::look(const std::vector<VictimEntry>& newest, bool all) {
    std::vector<NewsLine> lines;
    for (auto each = newest.rbegin(); each != newest.rend(); ++each) {
        const std::pair key{each->request, each->server};
        if (!seen_.insert(key).second || before_.has(each->at)) continue;
        lines.push_back({each->at,
                         iso_time(each->at) + "  " +
                             safe(each->server.str() + " " + each->name + " on " + each->host +
                                  ", project " + project_text(each->project, each->project_name) +
                                  ", for " + each->request.str()),
                         to_json(*each)});
    }
    if (!newest.empty()) before_.note(newest.back().at, newest.front().at, all);
    in_order(lines);
    return lines;
}

}  // namespace reaper::report
