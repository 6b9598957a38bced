#include "reaper/cli/daemon/active_reaper.hpp"

#include <utility>

#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::cli {
namespace {

std::string named(const ActiveReaper& who) {
    return printable(who.machine, 255) + " (journal " + printable(who.journal, 255) + ")";
}

}  // namespace

Activity no_active_reaper() {
    Activity none;
    none.not_needed = true;
    none.unknown = "a dry run serves no requests, and has a queue of its own";
    return none;
}

Activity activity_of(const config::Broker& broker, const std::string& journal_path) {
    Activity activity;
    auto answer = broker_console(broker)->active_reaper();
    if (!answer) {
        activity.unknown = answer.error().what;
    } else {
        activity.active = std::move(*answer);
        const ActiveReaper self{machine_name(), journal_path};
        activity.here = *activity.active == self;
    }
    return activity;
}

bool is_here(const ActiveReaper& active, const config::LocalSettings& settings) {
    const ActiveReaper self{machine_name(), settings.journal.place()};
    // Started before the configuration asked for a dry run.
    const ActiveReaper in_earnest{machine_name(), settings.other_journal.place()};
    return active == self || (settings.dry_run && active == in_earnest);
}

namespace {

Activity activity_in(ReaperList list, const std::string& journal) {
    Activity activity;
    const JournalReaper* const active = list.active();
    if (active != nullptr) {
        activity.active = ActiveReaper{active->note.machine, journal};
        activity.here = active->note.machine == machine_name();
    } else {
        activity.unknown = list.held              ? list.holder + " has just begun"
                           : list.trouble.empty() ? "none is active"
                                                  : list.trouble;
    }
    activity.reapers = std::move(list);
    return activity;
}

std::string text_of(const ReaperState& state) {
    std::string text = state.cache_age ? ", cache of " + format_duration(*state.cache_age)
                                       : ", has not read the cloud yet";
    if (state.in_flight > 0) text += ", requests in flight: " + std::to_string(state.in_flight);
    return state.broker == false ? text + ", RabbitMQ does not deliver" : text;
}

/// `active`: another one, whose configuration should be the same; or null.
std::string line_of(const JournalReaper& reaper, const JournalReaper* active) {
    std::string line =
        printable(reaper.note.name, 512) + " (version " + printable(reaper.note.version, 64) +
        "), " + (reaper.active ? "active" : "standing by") + " since " + iso_time(reaper.since);
    if (reaper.silent > std::chrono::seconds{10})
        line += ", silent for " + format_duration(reaper.silent);
    if (reaper.state) line += text_of(*reaper.state);
    if (active == nullptr || reaper.note.configuration == active->note.configuration) return line;
    line += "; its configuration differs";
    const auto sections = differing_sections(reaper.note.sections, active->note.sections);
    return sections.empty() ? line : line + ": " + joined(sections, ", ");
}

std::string text_of(const Activity& activity) {
    const ReaperList& list = *activity.reapers;
    const JournalReaper* const active = list.active();
    std::string text = active != nullptr ? line_of(*active, nullptr)
                                         : "not known: " + printable(activity.unknown, 500);
    for (const JournalReaper& each : list.all)
        if (!each.active) text += "\nstandby: " + line_of(each, active);
    return text;
}

}  // namespace

Activity activity_of(const config::LocalSettings& settings) {
    if (auto list = reapers_of(settings.journal))
        return activity_in(std::move(*list), settings.journal.place());
    Activity activity;
    if (settings.broker_unknown.empty()) {
        activity = activity_of(settings.broker, settings.journal.place());
        if (activity.active) activity.here = is_here(*activity.active, settings);
    } else {
        activity.unknown = settings.broker_unknown;
    }
    return activity;
}

std::string to_text(const Activity& activity) {
    if (activity.not_needed) return "none is needed: " + activity.unknown;
    if (activity.reapers) return text_of(activity);
    if (!activity.active) return "not known: " + printable(activity.unknown, 500);
    if (activity.here) return "this one";
    return "on " + named(*activity.active) +
           "; this one stands by, and has a pause, limits and a journal of its own";
}

std::string not_known_text(const std::string& why) {
    return "which reaper is active is not known: " + printable(why, 500);
}

nlohmann::json to_json(const Activity& activity) {
    nlohmann::json told = {{"unknown", activity.unknown}};
    if (activity.active)
        told = {{"machine", activity.active->machine},
                {"journal", activity.active->journal},
                {"here", activity.here}};
    if (!activity.reapers) return told;
    for (const JournalReaper& each : activity.reapers->all) {
        told["reapers"].push_back({{"name", each.note.name},
                                   {"machine", each.note.machine},
                                   {"version", each.note.version},
                                   {"active", each.active},
                                   {"since", iso_time(each.since)},
                                   {"silent_s", each.silent.count() / 1000},
                                   {"gateway", each.note.gateway},
                                   {"configuration", each.note.configuration},
                                   {"cache_age_s", nullptr},
                                   {"in_flight", nullptr}});
        if (!each.state) continue;
        nlohmann::json& last = told["reapers"].back();
        last["in_flight"] = each.state->in_flight;
        if (each.state->cache_age) last["cache_age_s"] = each.state->cache_age->count() / 1000;
    }
    return told;
}

}  // namespace reaper::cli
