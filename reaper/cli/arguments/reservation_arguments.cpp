#include "reaper/cli/arguments/reservation_arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "config/values.hpp"
#include "reaper/cli/arguments/help_formatter.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

/// What `reserve` and `unreserve` have in common.
void add_reservation(CLI::App& command, Parsed& parsed, ReserveCommand& order) {
    const auto each = CLI::MultiOptionPolicy::TakeAll;
    command.add_option("--host", order.hosts, "Host, by name or UUID; may be repeated")
        ->required()
        ->type_name("HOST")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(each);
    command.add_option("--role", order.role, "For whom: a path such as engineering/backend")
        ->required()
        ->type_name("ROLE");
    command.add_option("--resources", parsed.resources, "How much on each host: VCPU=8,DISK_GB=80")
        ->required()
        ->type_name("LIST");
    command
        .add_option("--label", parsed.labels,
                    "NAME=VALUE or NAME; different labels stay apart; may be repeated")
        ->type_name("LABEL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(each);
    command.add_option("--principal", order.principal, "Who asks (default: the user)")
        ->type_name("NAME");
    command
        .add_option("--key", order.key,
                    "Name the order, so that asking again is the same order, not another one")
        ->type_name("KEY");
    command.add_flag("--dry-run", order.dry_run, "Only say whether it could be done");
}

Result<std::map<std::string, std::string>> labels_of(const std::vector<std::string>& texts,
                                                     const std::string& option) {
    std::map<std::string, std::string> labels;
    for (const std::string& text : texts) {
        const auto mark = text.find('=');
        const std::string value = mark == std::string::npos ? "" : text.substr(mark + 1);
        if (text.empty() || mark == 0 || !labels.emplace(text.substr(0, mark), value).second)
            return Error{Errc::bad_input, option + ": is '" + printable(text, 60) +
                                              "'; expected NAME=VALUE or NAME, each name once"};
    }
    return labels;
}

}  // namespace

void add_reservations(CLI::App& app, Parsed& parsed) {
    CLI::App& reserve = *add_command(app, "reserve", help::reserve);
    add_reservation(reserve, parsed, parsed.reserve);
    reserve
        .add_option("--refines", parsed.reserve.refines,
                    "Take it from this role above instead of unreserved room")
        ->type_name("ROLE");
    reserve
        .add_option("--refines-label", parsed.refines_labels,
                    "A label of the reservation that is refined; may be repeated")
        ->type_name("LABEL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    reserve.add_flag("--lend", parsed.lend, "Revocable servers may use what is idle");
    reserve.add_flag("--no-lend", parsed.no_lend, "They may not");
    reserve.add_option("--floor", parsed.floor, "Never lend that much: VCPU=2")->type_name("LIST");
    reserve
        .add_option("--longest-loan", parsed.longest_loan,
                    "So long: 24h; 0s: for ever (else: reservations.longest_loan)")
        ->type_name("SPAN");
    CLI::App& unreserve = *add_command(app, "unreserve", help::unreserve);
    add_reservation(unreserve, parsed, parsed.unreserve);
    unreserve
        .add_option("--refines", parsed.unreserve_refines,
                    "Only of what was taken from this role above ('': from unreserved room)")
        ->type_name("ROLE");
    unreserve
        .add_option("--refines-label", parsed.refines_labels,
                    "A label of the reservation that was refined; may be repeated")
        ->type_name("LABEL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    unreserve
        .add_option("--reserver", parsed.unreserve.reserver,
                    "Only of what this principal reserved (default: one's own first)")
        ->type_name("NAME");
    unreserve.add_flag("--lent-too", parsed.unreserve.lent_too,
                       "Also what is lent: its tenants go first");
    CLI::App& list = *add_command(app, "reservations", help::reservations);
    list.add_option("--role", parsed.reservations.role, "Only of this role")->type_name("ROLE");
    list.add_option("--host", parsed.reservations.host, "Only on this host")->type_name("HOST");
}

Result<ReserveCommand> finish_reserve(const CLI::App& app, const Parsed& parsed) {
    const auto wrong = [](std::string what) { return Error{Errc::bad_input, std::move(what)}; };
    const bool unreserve = app.get_name() == "unreserve";
    ReserveCommand order = unreserve ? parsed.unreserve : parsed.reserve;
    order.unreserve = unreserve;
    if (const auto role = Role::parse(order.role); !role)
        return wrong("--role: " + role.error().what);
    auto resources = parse_resources(parsed.resources);
    if (!resources) return wrong("--resources: " + resources.error().what);
    order.resources = std::move(*resources);
    auto labels = labels_of(parsed.labels, "--label");
    if (!labels) return labels.error();
    order.labels = std::move(*labels);
    auto refined = labels_of(parsed.refines_labels, "--refines-label");
    if (!refined) return refined.error();
    order.refines_labels = std::move(*refined);
    if (unreserve) order.returns_to = parsed.unreserve_refines;
    const std::string refines = unreserve ? order.returns_to.value_or("") : order.refines;
    if (!order.refines_labels.empty() && refines.empty())
        return wrong("--refines-label goes with --refines");
    if (const auto role = Role::parse(refines); !refines.empty() && !role)
        return wrong("--refines: " + role.error().what);
    if (unreserve) return order;
    if (parsed.lend && parsed.no_lend) return wrong("--lend and --no-lend: one of the two");
    if (parsed.lend || parsed.no_lend) order.lend = parsed.lend;
    if (!parsed.lend && (!parsed.floor.empty() || !parsed.longest_loan.empty()))
        return wrong("--floor and --longest-loan go with --lend");
    if (!parsed.floor.empty()) {
        auto floor = parse_resources(parsed.floor);
        if (!floor) return wrong("--floor: " + floor.error().what);
        order.floor = std::move(*floor);
    }
    if (parsed.longest_loan.empty()) return order;
    const auto span = config::duration_of(parsed.longest_loan);
    if (!span || *span < Duration::zero())
        return wrong("--longest-loan: is '" + printable(parsed.longest_loan, 60) +
                     "'; expected a span such as 30min or 24h");
    order.longest_loan = *span;
    return order;
}

}  // namespace reaper::cli
