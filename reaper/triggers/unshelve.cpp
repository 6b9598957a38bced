#include "reaper/triggers/unshelve.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
namespace {

/// What Nova's clock may be behind ours, and a change may take to show.
constexpr Duration overlap{60'000};
/// Of one look; the others are the next look's.
constexpr std::size_t max_at_once = 200;
const std::set<std::string> off_their_hosts{"SHELVED_OFFLOADED"};
const char* const asked_event = "unshelved-again";

const ActionRecord* newest(const std::vector<ActionRecord>& actions) {
    const auto last = std::ranges::max_element(actions, {}, &ActionRecord::started);
    return last == actions.end() ? nullptr : &*last;
}

}  // namespace

/// Those of the requests that ended since the last look.
Task<void> UnshelveTrigger::ask_again() {
    const auto freed = std::exchange(freed_, {});
    for (const Freed& each : freed) {
        if (!dependencies_.settings.unshelve_again || !dependencies_.may_act()) co_return;
        Freed next = each;
        const auto asked = co_await ask_again(std::move(next));
        if (!asked)
            log_about({.request = each.request.str(), .server = each.server.str()},
                      spdlog::level::warn, "{}: server {} is not unshelved again: {}",
                      printable(each.request.str()), printable(each.server.str()),
                      asked.error().what);
    }
}

/// Once for each request, also after a restart.
ResultTask<void> UnshelveTrigger::ask_again(Freed freed) {
    const auto actions = co_await dependencies_.cloud.compute.actions(freed.server);
    if (!actions) co_return actions.error();
    const ActionRecord* const last = newest(*actions);
    if (last == nullptr || last->request != freed.request) co_return Result<void>{};
    const std::string said = printable(freed.request.str()) + ": ";
    JournalQuery query;
    query.kind = asked_event;
    query.since = freed.failed_at;
    query.limit = static_cast<int>(max_at_once);
    const auto told = co_await dependencies_.journal.find_events(std::move(query));
    if (!told) co_return told.error();
    for (const JournalEvent& each : *told)
        if (each.reason.starts_with(said)) co_return Result<void>{};
    JournalEvent event{asked_event,
                       said + "Nova is asked again to unshelve server " +
                           printable(freed.server.str()) + ", as its room is freed",
                       dependencies_.cloud.clock.now()};
    log_about({.request = freed.request.str(), .server = freed.server.str()}, spdlog::level::info,
              "{}", event.reason);
    const auto noted = co_await dependencies_.journal.note_event(std::move(event));
    if (!noted) co_return noted.error();
    if (!dependencies_.may_act()) co_return Result<void>{};
    const auto asked = co_await dependencies_.cloud.compute.unshelve_server(freed.server);
    if (!asked) co_return asked.error();
    co_return Result<void>{};
}

/// Then its owner does not wait for it. An operator may work as our user, and is served only where
/// nothing is asked again.
ResultTask<bool> UnshelveTrigger::asked_by_us(const ServerId& server, const ActionRecord& action) {
    if (dependencies_.is_return(server)) co_return true;
    if (!dependencies_.settings.unshelve_again) co_return false;
    const auto user = co_await dependencies_.cloud.identity.own_user();
    if (!user) co_return user.error();
    co_return !user->empty() && action.user == *user;
}

ResultTask<void> UnshelveTrigger::check() {
    co_await ask_again();
    const TimePoint now = dependencies_.cloud.clock.now();
    const Duration max_age = dependencies_.settings.max_age;
    const std::uint64_t serving = dependencies_.messages.serving();
    if (serving != 0 && serving != epoch_) {
        epoch_ = serving;
        submitted_.clear();
        seen_.clear();
        looked_at_ = {};
    }
    for (auto* const known : {&submitted_, &left_to_other_})
        std::erase_if(*known,
                      [&](const auto& entry) { return now - entry.second > max_age + overlap; });
    if (seen_.empty()) pass_began_ = now;
    TimePoint since = now - max_age;
    if (looked_at_ != TimePoint{}) since = std::max(since, looked_at_ - overlap);
    auto statuses = off_their_hosts;
    auto shelved = co_await dependencies_.cloud.compute.servers_in(std::move(statuses), since);
    if (!shelved) co_return shelved.error();
    std::size_t looks = 0;
    for (auto& record : *shelved) {
        if (!record.server.task_state.empty() || !record.server.host.empty()) continue;
        if (!seen_.insert(record.server.id).second) continue;
        if (++looks > max_at_once || dependencies_.stopping) {
            seen_.erase(record.server.id);
            co_return Result<void>{};
        }
        auto looked = co_await look_at(std::move(record));
        if (looked) continue;
        missed_ = true;  // one server must not hide the others
        spdlog::warn("{}; it is looked at again", looked.error().what);
    }
    seen_.clear();
    // What was missed is looked at again, with all that changed since the last whole pass.
    const bool whole = !std::exchange(missed_, false);
    if (whole) looked_at_ = pass_began_;
    co_return Result<void>{};
}

ResultTask<void> UnshelveTrigger::look_at(ServerRecord record) {
    auto actions = co_await dependencies_.cloud.compute.actions(record.server.id);
    if (!actions) co_return actions.error();
    const ActionRecord* const last = newest(*actions);
    const TimePoint now = dependencies_.cloud.clock.now();
    if (last == nullptr || last->name != "unshelve" || !last->failed ||
        now - last->started > dependencies_.settings.max_age)
        co_return Result<void>{};
    const Schedule* const search = dependencies_.schedules.find(last->request, record.server.id);
    if (search != nullptr && search->ended) co_return Result<void>{};
    if (submitted_.contains(last->request)) co_return Result<void>{};
    const auto ours = co_await asked_by_us(record.server.id, *last);
    if (!ours) co_return ours.error();
    if (*ours) co_return Result<void>{};
    ServerId server = record.server.id;
    RequestId request = last->request;
    // Only there Nova says why it failed.
    const auto action =
        co_await dependencies_.cloud.compute.action(std::move(server), std::move(request));
    if (!action) co_return action.error();
    if (!*action || !(*action)->ended || !(*action)->failed ||
        (*action)->cause == FailureCause::other)
        co_return Result<void>{};
    auto lease = std::make_shared<ServingLease>(dependencies_.messages);
    if (!lease->held()) {
        if (dependencies_.connected()) left_to_other_.emplace(last->request, now);
        co_return Result<void>{};
    }
    submitted_.emplace(last->request, now);
    if (left_alone(last->request, now)) {
        log_about({.request = last->request.str(), .server = record.server.id.str()},
                  spdlog::level::info,
                  "{}: the unshelving of server {} found no host; left alone, as another reaper "
                  "had time to serve it",
                  printable(last->request.str()), printable(record.server.id.str()));
        co_return Result<void>{};
    }
    submit(record, *last, std::move(lease), left_to_other_.contains(last->request));
    co_return Result<void>{};
}

bool UnshelveTrigger::left_alone(const RequestId& request, TimePoint now) {
    const auto seen = left_to_other_.find(request);
    return seen != left_to_other_.end() && now - seen->second > dependencies_.time_to_serve();
}

void UnshelveTrigger::submit(const ServerRecord& record, const ActionRecord& action,
                             std::shared_ptr<const Lease> lease, bool maybe_served) {
    log_about({.request = action.request.str(), .server = record.server.id.str()},
              spdlog::level::info, "{}: the unshelving of server {} found no host",
              printable(action.request.str()), printable(record.server.id.str()));
    FailureNotice notice;
    notice.event = FailureEvent::unshelve_server;
    notice.request_id = action.request;
    notice.server = notice.spec_server = record.server.id;
    notice.project = record.server.project;
    notice.sent_at = action.started;
    TriggeredRequest triggered;
    triggered.request.id = action.request;
    triggered.request.operation = Operation::unshelve;
    triggered.request.project = record.server.project;
    triggered.request.requesters = {record.server.id};
    if (!record.server.name.empty())
        triggered.request.requester_names.emplace(record.server.id, record.server.name);
    triggered.request.source = RequestSource::unshelve;
    triggered.request.sent_at = action.started;
    triggered.request.deadline = action.started + dependencies_.settings.max_age;
    triggered.event_id = "unshelve/" + action.request.str();
    triggered.event_type = "unshelve";
    triggered.maybe_served = maybe_served;
    triggered.lease = std::move(lease);
    triggered.done = [this, freed = Freed{record.server.id, action.request, action.started}](
                         const Outcome& outcome) {
        if (outcome.kind == OutcomeKind::freed) freed_.push_back(freed);
    };
    triggered.complete = [this, notice = std::move(notice)] {
        std::optional<Schedule> search;
        if (const Schedule* const known =
                dependencies_.schedules.find(notice.request_id, notice.server))
            search = *known;
        return complete_request(dependencies_.cloud, notice, std::move(search),
                                dependencies_.scheduler());
    };
    dependencies_.sink.submit(std::move(triggered));
}

}  // namespace reaper
