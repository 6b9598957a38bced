#include "reaper/cli/active_reaper.hpp"

#include <algorithm>
#include <chrono>

#include "reaper/model/text.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::cli {
namespace {

/// A reaper that serves the queue answers at once.
constexpr std::chrono::milliseconds patience{3'000};
/// Whoever looks at this machine does not wait long for another one.
constexpr std::chrono::milliseconds longest_connect{2'000};

std::string named(const ActiveReaper& who) {
    return printable(who.machine, 255) + " (journal " + printable(who.journal, 255) + ")";
}

}  // namespace

Activity activity_of(config::Broker broker, const std::string& journal_path) {
    broker.connect_timeout = std::min(broker.connect_timeout, longest_connect);
    Activity activity;
    auto answer = ask_for_active_reaper(broker, patience);
    if (!answer) {
        activity.unknown = answer.error().what;
    } else if (!*answer) {
        activity.unknown = "nobody answered within 3 s: the reaper that serves queue '" +
                           broker.queue + "' is frozen, fully occupied or older";
    } else {
        activity.active = std::move(*answer);
        const ActiveReaper self{machine_name(), journal_path};
        activity.here = *activity.active == self;
    }
    return activity;
}

Activity activity_of(const config::LocalSettings& settings) {
    if (settings.broker_unknown.empty()) return activity_of(settings.broker, settings.journal.path);
    Activity activity;
    activity.unknown = settings.broker_unknown;
    return activity;
}

std::string to_text(const Activity& activity) {
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
