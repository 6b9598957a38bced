#include "reaper/gateway/requester_resolver.hpp"

#include <algorithm>

#include "reaper/gateway/who_fits.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {

namespace {

bool share_any(const KnownCalls::Servers& some, const KnownCalls::Servers& others) {
    return std::ranges::any_of(some, [&](const ServerId& each) { return others.contains(each); });
}

}  // namespace

void KnownCalls::known(const RequestId& call, Servers servers) {
    auto& requests = known_[call];
    std::erase_if(requests, [&](const Servers& each) { return share_any(each, servers); });
    requests.push_back(std::move(servers));
}

KnownCalls::Servers KnownCalls::of_others(const RequestId& call) const {
    Servers others;
    for (const auto& [other, requests] : known_)
        if (other != call)
            for (const Servers& servers : requests) others.insert(servers.begin(), servers.end());
    return others;
}

bool KnownCalls::is_for(const RequestId& call, const ServerId& server,
                        const std::vector<ServerId>& with) const {
    const auto at = known_.find(call);
    return at != known_.end() && std::ranges::any_of(at->second, [&](const Servers& each) {
               return each.contains(server) && share_any(each, {with.begin(), with.end()});
           });
}

std::set<RequestId> KnownCalls::all() const {
    std::set<RequestId> calls;
    for (const auto& each : known_) calls.insert(each.first);
    return calls;
}

void KnownCalls::forget(const std::set<RequestId>& calls, const Servers& listed) {
    for (auto& [call, requests] : known_)
        if (calls.contains(call))
            std::erase_if(requests, [&](const Servers& each) { return !share_any(each, listed); });
    std::erase_if(known_, [](const auto& each) { return each.second.empty(); });
}

namespace {

const std::set<std::string> booting_statuses{"BUILD"};
const std::set<std::string> moving_statuses{"RESIZE", "MIGRATING", "REBUILD"};
const std::set<std::string> shelved_statuses{"SHELVED_OFFLOADED"};
/// An evacuation asks for a host within.
constexpr Duration evacuates_within = std::chrono::minutes{10};
/// Of shelved servers, there may be many: those that changed within, by a clock that may be far
/// from Nova's. Those of the other statuses are few at any time.
constexpr Duration shelved_within = std::chrono::hours{3};
/// Of one look.
constexpr std::size_t most_actions = 64;
/// Between two looks, where one does not tell.
constexpr Duration between_looks{120};
/// Between two looks whether Nova answered.
constexpr Duration between_answers{20};
/// Where Nova lists no server at all that may ask, another look won't either.
constexpr int looks_for_none = 3;

bool is_scheduled(const ServerRecord& record) {
    return record.server.host.empty() && record.server.task_state == "scheduling";
}

std::set<ServerId> ids_of(const std::vector<ServerRecord>& servers) {
    std::set<ServerId> ids;
    for (const auto& record : servers) ids.insert(record.server.id);
    return ids;
}

/// What waited for a host when the requester was first looked up.
class FirstLook {
public:
    explicit FirstLook(const std::vector<ServerRecord>& servers) {
        for (const auto& [request, together] : by_reservation(servers)) there_.insert(request);
        for (const auto& record : servers) newest_ = std::max(newest_, record.server.created);
    }
    /// Without what was asked of Nova since. Older servers are not: its pages left them out.
    std::shared_ptr<const std::vector<ServerRecord>> without_later(
        std::shared_ptr<const std::vector<ServerRecord>> servers) const {
        auto left = std::make_shared<std::vector<ServerRecord>>();
        for (const auto& [request, together] : by_reservation(*servers)) {
            const bool there =
                there_.contains(request) ||
                std::any_of(together.begin(), together.end(), [this](const ServerRecord& each) {
                    return each.server.created <= newest_;
                });
            if (there) left->insert(left->end(), together.begin(), together.end());
        }
        return left;
    }

private:
    std::set<std::string> there_;
    TimePoint newest_ = TimePoint::min();
};

using Built = std::variant<Request, Refused>;

/// Are these alike to all but themselves?
bool all_alike(const std::vector<Built>& boots) {
    return !boots.empty() && std::all_of(boots.begin(), boots.end(), [&](const Built& each) {
        const auto* const a = std::get_if<Request>(&boots.front());
        const auto* const b = std::get_if<Request>(&each);
        return &each == &boots.front() || (a && b && alike(*a, *b));
    });
}

/// Without those that are refused.
std::vector<Request> requests_in(const std::vector<Built>& boots) {
    std::vector<Request> requests;
    for (const Built& each : boots)
        if (const auto* const request = std::get_if<Request>(&each)) requests.push_back(*request);
    return requests;
}

/// Hosts are offered for regular room of one provider that no reservation keeps. Then its claim
/// tells who it is.
bool can_be_offered(const Built& wanted, const CandidatesQuery& query, const Ledger& ledger) {
    const auto& request = std::get<Request>(wanted);
    return may_be_offered(query) && !needs_room_first(request) &&
           asked_as(request, query) != AskedAs::fallback && ledger.reserved().empty() &&
           !request.phases.admits(ResType::revocable);
}

/// Whichever of those alike it is.
Request any_of(const RequestId& id, Built alike) {
    auto& request = std::get<Request>(alike);
    request.id = id;
    request.requesters.clear();
    request.requester_names.clear();
    return std::move(request);
}

std::optional<FailureEvent> event_of(const std::string& action) {
    if (action == "resize" || action == "migrate" || action == "live-migration")
        return FailureEvent::migrate_server;
    if (action == "evacuate" || action == "rebuild") return FailureEvent::rebuild_server;
    if (action == "unshelve") return FailureEvent::unshelve_server;
    return std::nullopt;
}

/// Nova lists the newest first.
auto newest_operation(const std::vector<ActionRecord>& actions) {
    return std::ranges::find_if(
        actions, [](const ActionRecord& each) { return event_of(each.name).has_value(); });
}

}  // namespace

RequesterResolver::RequesterResolver(const GatewayPorts& ports)
    : ports_(ports),
      cloud_(ports.cloud),
      booting_(cloud_.clock,
               [this] {
                   auto statuses = booting_statuses;
                   return cloud_.compute.servers_in(std::move(statuses), std::nullopt);
               }),
      moving_(cloud_.clock, [this] { return read_moves(); }) {}

ResultTask<std::vector<ServerRecord>> RequesterResolver::read_moves() {
    std::optional<Result<std::vector<ServerRecord>>> moved, shelved;
    const TimePoint lately = cloud_.clock.now() - shelved_within;
    std::vector<Task<void>> parts;
    parts.push_back(keep(cloud_.compute.servers_in(moving_statuses, std::nullopt), moved));
    parts.push_back(keep(cloud_.compute.servers_in(shelved_statuses, lately), shelved));
    co_await run_all(std::move(parts));
    std::vector<ServerRecord> moving;
    for (auto* const listed : {&*moved, &*shelved}) {
        if (!*listed) co_return listed->error();
        for (auto& record : **listed)
            if (!record.server.task_state.empty()) moving.push_back(std::move(record));
    }
    const std::set<ServerId> there = ids_of(moving);
    std::erase_if(moves_, [&](const auto& each) { return !there.contains(each.first); });
    co_return moving;
}

/// What was found out about servers that wait for a host no more.
void RequesterResolver::forget_others(const SharedList::Servers& booting,
                                      const std::set<RequestId>& known_before) {
    const std::set<ServerId> there = ids_of(booting);
    std::erase_if(built_, [&](const auto& each) { return !there.contains(each.first); });
    std::erase_if(by_others_, [&](const auto& each) { return !there.contains(each.first); });
    calls_.forget(known_before, there);
}

ResultTask<RequesterResolver::Servers> RequesterResolver::look_at_boots() {
    const std::set<RequestId> known_before = calls_.all();
    auto seen = co_await booting_.read();
    if (!seen) co_return seen.error();
    auto scheduled = std::make_shared<SharedList::Servers>();
    for (const auto& record : **seen)
        if (is_scheduled(record)) scheduled->push_back(record);
    forget_others(*scheduled, known_before);
    co_return Servers{std::move(scheduled)};
}

ResultTask<bool> RequesterResolver::may_want_more(CandidatesQuery query, Amount places) {
    auto boots = co_await look_at_boots();
    if (!boots) co_return boots.error();
    const auto groups = by_reservation(**boots);
    for (const auto& [reservation, servers] : groups)
        if (static_cast<Amount>(servers.size()) > places) co_return true;
    auto moving = co_await moving_.read();
    if (!moving) co_return moving.error();
    if (!(*moving)->empty()) co_return true;
    for (const auto& [reservation, servers] : groups) {
        const ServerRecord& first = servers.front();
        if (!may_be_for(first, query)) continue;
        if (admits_no_room(first, ports_.scheduler())) co_return true;
        ServerId server = first.server.id;
        auto choosy = co_await goes_by_others(std::move(server));
        if (!choosy) co_return choosy.error();
        if (*choosy) co_return true;
    }
    co_return false;
}

/// Of several who would ask Nova about a server, one does; the others find its answer then.
Task<std::unique_ptr<Turn<ServerId>>> RequesterResolver::turn_for(ServerId server) {
    while (asking_.contains(server)) co_await cloud_.clock.sleep(between_answers);
    std::set<ServerId> one{std::move(server)};
    co_return std::make_unique<Turn<ServerId>>(asking_, std::move(one));
}

/// Nova tells groups and hints only where one server is asked for: each is, once.
ResultTask<bool> RequesterResolver::goes_by_others(ServerId server) {
    const auto turn = co_await turn_for(server);
    const auto known = by_others_.find(server);
    if (known != by_others_.end()) co_return known->second;
    ServerId asked = server;
    auto found = co_await cloud_.compute.server(std::move(asked));
    if (!found) co_return found.error();
    bool choosy = *found && (!(*found)->same_host.empty() || !(*found)->different_host.empty());
    std::vector<std::string> ids;
    if (*found) ids = (*found)->groups;
    for (std::string& id : ids) {
        auto group = co_await cloud_.compute.server_group(std::move(id));
        if (!group) co_return group.error();
        choosy = choosy || (*group && ((*group)->apart() || (*group)->together()));
    }
    by_others_.insert_or_assign(server, choosy);
    co_return choosy;
}

ResultTask<RequesterResolver::Answer> RequesterResolver::find(RequestId id, CandidatesQuery query,
                                                              Duration patience) {
    const Duration began = cloud_.clock.steady();
    NotCertain unknown{"no server waits for it, as far as Nova tells"};
    std::optional<FirstLook> first;
    for (int looks = 1;; ++looks) {
        std::optional<Result<Servers>> moving, listed;
        std::vector<Task<void>> parts;
        parts.push_back(keep(moving_.read(), moving));
        parts.push_back(keep(look_at_boots(), listed));
        co_await run_all(std::move(parts));
        if (!*moving) co_return moving->error();
        auto moves = co_await move_of(id, query, **moving);
        if (!moves) co_return moves.error();
        if (*moves) co_return std::move(**moves);
        if (!*listed) co_return listed->error();
        if (!first) first.emplace(***listed);
        auto boots = co_await boots_for(id, query, first->without_later(**listed));
        if (!boots) co_return boots.error();
        const std::size_t fitting = boots->size();
        Result<bool> moved = false;
        if (fitting > 0) moved = co_await may_be_evacuated(query, **moving);
        if (!moved) co_return moved.error();
        leave_others_out(id, *boots);
        unknown.others_fit = *moved || boots->size() < fitting;
        if (boots->size() == 1 && !*moved) co_return known_as(id, std::move(boots->front()));
        const bool alike = !*moved && all_alike(*boots);
        if (alike && !can_be_offered(boots->front(), query, ports_.ledger()))
            co_return any_of(id, std::move(boots->front()));
        if (*moved) unknown.why = "it could be for a server that is being evacuated";
        if (boots->size() > 1)
            unknown.why = std::to_string(boots->size()) +
                          " requests to boot are being scheduled that it could be for";
        const bool long_enough = alike || cloud_.clock.steady() - began >= patience ||
                                 (fitting == 0 && looks >= looks_for_none);
        unknown.may_be = requests_in(*boots);
        if (long_enough) co_return Answer{std::move(unknown)};
        co_await cloud_.clock.sleep(between_looks);
    }
}

// ---- operations on servers that there are ----

ResultTask<std::optional<RequesterResolver::Answer>> RequesterResolver::move_of(
    RequestId id, CandidatesQuery query, Servers moving) {
    std::size_t asked = 0;
    for (const auto& record : *moving) {
        if (++asked > most_actions) {
            Answer many{NotCertain{"more servers are being moved than it is looked through"}};
            co_return std::optional<Answer>{std::move(many)};
        }
        ServerId server = record.server.id;
        auto action = co_await cloud_.compute.action(std::move(server), id);
        if (!action) co_return action.error();
        if (!*action || (*action)->request != id) continue;
        moves_.insert_or_assign(record.server.id, id);
        ServerRecord moved = record;
        auto answer = co_await of_move(std::move(moved), std::move(**action), std::move(query));
        if (!answer) co_return answer.error();
        co_return std::optional<Answer>{std::move(*answer)};
    }
    co_return std::optional<Answer>{};
}

ResultTask<std::optional<RequesterResolver::Answer>> RequesterResolver::move_of_server(
    RequestId id, ServerId server, CandidatesQuery query) {
    ServerId moved = server;
    auto action = co_await cloud_.compute.action(moved, id);
    if (action && (!*action || (*action)->request != id))
        action = co_await operation_on(std::move(moved));
    if (!action) co_return action.error();
    if (!*action) co_return std::optional<Answer>{};
    auto record = co_await cloud_.compute.server(std::move(server));
    if (!record) co_return record.error();
    if (!*record) co_return std::optional<Answer>{};
    auto answer = co_await of_move(std::move(**record), std::move(**action), std::move(query));
    if (!answer) co_return answer.error();
    if (auto* const request = std::get_if<Request>(&*answer)) request->id = std::move(id);
    co_return std::optional<Answer>{std::move(*answer)};
}

/// What is under way on it, whatever its id: Placement gets a client's global id, and Nova's
/// record has the local one.
ResultTask<std::optional<ActionRecord>> RequesterResolver::operation_on(ServerId server) {
    auto actions = co_await cloud_.compute.actions(server);
    if (!actions) co_return actions.error();
    const auto newest = newest_operation(*actions);
    if (newest == actions->end()) co_return std::optional<ActionRecord>{};
    RequestId request = newest->request;
    auto action = co_await cloud_.compute.action(std::move(server), std::move(request));
    if (action && *action && (*action)->ended) action->reset();
    co_return action;
}

/// Could the query be for one of these, under another id than Nova's record has? Masakari evacuates
/// so. A rebuild in place asks for no host.
ResultTask<bool> RequesterResolver::may_be_evacuated(CandidatesQuery query, Servers moving) {
    for (const ServerRecord& record : *moving) {
        if (record.server.task_state != "rebuilding" || !may_be_for(record, query)) continue;
        auto actions = co_await cloud_.compute.actions(record.server.id);
        if (!actions) co_return actions.error();
        const auto newest = newest_operation(*actions);
        if (newest == actions->end() || newest->name != "evacuate") continue;
        const auto known = moves_.find(record.server.id);
        const bool own = known != moves_.end() && known->second == newest->request;
        if (!own && cloud_.clock.now() - newest->started < evacuates_within) co_return true;
    }
    co_return false;
}

ResultTask<RequesterResolver::Answer> RequesterResolver::of_move(ServerRecord record,
                                                                 ActionRecord action,
                                                                 CandidatesQuery query) {
    const auto event = event_of(action.name);
    if (!event) co_return Answer{NotCertain{"the action '" + printable(action.name, 32) + "'"}};
    FailureNotice notice;
    notice.event = *event;
    notice.request_id = action.request;
    notice.server = notice.spec_server = record.server.id;
    notice.project = record.server.project;
    notice.sent_at = cloud_.clock.now();
    if (action.name == "resize") {
        auto flavor = co_await new_flavor(record, std::move(query));
        if (!flavor) co_return flavor.error();
        if (auto* const unknown = std::get_if<NotCertain>(&*flavor))
            co_return Answer{std::move(*unknown)};
        notice.flavor_id = std::get<std::string>(std::move(*flavor));
    }
    std::optional<Schedule> no_search;
    SchedulerRules rules = ports_.scheduler();
    auto request = co_await complete_request(cloud_, std::move(notice), std::move(no_search),
                                             std::move(rules));
    if (!request) co_return request.error();
    if (auto* const refused = std::get_if<Refused>(&*request))
        co_return Answer{std::move(*refused)};
    co_return Answer{std::get<Request>(std::move(*request))};
}

/// The id of the flavor to which a server is resized: no service tells it, but the query fits it.
ResultTask<std::variant<std::string, NotCertain>> RequesterResolver::new_flavor(
    ServerRecord record, CandidatesQuery query) {
    using Found = std::variant<std::string, NotCertain>;
    auto flavors = co_await cloud_.compute.all_flavors();
    if (!flavors) co_return flavors.error();
    std::vector<std::string> exact, larger;
    for (const auto& [id, flavor] : *flavors) {
        if (flavor == record.flavor) continue;
        const auto takes = resources_of(flavor, record.boot_from_volume);
        const auto* const resources = std::get_if<Resources>(&takes);
        if (resources == nullptr) continue;
        if (*resources == query.shape.resources) exact.push_back(id);
        if (within(*resources, query.shape.resources)) larger.push_back(id);
    }
    const auto& found = exact.empty() ? larger : exact;
    if (found.empty()) co_return Found{NotCertain{"no flavor fits what the resize asks for"}};
    const auto& first = flavors->at(found.front());
    for (const auto& id : found)
        if (flavors->at(id).extra_specs != first.extra_specs)
            co_return Found{NotCertain{"several flavors fit what the resize asks for"}};
    co_return Found{found.front()};
}

// ---- servers to boot ----

/// Those that the query fits.
ResultTask<std::vector<RequesterResolver::Built>> RequesterResolver::boots_for(
    RequestId id, CandidatesQuery query, Servers booting) {
    std::vector<Built> found;
    const HostAggregates named = named_aggregates(query, ports_.cache());
    const auto of_others = calls_.of_others(id);
    auto groups = by_reservation(*booting);
    for (auto& [reservation, servers] : groups) {
        if (of_others.contains(servers.front().server.id)) continue;
        std::optional<ServerRecord> only_listed;
        auto known = co_await known_of(id, std::move(servers), std::move(only_listed));
        if (!known) co_return known.error();
        const auto* const request = std::get_if<Request>(&*known);
        // Of one that is refused it is not known what it asks for.
        if (request == nullptr || fits(*request, query, named)) found.push_back(std::move(*known));
    }
    co_return found;
}

/// What became known of other calls meanwhile.
void RequesterResolver::leave_others_out(const RequestId& id, std::vector<Built>& boots) const {
    const auto of_others = calls_.of_others(id);
    std::erase_if(boots, [&](const Built& each) {
        const auto* const request = std::get_if<Request>(&each);
        return request != nullptr && !request->requesters.empty() &&
               of_others.contains(request->requesters.front());
    });
}

/// It and those that it was asked for with, if it is being scheduled. Their names do not tell: an
/// owner may change them.
ResultTask<SharedList::Servers> RequesterResolver::booting_with(ServerId server) {
    SharedList::Servers together;
    ServerId asked = server;
    auto found = co_await cloud_.compute.server(std::move(asked));
    if (!found) co_return found.error();
    if (!*found || !is_scheduled(**found)) co_return together;
    std::string reservation = (*found)->reservation;
    together.push_back(std::move(**found));
    if (reservation.empty()) co_return together;
    auto all = co_await cloud_.compute.servers_of(std::move(reservation));
    if (!all) co_return all.error();
    for (ServerRecord& record : *all)
        if (record.server.id != server && is_scheduled(record))
            together.push_back(std::move(record));
    co_return together;
}

ResultTask<std::optional<RequesterResolver::Answer>> RequesterResolver::of_server(
    RequestId id, ServerId server, CandidatesQuery query) {
    auto together = co_await booting_with(server);
    if (!together) co_return together.error();
    if (together->empty())
        co_return co_await move_of_server(std::move(id), std::move(server), std::move(query));
    std::optional<ServerRecord> read_alone;
    if (together->size() == 1) read_alone = together->front();
    auto known = co_await known_of(id, std::move(*together), std::move(read_alone));
    if (!known) co_return known.error();
    co_return std::optional<Answer>{known_as(id, std::move(*known))};
}

/// From now on it is known whose call this is.
RequesterResolver::Answer RequesterResolver::known_as(const RequestId& id, Built built) {
    if (auto* const refused = std::get_if<Refused>(&built)) return std::move(*refused);
    auto& request = std::get<Request>(built);
    calls_.known(id, {request.requesters.begin(), request.requesters.end()});
    request.id = id;
    return std::move(request);
}

/// Nova is asked once about them, also when several searches wait for the answer.
ResultTask<RequesterResolver::Built> RequesterResolver::known_of(
    RequestId id, Booting servers, std::optional<ServerRecord> read_alone) {
    std::sort(servers.begin(), servers.end(),
              [](const auto& a, const auto& b) { return a.server.id < b.server.id; });
    const ServerId first = servers.front().server.id;
    const std::size_t count = servers.size();
    const auto turn = co_await turn_for(first);
    const auto known = built_.find(first);
    // Nova lists those of one request one after the other.
    if (known != built_.end() && known->second.servers == count) co_return known->second.built;
    auto made = co_await built(std::move(id), std::move(servers), std::move(read_alone));
    if (made) built_.insert_or_assign(first, Known{*made, count});
    co_return made;
}

/// Of servers to boot there is no action to ask for: Nova lists them as being scheduled.
ResultTask<RequesterResolver::Built> RequesterResolver::built(
    RequestId id, Booting servers, std::optional<ServerRecord> read_alone) {
    const ServerRecord& first = servers.front();
    FailureNotice notice;
    notice.event = FailureEvent::build_instances;
    notice.request_id = std::move(id);
    notice.server = notice.spec_server = first.server.id;
    notice.project = first.server.project;
    notice.num_instances = static_cast<int>(servers.size());
    if (!first.shown_zone.empty()) notice.availability_zone = first.shown_zone;
    notice.sent_at = cloud_.clock.now();
    std::optional<Result<ImageProperties>> image;
    if (!read_alone) {
        std::optional<Result<std::optional<ServerRecord>>> read;
        std::optional<Result<NovaRelease>> release;  // the rest needs it, and finds it known
        std::vector<Task<void>> parts;
        parts.push_back(keep(cloud_.compute.server(notice.server), read));
        parts.push_back(keep(cloud_.compute.release(), release));
        if (!first.image.empty())
            parts.push_back(keep(read_image(cloud_, notice.request_id, first.image), image));
        co_await run_all(std::move(parts));
        if (!*read) co_return read->error();
        read_alone = std::move(**read);
    }
    RequesterFacts facts;
    if (read_alone)
        facts = facts_of(*read_alone);
    else
        facts.exists = false;
    if (image && facts.image == first.image) {
        if (!*image) co_return image->error();
        facts.image_properties = std::move(**image);
        facts.image_is_read = true;
    }
    std::optional<Schedule> no_search;
    SchedulerRules rules = ports_.scheduler();
    co_return co_await finish_request(cloud_, std::move(notice), std::move(facts),
                                      std::move(no_search), std::move(rules));
}

}  // namespace reaper
