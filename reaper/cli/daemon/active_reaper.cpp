#include "reaper/cli/daemon/active_reaper.hpp"

#include <utility>

#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
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

Activity activity_of(const config::LocalSettings& settings) {
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
    if (!activity.active) return "not known: " + printable(activity.unknown, 500);
    if (activity.here) return "this one";
    return "on " + named(*activity.active) +
           "; this one stands by, and has a pause, limits and a journal of its own";
}

nlohmann::json to_json(const Activity& activity) {
    if (!activity.active) return {{"unknown", activity.unknown}};
    return {{"machine", activity.active->machine},
            {"journal", activity.active->journal},
            {"here", activity.here}};
}

}  // namespace reaper::cli
