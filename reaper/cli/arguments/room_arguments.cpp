#include "reaper/cli/arguments/room_arguments.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "config/values.hpp"
#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/arguments/past_arguments.hpp"
#include "reaper/cli/arguments/request_arguments.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/request_spec/described_request.hpp"

namespace reaper::cli {
namespace {

/// `NAME:param=value,param=value`; a parameter that is given several times is a list.
Result<EstimateCommand::Chosen> chosen_estimator(const std::string& text) {
    EstimateCommand::Chosen chosen;
    const auto colon = text.find(':');
    chosen.name = text.substr(0, colon);
    if (chosen.name.empty())
        return Error{Errc::bad_input, "--estimator: is " + in_quotes(text) +
                                          "; expected NAME or NAME:param=value,..."};
    if (colon == std::string::npos) return chosen;
    std::istringstream parts{text.substr(colon + 1)};
    for (std::string part; std::getline(parts, part, ',');) {
        const auto mark = part.find('=');
        if (mark == std::string::npos || mark == 0 || mark + 1 == part.size())
            return Error{Errc::bad_input,
                         "--estimator: has " + in_quotes(part) + "; expected param=value"};
        chosen.parameters[part.substr(0, mark)].push_back(part.substr(mark + 1));
    }
    return chosen;
}

Error wrong(const std::string& option, const std::string& text, const std::string& expected) {
    return Error{Errc::bad_input,
                 option + ": is '" + printable(text, 60) + "'; expected " + expected};
}

}  // namespace

Result<void> read_period(const PeriodTexts& texts, std::optional<TimePoint>& since, Duration& span,
                         std::optional<TimePoint>& until) {
    if (!texts.since.empty()) {
        const auto back = parse_duration(texts.since);
        if (back && *back > Duration::zero())
            span = *back;
        else
            since = parse_time_or_date(texts.since);
        if (!since && (!back || *back <= Duration::zero()))
            return wrong("--since", texts.since,
                         "a span such as 24h or 7d, or a date such as 2026-11-01 (UTC)");
    }
    if (!texts.until.empty()) {
        until = parse_time_or_date(texts.until);
        if (!until)
            return wrong("--until", texts.until,
                         "a date such as 2026-11-01 or 2026-11-01T12:30:00Z (UTC)");
    }
    return {};
}

Result<void> check_span(std::optional<Duration> span, std::optional<TimePoint> until,
                        TimePoint now) {
    if (!span || !until || now - *span < *until) return {};
    return Error{Errc::bad_input, "--until: must be later than --since, which counts from now: " +
                                      iso_time(now - *span)};
}

Result<EstimateCommand> estimate_command(const EstimateTexts& texts) {
    EstimateCommand estimate;
    const auto period =
        read_past({texts.since, texts.until}, estimate.since, estimate.span, estimate.until);
    if (!period) return period.error();
    if (!texts.step.empty()) {
        const auto step = config::duration_of(texts.step);
        if (!step || *step < std::chrono::seconds{1} || *step > std::chrono::hours{1})
            return wrong("--step", texts.step, "a span from 1s to 1h, such as 1min");
        estimate.step = *step;
    }
    for (const auto& text : texts.estimators) {
        auto chosen = chosen_estimator(text);
        if (!chosen) return chosen.error();
        estimate.estimators.push_back(std::move(*chosen));
    }
    return estimate;
}

namespace {

Error no_question(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

}  // namespace

void add_room_options(CLI::App& command, RoomTexts& texts) {
    command.add_option("--flavor", texts.flavor, "What one server is: a flavor's name or id")
        ->type_name("FLAVOR");
    command
        .add_option("--resources", texts.resources, "What one server needs: VCPU=4,MEMORY_MB=2048")
        ->type_name("LIST");
    command.add_option("--slots,--count", texts.count, "How many such servers (default 1)")
        ->type_name("N")
        ->check(quiet(CLI::Range(1, 100000)));
    command
        .add_option("--project", texts.project,
                    "Whose they are: project id or name (default: of a regular one)")
        ->type_name("PROJECT");
    command.add_option("--zone,--az", texts.zone, "Availability zone that they must be in")
        ->type_name("AZ");
    command.add_option("--trait", texts.traits, "NAME=required or NAME=forbidden; may be repeated")
        ->type_name("TRAIT")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        .add_option("--snapshot", texts.snapshot_file,
                    "Read this file of 'reaper snapshot' instead of the cloud")
        ->type_name("FILE");
}

Result<RoomCommand> room_command(const RoomTexts& texts) {
    RoomCommand room;
    if (texts.flavor.empty() == texts.resources.empty())
        return no_question("'reaper room' needs one of --flavor FLAVOR and --resources LIST");
    if (!texts.flavor.empty() && !texts.snapshot_file.empty())
        return no_question(flavor_of_snapshot);
    if (!texts.resources.empty()) {
        auto resources = parse_resources(texts.resources);
        if (!resources) return no_question("--resources: " + resources.error().what);
        room.resources = std::move(*resources);
    }
    for (const std::string& text : texts.traits)
        if (const auto added = add_trait(room, text); !added)
            return no_question("--trait: " + added.error().what);
    room.flavor = texts.flavor;
    room.slots = texts.count;
    room.project = texts.project;
    if (!texts.zone.empty()) room.availability_zone = texts.zone;
    room.snapshot_file = texts.snapshot_file;
    return room;
}

}  // namespace reaper::cli
