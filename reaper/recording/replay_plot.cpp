// The plot of a replay: what each side would have taken, summed up over time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/recording/replay_report.hpp"
#include "reaper/recording/replay_sums.hpp"

namespace reaper::recording {
namespace {

// In user units of the picture.
constexpr double plot_width = 960, left = 70, right = 20;
constexpr double panel = 190, gap = 60, top = 90;
constexpr double height = top + 2 * panel + gap + 50;

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

/// In XML, whatever it is; no control character is allowed there.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : printable(text, 200)) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += c;
        }
    }
    return safe;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view kind,
                    std::string_view text) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
           std::string(anchor) + "\" class=\"" + std::string(kind) + "\">" + escaped(text) +
           "</text>\n";
}

struct Point {
    TimePoint at;
    double recorded = 0, asked = 0;  ///< all until then
};

/// 1, 2 or 5 times a power of ten, four to eight of which make `most`.
double tick_of(double most) {
    const double rough = most / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (step * power >= rough) return step * power;
    return 10 * power;
}

class Panel {
public:
    Panel(TimePoint from, TimePoint to, double y, double most)
        : from_(from),
          to_(std::max(to, from + std::chrono::minutes{1})),
          y_(y),
          tick_(tick_of(std::max(most, 1.0))),
          most_(std::ceil(std::max(most, 1.0) / tick_) * tick_) {}

    std::string frame(std::string_view title) const {
        std::string svg = text_at(left, y_ - 12, "start", "title", title);
        const int ticks = static_cast<int>(std::lround(most_ / tick_));
        for (int i = 0; i <= ticks; ++i) {
            const double value = i * tick_;
            svg += "<line class=\"grid\" x1=\"" + number(left) + "\" x2=\"" +
                   number(plot_width - right) + "\" y1=\"" + number(at(value)) + "\" y2=\"" +
                   number(at(value)) + "\"/>\n";
            char label[32];
            std::snprintf(label, sizeof label, "%g", value);
            svg += text_at(left - 8, at(value) + 4, "end", "tick", label);
        }
        return svg + time_axis();
    }

    /// A step at each point.
    std::string line(std::string_view kind, const std::vector<Point>& points,
                     double Point::*value) const {
        std::string path = "M" + number(left) + " " + number(at(0));
        for (const Point& point : points)
            path += "H" + number(at(point.at)) + "V" + number(at(point.*value));
        path += "H" + number(plot_width - right);
        return "<path class=\"line " + std::string(kind) + "\" d=\"" + path + "\"/>\n";
    }

private:
    double at(double value) const { return y_ + panel - panel * value / most_; }
    double at(TimePoint time) const {
        const double whole = static_cast<double>((to_ - from_).count());
        return left +
               (plot_width - left - right) * static_cast<double>((time - from_).count()) / whole;
    }
    std::string time_axis() const {
        constexpr int labels = 5;
        std::string svg;
        // As much of a time as tells the labels apart.
        const Duration step = (to_ - from_) / labels;
        std::size_t length = sizeof "2026-11-20T11:16" - 1;
        if (step < std::chrono::minutes{1}) length = sizeof "2026-11-20T11:16:05" - 1;
        if (step >= std::chrono::days{1}) length = sizeof "2026-11-20" - 1;
        for (int i = 0; i <= labels; ++i) {
            const TimePoint time = from_ + (to_ - from_) * i / labels;
            const std::string text = iso_time(time);
            const char* const anchor = i == 0 ? "start" : i == labels ? "end" : "middle";
            svg += text_at(at(time), y_ + panel + 18, anchor, "tick",
                           text.substr(0, length) + (step < std::chrono::days{1} ? "Z" : ""));
        }
        return svg;
    }

    TimePoint from_, to_;
    double y_;
    double tick_, most_;
};

constexpr const char* style = R"(<style>
text{font:13px system-ui,sans-serif;fill:#222}
.title{font-weight:600}.tick{font-size:11px;fill:#555}
.grid{stroke:#ddd}.line{fill:none;stroke-width:2}
.recorded{stroke:#555;stroke-dasharray:6 4}.asked{stroke:#0b6bcb}
.paper{fill:#fff}
@media (prefers-color-scheme: dark){text{fill:#eee}.tick{fill:#aaa}.grid{stroke:#444}
.recorded{stroke:#bbb}.asked{stroke:#6cb6ff}.paper{fill:#161a1f}}
</style>
)";

std::string legend(double y, std::string_view kind, const std::string& text) {
    return "<path class=\"line " + std::string(kind) + "\" d=\"M" + number(left) + " " +
           number(y - 4) + "h34\"/>\n" + text_at(left + 44, y, "start", "tick", text);
}

}  // namespace

std::string plot_replay(const Replay& replay, const ReplayTitles& titles) {
    std::vector<Point> victims, hours;
    BothSums sums;
    for (const ReplayedRequest& request : replay.requests) {
        sums.add(request);
        victims.push_back({request.at, static_cast<double>(sums.recorded.victims),
                           static_cast<double>(sums.asked.victims)});
        hours.push_back({request.at, sums.recorded.lost_hours, sums.asked.lost_hours});
    }
    const TimePoint from = replay.from.value_or(TimePoint{});
    const TimePoint to = replay.to.value_or(from);
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(plot_width) + " " +
        number(height) + "\" role=\"img\">\n<title>Replay of " + escaped(titles.directory) +
        "</title>\n" + style + "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" +
        legend(24, "recorded", "recorded: " + titles.recorded) +
        legend(44, "asked", "asked: " + titles.asked);
    const std::array<std::pair<const char*, const std::vector<Point>*>, 2> panels{
        {{"Victims", &victims}, {"Lost server-hours", &hours}}};
    double y = top;
    for (const auto& [title, points] : panels) {
        double most = 0;
        for (const Point& point : *points) most = std::max({most, point.recorded, point.asked});
        const Panel one(from, to, y, most);
        svg += one.frame(title) + one.line("recorded", *points, &Point::recorded) +
               one.line("asked", *points, &Point::asked);
        y += panel + gap;
    }
    return svg + "</svg>\n";
}

}  // namespace reaper::recording
