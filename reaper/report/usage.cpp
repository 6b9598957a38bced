#include "reaper/report/usage.hpp"

#include <algorithm>
#include <chrono>

#include "reaper/json/fields.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper {
namespace {

TimePoint first_of_month(TimePoint time) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
    return TimePoint{std::chrono::sys_days{day.year() / day.month() / 1}};
}

/// Not so where one began when the other was over: then the server came back.
bool overlap(const ServerRun& a, const ServerRun& b) {
    const auto before = [](const ServerRun& one, const ServerRun& other) {
        return one.until && *one.until <= other.from && one.from < other.from;
    };
    return !before(a, b) && !before(b, a);
}

}  // namespace

/// The first report of a run counts, and any report that it was reclaimed.
void UsageSum::add(ServerRun run) {
    const auto [begin, end] = known_.equal_range(run.server);
    ServerRun* known = nullptr;
    for (auto at = begin; at != end; ++at) {
        ServerRun& each = each_[at->second];
        if (overlap(each, run) && (known == nullptr || each.from > known->from)) known = &each;
    }
    if (known == nullptr) {
        known_.emplace(run.server, each_.size());
        each_.push_back(std::move(run));
        return;
    }
    ServerRun& first = *known;
    if (first.host.empty()) first.host = run.host;
    if (!run.reclaimed) return;
    first.reclaimed = true;
    // Only what is revocable is ever reclaimed; its flavor or project may have changed since.
    first.revocable = true;
    // One that was shelved ended there, though Nova ends it when its owner deletes it.
    if (!first.until || (run.until && *run.until < *first.until)) first.until = run.until;
}

bool UsageSum::sum(std::size_t servers) {
    const std::size_t end = std::min(each_.size(), summed_ + servers);
    for (; summed_ < end; ++summed_) {
        const ServerRun& run = each_[summed_];
        const TimePoint begin = std::max(run.from, from_);
        const TimePoint until = std::min(run.until.value_or(to_), to_);
        // One that ended in the second of its launch is a server too, of no hours.
        const bool over_before = run.until && *run.until <= from_ && run.from < from_;
        if (over_before || run.from >= to_ || until < begin) continue;
        UsageLine& line = lines_[{run.project, run.revocable}];
        line.project = run.project;
        line.revocable = run.revocable;
        ++line.servers;
        line.reclaimed += run.reclaimed && run.until && *run.until <= to_;
        const double hours = std::chrono::duration<double, std::ratio<3600>>(until - begin).count();
        line.hours += hours;
        for (const auto& [resource_class, amount] : run.holds)
            line.resource_hours[resource_class] += hours * static_cast<double>(amount);
    }
    return summed_ < each_.size();
}

std::vector<UsageLine> UsageSum::lines() const {
    std::vector<UsageLine> all;
    for (const auto& each : lines_) all.push_back(each.second);
    return all;
}

void add_names(const ProjectNames& names, std::vector<UsageLine>& lines) {
    for (UsageLine& line : lines) line.project_name = name_of_project(names, line.project);
}

std::vector<UsageLine> usage_of(const std::vector<ServerRun>& runs, TimePoint from, TimePoint to) {
    UsageSum sum{from, to};
    for (const ServerRun& run : runs) sum.add(run);
    while (sum.sum(runs.size())) {
    }
    return sum.lines();
}

UsagePeriod usage_period(std::optional<TimePoint> from, std::optional<Duration> span,
                         std::optional<TimePoint> to, TimePoint now) {
    UsagePeriod period;
    const TimePoint asked = to.value_or(now);
    period.to = std::min(asked, now);
    // What ends with a month is of that month.
    period.from = from ? *from : span ? now - *span : first_of_month(asked - Duration{1});
    return period;
}

}  // namespace reaper

namespace reaper::report {
namespace {

const char* type_of(bool revocable) {
    return revocable ? "revocable" : "regular";
}

std::vector<ResourceClass> classes_used(const UsageReport& usage) {
    std::vector<Resources> held;
    for (const auto& line : usage.lines)
        for (const auto& [resource_class, hours] : line.resource_hours) {
            held.emplace_back();
            held.back().add(resource_class, 1);
        }
    return classes_of(held);
}

double hours_of(const UsageLine& line, const ResourceClass& resource_class) {
    const auto at = line.resource_hours.find(resource_class);
    return at == line.resource_hours.end() ? 0 : at->second;
}

/// Of a line: revocable, or regular.
constexpr JsonCoder<bool> type_coder{
    [](const bool& revocable) { return nlohmann::json(type_of(revocable)); },
    [](const JsonPlace& type) {
        const bool revocable = type.text() == "revocable";
        type.expect(revocable || type.text() == "regular", "regular or revocable");
        return revocable;
    }};

constexpr auto usage_line_fields = fields_of<UsageLine>([](auto& io, auto& line) {
    io.required("project", line.project);
    io.optional("project_name", line.project_name);
    io.required("type", line.revocable, type_coder);
    io.required("servers", line.servers);
    io.required("reclaimed", line.reclaimed);
    io.required("hours", line.hours);
    io.required("resource_hours", line.resource_hours);
});

constexpr auto oversubscribed_fields = fields_of<OversubscribedRoom>([](auto& io, auto& room) {
    io.required("published", room.published);
    io.required("used", room.used);
    io.required("free", room.free);
    io.required("hosts", room.hosts);
    io.lenient("wanted", room.wanted);
});

constexpr auto usage_fields = fields_of<UsageReport>([](auto& io, auto& usage) {
    io.constant("version", json_version);
    io.required("from", usage.from);
    io.required("to", usage.to);
    io.required("usage", usage.lines, usage_line_fields);
    io.required("oversubscribed", usage.oversubscribed, oversubscribed_fields);
    io.optional("remarks", usage.remarks);
});

}  // namespace

nlohmann::json to_json(const UsageReport& usage) {
    return usage_fields.write(usage);
}

Result<UsageReport> usage_from_json(const nlohmann::json& document) {
    return read_as(document, "usage", usage_fields);
}

Table usage_table(const UsageReport& usage) {
    Table table;
    table.columns = {column("project"), column("type"), number("servers"), number("reclaimed"),
                     number("hours")};
    const auto classes = classes_used(usage);
    for (const auto& resource_class : classes)
        table.columns.push_back(number(resource_class.str() + "_hours"));
    table.columns.push_back(wide("project_id"));
    table.key = table.columns.size() - 1;
    for (const auto& line : usage.lines) {
        std::vector<Cell> cells{project_cell(line.project, line.project_name),
                                std::string{type_of(line.revocable)}, std::int64_t{line.servers},
                                std::int64_t{line.reclaimed}, Decimal{line.hours}};
        for (const auto& resource_class : classes)
            cells.emplace_back(Decimal{hours_of(line, resource_class)});
        cells.push_back(text_cell(line.project.str()));
        table.rows.push_back(std::move(cells));
    }
    table.title = "From " + iso_time(usage.from) + " to " + iso_time(usage.to);
    table.none = "Nothing ran.";
    for (const auto& words : oversubscribed_words(usage.oversubscribed))
        table.summary += (table.summary.empty() ? "Oversubscribed now: " : "; ") + words;
    return table;
}

}  // namespace reaper::report
