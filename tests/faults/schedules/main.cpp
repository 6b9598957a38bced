// fault_schedules: random schedules of requests and faults, judged. README.md tells how to use it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "faults/schedules/checker.hpp"
#include "faults/schedules/clouds.hpp"
#include "faults/schedules/report.hpp"
#include "faults/schedules/schedule.hpp"

namespace {

using namespace reaper::faults;

struct Options {
    std::uint64_t seed = 1;
    std::uint64_t schedules = 1;
    double soak_seconds = 0;
    std::uint64_t max_failures = 20;
    bool verbose = false;
    bool twice = false;
    bool no_shrink = false;
    int gateway = 0;       ///< percent of the schedules
    int reservations = 0;  ///< the same
    int sold_room = 0;     ///< the same
    int shared = 0;        ///< the same
    int notice = 0;        ///< the same
    int shelve = 0;        ///< the same
    std::vector<std::size_t> without;
};

/// Leaves items out, one by one, as long as the same rule is broken.
std::set<std::size_t> shrink(const SchedulePlan& plan, std::set<std::size_t> without,
                             const std::string& rule) {
    for (std::size_t i = 0; i < plan.items.size(); ++i) {
        if (without.contains(i)) continue;
        auto fewer = without;
        fewer.insert(i);
        Tally aside;
        run_schedule(plan, fewer, false, aside);
        if (aside.violations.contains(rule)) without = std::move(fewer);
    }
    return without;
}

void tell_failure(const Options& options, const SchedulePlan& plan, const ScheduleResult& result,
                  const std::set<std::size_t>& without) {
    std::cout << "\nFAILED\n" << describe(plan);
    for (const auto& violation : result.violations) std::cout << "  " << violation << '\n';
    const std::string rule =
        result.violations.front().substr(0, result.violations.front().find(':'));
    std::string command = "fault_schedules --verbose --seed " + std::to_string(plan.seed);
    if (options.gateway > 0) command += " --gateway " + std::to_string(options.gateway);
    if (options.reservations > 0)
        command += " --reservations " + std::to_string(options.reservations);
    if (options.sold_room > 0)
        command += " --oversubscription " + std::to_string(options.sold_room);
    if (options.shared > 0) command += " --shared-journal " + std::to_string(options.shared);
    if (options.notice > 0) command += " --notice " + std::to_string(options.notice);
    if (options.shelve > 0) command += " --shelve " + std::to_string(options.shelve);
    if (!options.no_shrink && !options.verbose) {
        const auto fewer = shrink(plan, without, rule);
        if (!fewer.empty()) command += " --without";
        for (const auto item : fewer) command += ' ' + std::to_string(item);
    }
    std::cout << "  replay: " << command << std::endl;
}

bool run_one(const Options& options, std::uint64_t seed, Tally& tally) {
    SchedulePlan plan = make_plan_of(seed);
    draw_gateway(plan, options.gateway);
    draw_reservations(plan, options.reservations);
    draw_sold_room(plan, options.sold_room);
    draw_shared_journal(plan, options.shared);
    draw_notice(plan, options.notice);
    draw_shelving(plan, options.shelve);
    draw_slow_nova(plan);
    draw_looping_tenant(plan);
    const std::set<std::size_t> without(options.without.begin(), options.without.end());
    if (options.verbose) std::cout << describe(plan) << std::flush;
    const ScheduleResult result = run_schedule(plan, without, options.verbose, tally);
    bool good = result.violations.empty();
    if (!good) tell_failure(options, plan, result, without);
    if (options.twice) {
        Tally aside;
        const auto again = run_schedule(plan, without, false, aside);
        if (again.trace_hash != result.trace_hash) {
            std::cout << "seed " << seed << ": a replay went another way\n";
            ++tally.violations["replay"];
            good = false;
        }
    }
    if (options.verbose)
        std::cout << "trace " << std::hex << result.trace_hash << std::dec << ", "
                  << std::chrono::duration<double>(result.virtual_time).count()
                  << " s of virtual time\n";
    return good;
}

/// Of so many schedules with reservations, each of these has come up; in few it may honestly not.
constexpr std::uint64_t enough_for_races = 80;

/// A judge that never meets a race tells nothing of it.
bool met_races(const Options& options, const Tally& tally) {
    if (options.reservations == 0 || tally.with_reservations < enough_for_races) return true;
    bool met = true;
    for (const char* const race : {another_lender_waits, a_borrower_waits}) {
        const auto at = tally.lender_races.find(race);
        if (at != tally.lender_races.end() && at->second > 0) continue;
        std::cout << "no tenant went for its lender while " << race << '\n';
        met = false;
    }
    return met;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Random schedules of requests and faults, in virtual time.");
    app.add_option("--seed", options.seed, "of the first schedule");
    app.add_option("--schedules", options.schedules, "how many; each has the seed after the last");
    app.add_option("--soak", options.soak_seconds, "go on for so many seconds of real time");
    app.add_option("--without", options.without, "items of the plan that do not happen");
    app.add_option("--stop-at", options.max_failures, "end after so many failed schedules");
    app.add_option("--gateway", options.gateway,
                   "percent of the schedules in which nova-scheduler asks the reaper");
    app.add_option("--reservations", options.reservations,
                   "percent of the schedules in which room is reserved");
    app.add_option("--oversubscription", options.sold_room,
                   "percent of the schedules in which unused vCPUs are sold");
    app.add_option("--shared-journal", options.shared,
                   "percent of the schedules in which several reapers share a journal");
    app.add_option("--notice", options.notice,
                   "percent of the schedules in which servers have notice before their end");
    app.add_option("--shelve", options.shelve,
                   "percent of the schedules in which servers are shelved, not deleted");
    app.add_flag("--verbose", options.verbose, "print the trace and the reaper's log");
    app.add_flag("--twice", options.twice, "run each twice, and compare the traces");
    app.add_flag("--no-shrink", options.no_shrink, "do not look for a smaller failing schedule");
    CLI11_PARSE(app, argc, argv);
    if (!options.verbose) {
        spdlog::set_default_logger(spdlog::null_logger_mt("none"));
        spdlog::set_level(spdlog::level::off);
    } else {
        spdlog::set_pattern("              %v");
        std::setvbuf(stdout, nullptr, _IOLBF, 0);
    }
    Tally tally;
    std::uint64_t failed = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (std::uint64_t i = 0; failed < options.max_failures; ++i) {
        if (options.soak_seconds > 0 ? passed() > options.soak_seconds : i >= options.schedules)
            break;
        if (!run_one(options, options.seed + i, tally)) ++failed;
    }
    std::cout << table_of(tally, failed, passed());
    return failed == 0 && met_races(options, tally) ? 0 : 1;
}
