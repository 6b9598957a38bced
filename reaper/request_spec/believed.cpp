#include "reaper/request_spec/believed.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper {
namespace {

using Then = Doubt::Then;

/// The actions that such a message can be about.
bool fits(FailureEvent event, std::string_view action) {
    const auto is_any_of = [&](std::initializer_list<std::string_view> names) {
        return std::ranges::find(names, action) != names.end();
    };
    switch (event) {
        case FailureEvent::build_instances: return is_any_of({"create", "unshelve"});
        case FailureEvent::migrate_server:
            return is_any_of({"resize", "migrate", "live-migration"});
        case FailureEvent::rebuild_server: return is_any_of({"evacuate", "rebuild"});
        case FailureEvent::unshelve_server: return action == "unshelve";
    }
    return false;
}

/// A boot: the server itself shows that it failed, and why.
std::optional<Doubt> doubt_of_build(const FailureNotice& notice, const RequesterFacts& facts,
                                    const std::string& server) {
    if (!facts.host.empty())
        return Doubt{Then::refuse,
                     "Nova says that " + server + " is on host " + in_quotes(facts.host)};
    if (facts.status != "ERROR")
        return Doubt{Then::look_again, "Nova says that " + server + " is " +
                                           in_quotes(facts.status) + ", not failed"};
    if (!facts.fault) return Doubt{Then::look_again, "Nova shows no failure of " + server};
    const FailureCause told = facts.fault->cause;
    const FailureCause claimed =
        retries_exhausted(notice) ? FailureCause::retries_exhausted : FailureCause::no_valid_host;
    if (told == claimed) return std::nullopt;
    if (told == FailureCause::not_reported && claimed == FailureCause::no_valid_host)
        return std::nullopt;
    return Doubt{Then::refuse, "Nova says that " + server + " failed for another reason: " +
                                   in_quotes(facts.fault->message)};
}

/// What the record of the action says of a server that lives on.
std::optional<Doubt> doubt_of_move(const ActionRecord& action, const std::string& server) {
    const std::string name = "the action " + in_quotes(action.name) + " of " + server;
    if (!action.ended) return Doubt{Then::wait, "Nova is still at " + name};
    if (!action.failed) return Doubt{Then::refuse, "Nova says that " + name + " did not fail"};
    if (action.cause == FailureCause::other)
        return Doubt{Then::refuse, "Nova says that " + name +
                                       " failed for another reason: " + in_quotes(action.message)};
    return std::nullopt;
}

}  // namespace

std::optional<TimePoint> failed_at(const FailureNotice& notice, const RequesterFacts& facts) {
    const bool build = notice.event == FailureEvent::build_instances;
    TimePoint at{};
    if (build && facts.fault) at = facts.fault->created;
    if (!build && facts.action) at = facts.action->last_event;
    if (at == TimePoint{}) return std::nullopt;
    return at;
}

std::optional<Doubt> why_not_believed(const FailureNotice& notice, const RequesterFacts& facts,
                                      TimePoint now, Duration max_age) {
    if (!facts.exists || facts.deleting) return std::nullopt;
    const std::string server = "server " + printable(notice.server.str(), 64);
    if (!facts.action)
        return Doubt{Then::look_again,
                     "Nova knows no action of " + server + " with this request id"};
    if (!fits(notice.event, facts.action->name))
        return Doubt{Then::refuse, "Nova says that this request id is the action " +
                                       in_quotes(facts.action->name) + " of " + server +
                                       ", which such a message is not about"};
    auto doubt = facts.action->name == "create" ? doubt_of_build(notice, facts, server)
                                                : doubt_of_move(*facts.action, server);
    if (doubt) return doubt;
    const auto at = failed_at(notice, facts);
    if (at && now - *at > max_age)
        return Doubt{Then::refuse, "Nova says that it failed " + format_duration(now - *at) +
                                       " ago; what is older than " + format_duration(max_age) +
                                       " is not acted on"};
    return std::nullopt;
}

std::optional<std::string> why_not_believed(const Schedule& schedule, const FailureNotice& notice,
                                            const RequesterFacts& facts) {
    const std::string server = "server " + printable(notice.server.str(), 64);
    const bool of_several =
        notice.event == FailureEvent::build_instances && notice.num_instances > 1;
    if (schedule.server != notice.server && !of_several)
        return "it is for server " + printable(schedule.server.str(), 64) + ", not for " + server;
    if (facts.project.empty() || schedule.project == facts.project) return std::nullopt;
    return "it is of project " + printable(schedule.project.str(), 64) + ", and Nova says that " +
           server + " is of project " + printable(facts.project.str(), 64);
}

}  // namespace reaper
