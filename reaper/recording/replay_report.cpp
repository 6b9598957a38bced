#include "reaper/recording/replay_report.hpp"

#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::recording {

void ReplaySums::add(const Choice& choice) {
    ++requests;
    if (choice.helps()) ++helped;
    if (std::holds_alternative<Refused>(choice.decision)) ++refused;
    if (choice.frees()) ++culls;
    if (!choice.safeguard().empty()) ++safeguards[std::string{choice.safeguard()}];
    lost_hours += choice.lost_hours;
    lost_vcpu_hours += choice.lost_vcpu_hours;
    if (const auto* const plan = std::get_if<Plan>(&choice.decision))
        victims += static_cast<int>(plan->victims().size());
}

void BothSums::add(const ReplayedRequest& request) {
    if (request.recorded) recorded.add(*request.recorded);
    if (request.asked) asked.add(*request.asked);
}

ByDay by_day(const Replay& replay) {
    ByDay days;
    for (const ReplayedRequest& request : replay.requests)
        if (request.recorded) days[std::chrono::floor<std::chrono::days>(request.at)].add(request);
    return days;
}

BothSums in_all(const Replay& replay) {
    BothSums sums;
    for (const ReplayedRequest& request : replay.requests) sums.add(request);
    return sums;
}

namespace {

using nlohmann::json;

constexpr std::size_t most_differences = 20;

std::string fixed(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

/// To hundredths.
double rounded(double value) {
    return std::round(100 * value) / 100;
}

/// `5 -> 7 (+2)`, or the number alone where both have it.
std::string change_text(int was, int would_be) {
    if (was == would_be) return std::to_string(was);
    const int more = would_be - was;
    return std::to_string(was) + " -> " + std::to_string(would_be) + " (" + (more > 0 ? "+" : "") +
           std::to_string(more) + ")";
}

std::string change_text(double was, double would_be) {
    if (fixed(was) == fixed(would_be)) return fixed(was);
    const double more = would_be - was;
    return fixed(was) + " -> " + fixed(would_be) + " (" + (more > 0 ? "+" : "") + fixed(more) + ")";
}

std::string day_text(std::chrono::sys_days day) {
    return iso_time(TimePoint{day}).substr(0, 10);
}

std::vector<std::string> cells(std::string head, const BothSums& sums) {
    const ReplaySums& was = sums.recorded;
    const ReplaySums& now = sums.asked;
    return {std::move(head),
            std::to_string(was.requests),
            change_text(was.helped, now.helped),
            change_text(was.not_helped(), now.not_helped()),
            change_text(was.refused, now.refused),
            change_text(was.victims, now.victims),
            change_text(was.lost_hours, now.lost_hours)};
}

std::string choice_text(const std::optional<Choice>& choice) {
    if (!choice) return "not decided";
    if (const auto* const plan = std::get_if<Plan>(&choice->decision)) {
        const auto victims = plan->victims();
        std::set<std::string> hosts;
        for (const HostPlan& host : plan->hosts) hosts.insert(host.host_name);
        return counted(static_cast<int>(victims.size()), "victim") + " on " + joined(hosts) + ", " +
               fixed(choice->lost_hours) + " h";
    }
    if (std::holds_alternative<NothingToDo>(choice->decision)) return "the room is there";
    if (std::holds_alternative<Refused>(choice->decision) && choice->safeguard().empty())
        return "refused";
    return choice->safeguard().empty() ? "not enough" : std::string{choice->safeguard()};
}

bool differs(const ReplayedRequest& request) {
    return request.recorded && request.asked &&
           !same_choice(request.recorded->decision, request.asked->decision);
}

std::string head_text(const Replay& replay, const ReplayTitles& titles) {
    std::string text =
        titles.directory + ": " + counted(static_cast<int>(replay.requests.size()), "request");
    if (replay.from) text += ", " + iso_time(*replay.from) + " to " + iso_time(*replay.to);
    if (replay.dry_run) text += ", dry run";
    if (replay.anonymous) text += ", anonymous";
    return text + "\n  recorded: " + report::safe(titles.recorded) +
           "\n  asked:    " + report::safe(titles.asked) + "\n";
}

std::string table_text(const Replay& replay, const report::RenderOptions& options) {
    using Align = report::TextTable::Align;
    report::TextTable table({{"day (UTC)", Align::left},
                             {"requests", Align::right},
                             {"helped", Align::right},
                             {"not helped", Align::right},
                             {"refused", Align::right},
                             {"victims", Align::right},
                             {"lost server-hours", Align::right}});
    for (const auto& [day, sums] : by_day(replay)) table.row(cells(day_text(day), sums));
    table.row(cells("all", in_all(replay)));
    return table.text(0, static_cast<std::size_t>(options.width), report::Paint{options.color});
}

std::string safeguards_text(const Replay& replay) {
    const BothSums sums = in_all(replay);
    std::map<std::string, std::pair<int, int>> both;
    for (const auto& [word, count] : sums.recorded.safeguards) both[word].first = count;
    for (const auto& [word, count] : sums.asked.safeguards) both[word].second = count;
    std::string text;
    for (const auto& [word, counts] : both)
        text += (text.empty() ? "" : ", ") + report::safe(word) + " " +
                change_text(counts.first, counts.second);
    return text.empty() ? "" : "Not helped for a safeguard: " + text + ".\n";
}

std::string differences_text(const Replay& replay, const report::RenderOptions& options) {
    report::TextTable table({{"time"}, {"request"}, {"project"}, {"as recorded"}, {"as asked"}});
    std::size_t count = 0;
    for (const ReplayedRequest& request : replay.requests) {
        if (!differs(request)) continue;
        if (++count > most_differences) continue;
        table.row({iso_time(request.at), request.request.id.str(),
                   project_text(request.request.project, request.request.project_name),
                   choice_text(request.recorded), choice_text(request.asked)});
    }
    if (count == 0) return "No request would be decided otherwise.\n";
    std::string text =
        counted(static_cast<int>(count), "request") + " would be decided otherwise:\n" +
        table.text(2, static_cast<std::size_t>(options.width), report::Paint{options.color});
    if (count > most_differences)
        text += "  and " + std::to_string(count - most_differences) + " more (--json has all)\n";
    return text;
}

std::string foot_text(const Replay& replay) {
    std::string text;
    if (replay.checked > 0)
        text += "The recorded configuration makes " + std::to_string(replay.reproduced) + " of " +
                std::to_string(replay.checked) + " recorded plans again.\n";
    if (replay.corrections > 0)
        text += counted(replay.corrections, "correction") + " of a host's load left out.\n";
    if (replay.undecided > 0)
        text += counted(replay.undecided, "request") +
                " left out: they came before all hosts were recorded.\n";
    for (const std::string& remark : replay.remarks)
        text += "Remark: " + report::safe(remark) + ".\n";
    return text;
}

json sums_json(const ReplaySums& sums) {
    return {{"requests", sums.requests},
            {"helped", sums.helped},
            {"not_helped", sums.not_helped()},
            {"refused", sums.refused},
            {"culls", sums.culls},
            {"victims", sums.victims},
            {"lost_hours", rounded(sums.lost_hours)},
            {"lost_vcpu_hours", rounded(sums.lost_vcpu_hours)},
            {"safeguards", sums.safeguards}};
}

json side_json(const std::string& title, const ReplaySums& sums) {
    json side = sums_json(sums);
    side["configuration"] = title;
    return side;
}

std::string word_of(const Decision& decision) {
    return report::to_json(decision)["decision"].get<std::string>();
}

constexpr auto lost_server_fields = fields_of<Victim>([](auto& io, auto& victim) {
    io.required("server", victim.server);
    io.required("name", victim.name);
    io.required("project", victim.project);
    io.required("host", victim.host);
    io.optional("project_name", victim.project_name);
});

json choice_json(const std::optional<Choice>& choice) {
    if (!choice) return nullptr;
    const auto* const plan = std::get_if<Plan>(&choice->decision);
    json victims =
        plan == nullptr ? json::array() : json_of_value(plan->victims(), lost_server_fields);
    const std::string safeguard{choice->safeguard()};
    return {{"decision", word_of(choice->decision)},
            {"victims", std::move(victims)},
            {"lost_hours", rounded(choice->lost_hours)},
            {"safeguard", safeguard.empty() ? json(nullptr) : json(safeguard)}};
}

json request_json(const ReplayedRequest& request) {
    json object = {
        {"id", request.request.id.str()},
        {"at", iso_time(request.at)},
        {"project", request.request.project.str()},
        {"slots", request.request.slots},
        {"surely", request.surely},
        {"differs", differs(request)},
        {"recorded", choice_json(request.recorded)},
        {"asked", choice_json(request.asked)},
        {"outcome", request.outcome ? report::to_json(*request.outcome) : json(nullptr)},
        {"freed_room", request.freed_room ? report::to_json(*request.freed_room) : json(nullptr)},
        {"deleted", json_of_value(request.deleted, PlainJson{})}};
    // Where it is known.
    const std::string& name = request.request.project_name;
    if (!name.empty()) object["project_name"] = name;
    return object;
}

}  // namespace

std::string render_replay(const Replay& replay, const ReplayTitles& titles,
                          const report::RenderOptions& options) {
    std::string text = head_text(replay, titles);
    if (replay.requests.empty()) return text + foot_text(replay);
    return text + "\n" + table_text(replay, options) + safeguards_text(replay) + "\n" +
           differences_text(replay, options) + foot_text(replay);
}

json to_json(const Replay& replay, const ReplayTitles& titles) {
    const BothSums sums = in_all(replay);
    json days = json::array(), requests = json::array();
    for (const auto& [day, both] : by_day(replay))
        days.push_back({{"day", day_text(day)},
                        {"recorded", sums_json(both.recorded)},
                        {"asked", sums_json(both.asked)}});
    for (const ReplayedRequest& request : replay.requests)
        requests.push_back(request_json(request));
    return {{"version", report::json_version},
            {"recording", titles.directory},
            {"dry_run", replay.dry_run},
            {"anonymous", replay.anonymous},
            {"from", json_of_value(replay.from, PlainJson{})},
            {"to", json_of_value(replay.to, PlainJson{})},
            {"recorded", side_json(titles.recorded, sums.recorded)},
            {"asked", side_json(titles.asked, sums.asked)},
            {"days", std::move(days)},
            {"requests", std::move(requests)},
            {"reproduced",
             {{"plans", replay.reproduced},
              {"of", replay.checked},
              {"not", json_of_value(replay.not_reproduced, PlainJson{})}}},
            {"corrections", replay.corrections},
            {"undecided", replay.undecided},
            {"remarks", replay.remarks}};
}

report::Table replay_table(const Replay& replay) {
    report::Table table;
    table.columns = {report::column("time"),
                     report::column("request"),
                     report::number("victims_recorded"),
                     report::number("victims_asked"),
                     report::number("lost_hours_recorded"),
                     report::number("lost_hours_asked")};
    table.key = 1;
    BothSums sums;
    for (const ReplayedRequest& request : replay.requests) {
        sums.add(request);
        table.rows.push_back({request.at, request.request.id.str(),
                              std::int64_t{sums.recorded.victims}, std::int64_t{sums.asked.victims},
                              report::Decimal{sums.recorded.lost_hours},
                              report::Decimal{sums.asked.lost_hours}});
    }
    return table;
}

}  // namespace reaper::recording
