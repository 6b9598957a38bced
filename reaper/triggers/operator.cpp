#include "reaper/triggers/operator.hpp"

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/flavor_search.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {

RequestId OperatorTrigger::id_of(const DescribedRequest& described) {
    if (!described.id.empty()) return RequestId{described.id};
    const auto now = dependencies_.cloud.clock.now().time_since_epoch().count();
    return RequestId{"operator-" + std::to_string(now) + "-" + std::to_string(++made_)};
}

Result<void> OperatorTrigger::submit(DescribedRequest described, RequestId id,
                                     std::function<void(const Outcome&)> done) {
    if (dependencies_.stopping) return Error{Errc::conflict, "the reaper is stopping"};
    auto lease = std::make_shared<WhileServingLease>(dependencies_.messages);
    if (!lease->held())
        return Error{Errc::conflict,
                     "this reaper does not serve the queue (another one does, or the broker can't "
                     "be reached): ask the one that does, or try again shortly"};
    const TimePoint now = dependencies_.cloud.clock.now();
    TriggeredRequest triggered;
    triggered.request = request_of(described, id, ProjectId{described.project}, now);
    triggered.request.deadline = now + dependencies_.settings.max_age;
    triggered.event_id = "operator/" + id.str();
    triggered.event_type = "operator";
    triggered.lease = std::move(lease);
    triggered.complete = [this, described, id, now] { return complete(described, id, now); };
    triggered.done = std::move(done);
    if (described.flavor.empty())
        log_about({.request = id.str()}, spdlog::level::info, "{}: an operator asks for {}",
                  printable(id.str()), to_string(triggered.request));
    else
        log_about({.request = id.str()}, spdlog::level::info,
                  "{}: an operator asks for {} of flavor {}", printable(id.str()), described.slots,
                  in_quotes(described.flavor));
    dependencies_.sink.submit(std::move(triggered));
    return {};
}

/// With the project's id, whose name may have been given, and with what its flavor takes.
ResultTask<std::variant<Request, Refused>> OperatorTrigger::complete(DescribedRequest described,
                                                                     RequestId id,
                                                                     TimePoint asked_at) {
    auto project = co_await dependencies_.cloud.identity.find_project(described.project);
    if (!project) co_return project.error();
    if (!project->found)
        co_return std::variant<Request, Refused>{Refused{std::move(project->why_not)}};
    Request request = request_of(described, std::move(id), project->found->id, asked_at);
    if (described.flavor.empty()) co_return std::variant<Request, Refused>{std::move(request)};
    SchedulerRules rules = dependencies_.rules();
    auto made = co_await with_flavor(dependencies_.cloud.compute, std::move(request),
                                     described.flavor, std::move(rules));
    if (!made) co_return made.error();
    if (auto* const unknown = std::get_if<UnknownFlavor>(&*made))
        co_return std::variant<Request, Refused>{Refused{std::move(unknown->why)}};
    if (auto* const refused = std::get_if<Refused>(&*made))
        co_return std::variant<Request, Refused>{std::move(*refused)};
    co_return std::variant<Request, Refused>{std::get<Request>(std::move(*made))};
}

}  // namespace reaper
