// churn_schedules: regular users on a cloud that revocable ones keep full, in virtual time: first
// tries, victims whose room goes unused, time to ACTIVE; or (--latency) where the time of one cull
// goes. tests/faults/README.md tells more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <vector>

#include "faults/churn/churn.hpp"
#include "faults/churn/latency.hpp"

namespace reaper::faults {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// How busy the cloud is.
cloudsim::Delays delays_of(const std::string& mode) {
    cloudsim::Delays delays;
    if (mode == "calm") return delays;
    delays.schedule = milliseconds{150};
    delays.build = milliseconds{600};
    delays.forget = milliseconds{60};
    if (mode == "lab") {
        delays.call = milliseconds{30};
        delays.list = milliseconds{100};
        delays.build = milliseconds{1'000};
        delays.erase = milliseconds{1'500};
    } else if (mode == "busy") {
        delays.call = milliseconds{30};
        delays.list = milliseconds{1'500};
        delays.erase = milliseconds{4'000};
    } else {
        delays.call = milliseconds{100};
        delays.list = milliseconds{5'000};
        delays.erase = milliseconds{15'000};
    }
    return delays;
}

double seconds_of(Duration span) {
    return std::chrono::duration<double>(span).count();
}

double percent(int part, int whole) {
    return whole == 0 ? 100.0 : 100.0 * part / whole;
}

Duration median(std::vector<Duration> all) {
    if (all.empty()) return {};
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

Duration longest(const std::vector<Duration>& all) {
    return all.empty() ? Duration{} : *std::max_element(all.begin(), all.end());
}

void show(const std::string& mode, const std::string& seed, const ChurnFigures& found,
          Duration own) {
    std::printf(
        "| %s | %s | %d | %d (%.1f %%) | %d of %d (%.1f %%) | %d | %d (%.1f %%) | %.1f / %.1f | "
        "%.1f / %.1f | %.1f | %d |\n",
        mode.c_str(), seed.c_str(), found.asked, found.first, percent(found.first, found.asked),
        found.first_possible, found.possible, percent(found.first_possible, found.possible),
        found.victims, found.unused,
        found.victims == 0 ? 0.0 : percent(found.unused, found.victims),
        seconds_of(median(found.waits)), seconds_of(longest(found.waits)),
        seconds_of(median(found.culls)), seconds_of(longest(found.culls)), seconds_of(own),
        found.breakers);
    std::fflush(stdout);
}

void show_head() {
    std::printf(
        "| cloud | seed | regular requests | first tries | of what was possible | victims | "
        "unused | s to ACTIVE, median / worst | with a cull | Nova's own | breakers |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n");
}

/// Without what differs from one to the other.
std::string kind_of(const std::string& text) {
    std::string kind;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() &&
               (std::isxdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-'))
            ++end;
        const std::string word = text.substr(at, end - at);
        const bool digits = word.find_first_of("0123456789") != std::string::npos;
        if (end > at) kind += digits ? "N" : word;
        if (end == at) kind += text[end++];
        at = end;
    }
    return kind.substr(0, 160);
}

void show_failures(const ChurnFigures& found, bool each) {
    std::map<std::string, int> kinds;
    for (const ChurnFailure& failure : found.failures) {
        const std::string try_of = failure.first ? "first try" : "came back";
        const std::string could = failure.possible ? "" : ", not possible";
        ++kinds[try_of + could + "; " + kind_of(failure.outcome) +
                "; the gateway last: " + kind_of(failure.told)];
        if (each)
            std::printf("  %s %s: %s%s; %s; the gateway last: %s\n", failure.request.c_str(),
                        failure.asked.c_str(), try_of.c_str(), could.c_str(),
                        failure.outcome.c_str(), failure.told.c_str());
    }
    for (const auto& [kind, count] : kinds) std::printf("  %d x %s\n", count, kind.c_str());
    for (const auto& [result, count] : found.room_went)
        std::printf("  victims, by the journal: %s %d\n", result.c_str(), count);
}

/// Where the time of one cull goes; the medians of the seeds. Its part of Nova's own time.
double show_latency(const std::string& mode, std::uint64_t first, std::uint64_t seeds) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<Duration>> steps;
    std::vector<Duration> own_boots, own_deletions, totals;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const OwnLatency own = own_latency(seed, delays_of(mode));
        own_boots.push_back(own.boot);
        own_deletions.push_back(own.deletions);
        const Steps found = latency_of_a_cull(seed, delays_of(mode));
        if (found.empty()) {
            std::printf("%s, seed %llu: not served\n", mode.c_str(),
                        static_cast<unsigned long long>(seed));
            continue;
        }
        Duration total{};
        for (const auto& [name, took] : found) {
            if (!steps.contains(name)) order.push_back(name);
            steps[name].push_back(took);
            total += took;
        }
        totals.push_back(total);
    }
    if (totals.size() < seeds) return std::numeric_limits<double>::infinity();
    const Duration own = median(own_boots) + median(own_deletions);
    const double ratio = seconds_of(median(totals)) / seconds_of(own);
    std::printf(
        "%s: a cull of four: %.3f s (worst %.3f); Nova's own: boot %.3f s, deletions %.3f s; "
        "ratio %.3f\n",
        mode.c_str(), seconds_of(median(totals)), seconds_of(longest(totals)),
        seconds_of(median(own_boots)), seconds_of(median(own_deletions)), ratio);
    for (const std::string& name : order)
        std::printf("  %-32s + %6.3f s (worst %.3f)\n", name.c_str(),
                    seconds_of(median(steps[name])), seconds_of(longest(steps[name])));
    return ratio;
}

}  // namespace
}  // namespace reaper::faults

int main(int argc, char** argv) {
    using namespace reaper::faults;
    CLI::App app{"Regular users on a cloud that revocable ones keep full, in virtual time"};
    ChurnSetup setup;
    std::vector<std::string> modes;
    std::uint64_t seeds = 10;
    int minutes = 5;
    std::optional<int> list_ms, delete_ms, call_ms;
    bool latency = false, each = false;
    double least_first = 0, most_unused = 100;
    double most_ratio = std::numeric_limits<double>::infinity();
    app.add_option("--mode", modes, "calm, lab, busy or slow; all but lab otherwise")
        ->check(CLI::IsMember({"calm", "lab", "busy", "slow"}));
    app.add_option("--seeds", seeds, "runs of each mode");
    app.add_option("--seed", setup.seed, "the first one");
    app.add_option("--minutes", minutes, "of each run, in virtual time");
    app.add_option("--hosts", setup.hosts);
    app.add_option("--regular-users", setup.regular_users);
    app.add_option("--revocable-users", setup.revocable_users);
    app.add_option("--under-way", setup.under_way, "of their servers at a time");
    app.add_option("--list-delay", list_ms, "ms: Nova's lists of servers, instead of the mode's");
    app.add_option("--delete-delay", delete_ms, "ms: a deletion");
    app.add_option("--call-delay", call_ms, "ms: each call");
    app.add_flag("--one-id", setup.one_id, "all clients give their boots the same request id");
    app.add_flag("--latency", latency, "where the time of one cull goes, instead");
    app.add_flag("--each", each, "each request that was not served");
    app.add_option("--least-first", least_first, "percent of what is possible; else it fails");
    app.add_option("--most-unused", most_unused, "percent of the victims; else it fails");
    app.add_option("--most-ratio", most_ratio, "of a cull to Nova's own time; else it fails");
    CLI11_PARSE(app, argc, argv);
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("none", std::make_shared<spdlog::sinks::null_sink_st>()));
    if (modes.empty()) modes = {"calm", "busy", "slow"};
    setup.length = std::chrono::minutes{minutes};
    bool met = true;
    if (!latency) show_head();
    for (const std::string& mode : modes) {
        if (latency) {
            met = show_latency(mode, setup.seed, seeds) <= most_ratio && met;
            continue;
        }
        setup.delays = delays_of(mode);
        if (list_ms) setup.delays.list = milliseconds{*list_ms};
        if (delete_ms) setup.delays.erase = milliseconds{*delete_ms};
        if (call_ms) setup.delays.call = milliseconds{*call_ms};
        const OwnLatency own = own_latency(setup.seed, setup.delays);
        ChurnFigures sum;
        for (std::uint64_t run = 0; run < seeds; ++run) {
            ChurnSetup one = setup;
            one.seed = setup.seed + run;
            const ChurnFigures found = churn(one);
            show(mode, std::to_string(one.seed), found, own.boot + own.deletions);
            sum.add(found);
        }
        show(mode, "all", sum, own.boot + own.deletions);
        show_failures(sum, each);
        met = met && percent(sum.first_possible, sum.possible) >= least_first &&
              sum.unused * 100.0 <= most_unused * sum.victims && sum.victims > 0;
    }
    if (!met) std::printf("the bar is not met\n");
    return met ? 0 : 1;
}
