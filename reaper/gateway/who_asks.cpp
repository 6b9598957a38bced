#include "reaper/gateway/who_asks.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/res_type_query.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
namespace {

const std::set<std::string> booting_statuses{"BUILD"};
const std::set<std::string> moving_statuses{"RESIZE", "MIGRATING", "REBUILD"};
const std::set<std::string> shelved_statuses{"SHELVED_OFFLOADED"};
/// A move that began longer ago, by Nova's clock, has its host or none.
constexpr Duration moves_within{180'000};
/// Of one look.
constexpr std::size_t most_actions = 64;
/// Between two looks, where one does not tell.
constexpr Duration between_looks{120};
/// Where Nova lists nobody at all that may ask, another look won't either.
constexpr int looks_for_nobody = 3;

bool is_scheduled(const ServerRecord& record) {
    return record.server.host.empty() && record.server.task_state == "scheduling";
}

/// Every class of it is asked for, and as much of it or more: what ports and device profiles ask
/// for besides is in the query alone.
bool within(const Resources& resources, const Resources& asked) {
    return resources.fits_in(asked);
}

/// Does it say by traits what the query says? (An image may say more than its flavor.)
bool says_the_same(const Request& request, const CandidatesQuery& query) {
    const auto& said = query.res_type;
    if (said.empty()) return request.res_type_traits.empty();
    return !request.phases_because.empty() &&
           std::all_of(request.res_type_traits.begin(), request.res_type_traits.end(),
                       [&](const Trait& trait) {
                           const auto constraint = res_type_constraint_of(trait.str(), true);
                           return constraint &&
                                  std::find(said.begin(), said.end(), *constraint) != said.end();
                       });
}

bool fits(const Request& request, const CandidatesQuery& query) {
    if (!says_the_same(request, query)) return false;
    return asked_as(request, query) != AskedAs::other ||
           within(request.resources, query.shape.resources);
}

/// Which of the two it is makes no difference to anybody but the two.
bool alike(const Request& a, const Request& b) {
    return a.project == b.project && a.phases == b.phases && a.slots == b.slots &&
           a.resources == b.resources && a.flavor_extra_specs == b.flavor_extra_specs &&
           a.availability_zone == b.availability_zone && a.placement == b.placement;
}

/// As far as its flavor tells.
bool may_be_for(const ServerRecord& record, const CandidatesQuery& query) {
    const auto takes = resources_of(record.flavor, record.boot_from_volume);
    const auto* const resources = std::get_if<Resources>(&takes);
    return resources == nullptr || within(*resources, query.shape.resources);
}

std::map<std::string, std::vector<ServerRecord>> by_reservation(
    const std::vector<ServerRecord>& servers) {
    std::map<std::string, std::vector<ServerRecord>> groups;
    for (const auto& record : servers) {
        const std::string& told = record.reservation;
        groups[told.empty() ? record.server.id.str() : told].push_back(record);
    }
    return groups;
}

std::optional<FailureEvent> event_of(const std::string& action) {
    if (action == "resize" || action == "migrate" || action == "live-migration")
        return FailureEvent::migrate_server;
    if (action == "evacuate" || action == "rebuild") return FailureEvent::rebuild_server;
    if (action == "unshelve") return FailureEvent::unshelve_server;
    return std::nullopt;
}

}  // namespace

WhoAsks::WhoAsks(CloudPorts cloud, std::function<SchedulerRules()> rules)
    : cloud_(cloud),
      rules_(std::move(rules)),
      booting_(cloud.clock,
               [this] {
                   auto statuses = booting_statuses;
                   return cloud_.compute.servers_in(std::move(statuses), std::nullopt);
               }),
      moving_(cloud.clock, [this] { return read_moves(); }) {}

ResultTask<std::vector<ServerRecord>> WhoAsks::read_moves() {
    std::vector<ServerRecord> moving;
    const TimePoint since = cloud_.clock.now() - moves_within;
    for (const auto& statuses : {moving_statuses, shelved_statuses}) {
        auto wanted = statuses;
        auto listed = co_await cloud_.compute.servers_in(std::move(wanted), since);
        if (!listed) co_return listed.error();
        for (auto& record : *listed)
            if (!record.server.task_state.empty()) moving.push_back(std::move(record));
    }
    co_return moving;
}

/// What was found out about servers that wait for a host no more.
void WhoAsks::forget_others(const SharedList::Servers& booting,
                            const std::set<RequestId>& known_before) {
    std::set<ServerId> there;
    for (const auto& record : booting) there.insert(record.server.id);
    std::erase_if(built_, [&](const auto& each) { return !there.contains(each.first); });
    std::erase_if(by_others_, [&](const auto& each) { return !there.contains(each.first); });
    std::erase_if(taken_, [&](const auto& call) {
        return known_before.contains(call.first) &&
               std::none_of(call.second.begin(), call.second.end(),
                            [&](const ServerId& server) { return there.contains(server); });
    });
}

ResultTask<WhoAsks::Servers> WhoAsks::look_at_boots() {
    std::set<RequestId> known_before;
    for (const auto& call : taken_) known_before.insert(call.first);
    auto seen = co_await booting_.read();
    if (!seen) co_return seen.error();
    auto scheduled = std::make_shared<SharedList::Servers>();
    for (const auto& record : **seen)
        if (is_scheduled(record)) scheduled->push_back(record);
    forget_others(*scheduled, known_before);
    co_return Servers{std::move(scheduled)};
}

ResultTask<bool> WhoAsks::may_want_more(CandidatesQuery query, Amount places) {
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
        ServerId server = first.server.id;
        auto choosy = co_await goes_by_others(std::move(server));
        if (!choosy) co_return choosy.error();
        if (*choosy) co_return true;
    }
    co_return false;
}

/// Nova tells groups and hints only where one server is asked for: each is, once.
ResultTask<bool> WhoAsks::goes_by_others(ServerId server) {
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

ResultTask<WhoAsks::Answer> WhoAsks::find(RequestId id, CandidatesQuery query, Duration patience) {
    const Duration began = cloud_.clock.steady();
    NotCertain unknown{"nobody waits for it, as far as Nova tells"};
    for (int looks = 1;; ++looks) {
        auto moving = co_await moving_.read();
        if (!moving) co_return moving.error();
        auto moves = co_await move_of(id, query, *moving);
        if (!moves) co_return moves.error();
        if (*moves) co_return std::move(**moves);
        auto seen = co_await look_at_boots();
        if (!seen) co_return seen.error();
        auto boots = co_await boots_for(id, query, *seen);
        if (!boots) co_return boots.error();
        // Another call may have been known meanwhile.
        const bool nobody = boots->empty();
        std::erase_if(*boots, [&](const Built& each) {
            const auto* const request = std::get_if<Request>(&each);
            return request != nullptr && !request->requesters.empty() &&
                   taken_by_other(id, request->requesters.front());
        });
        const bool one =
            !boots->empty() && std::all_of(boots->begin(), boots->end(), [&](const Built& each) {
                const auto* const a = std::get_if<Request>(&boots->front());
                const auto* const b = std::get_if<Request>(&each);
                return &each == &boots->front() || (a && b && alike(*a, *b));
            });
        if (one) co_return taken(id, std::move(boots->front()));
        if (boots->size() > 1)
            unknown.why = std::to_string(boots->size()) +
                          " requests to boot are being scheduled that it could be for";
        const bool long_enough =
            cloud_.clock.steady() - began >= patience || (nobody && looks >= looks_for_nobody);
        unknown.may_be.clear();
        for (const Built& each : *boots)
            if (const auto* const request = std::get_if<Request>(&each))
                unknown.may_be.push_back(*request);
        if (long_enough) co_return Answer{std::move(unknown)};
        co_await cloud_.clock.sleep(between_looks);
    }
}

// ---- operations on servers that there are ----

ResultTask<std::optional<WhoAsks::Answer>> WhoAsks::move_of(RequestId id, CandidatesQuery query,
                                                            Servers moving) {
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
        ServerRecord moved = record;
        auto answer = co_await of_move(std::move(moved), std::move(**action), std::move(query));
        if (!answer) co_return answer.error();
        co_return std::optional<Answer>{std::move(*answer)};
    }
    co_return std::optional<Answer>{};
}

ResultTask<WhoAsks::Answer> WhoAsks::of_move(ServerRecord record, ActionRecord action,
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
    SchedulerRules rules = rules_();
    auto request = co_await complete_request(cloud_, std::move(notice), std::move(no_search),
                                             std::move(rules));
    if (!request) co_return request.error();
    if (auto* const refused = std::get_if<Refused>(&*request))
        co_return Answer{std::move(*refused)};
    co_return Answer{std::get<Request>(std::move(*request))};
}

/// The id of the flavor to which a server is resized: nobody tells it, but the query fits it.
ResultTask<std::variant<std::string, NotCertain>> WhoAsks::new_flavor(ServerRecord record,
                                                                      CandidatesQuery query) {
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

bool WhoAsks::taken_by_other(const RequestId& id, const ServerId& server) const {
    return std::any_of(taken_.begin(), taken_.end(), [&](const auto& call) {
        return call.first != id && call.second.contains(server);
    });
}

/// Those that the query fits.
ResultTask<std::vector<WhoAsks::Built>> WhoAsks::boots_for(RequestId id, CandidatesQuery query,
                                                           Servers booting) {
    std::vector<Built> found;
    auto groups = by_reservation(*booting);
    for (auto& [reservation, servers] : groups) {
        if (taken_by_other(id, servers.front().server.id)) continue;
        auto known = co_await known_of(id, std::move(servers));
        if (!known) co_return known.error();
        const auto* const request = std::get_if<Request>(&*known);
        // Of one that is refused it is not known what it asks for.
        if (request == nullptr || fits(*request, query)) found.push_back(std::move(*known));
    }
    co_return found;
}

/// Those that it was asked for with, if it is being scheduled. Nova's pages may leave one out,
/// where the last server of a page got its host before the next page was asked for.
ResultTask<SharedList::Servers> WhoAsks::booting_with(ServerId server) {
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

ResultTask<std::optional<WhoAsks::Answer>> WhoAsks::of_server(RequestId id, ServerId server) {
    auto seen = co_await look_at_boots();
    if (!seen) co_return seen.error();
    const bool listed =
        std::any_of((*seen)->begin(), (*seen)->end(),
                    [&](const ServerRecord& record) { return record.server.id == server; });
    if (!listed) {
        auto together = co_await booting_with(server);
        if (!together) co_return together.error();
        seen = std::make_shared<const SharedList::Servers>(std::move(*together));
    }
    auto groups = by_reservation(**seen);
    for (auto& [reservation, servers] : groups) {
        const bool its = std::any_of(servers.begin(), servers.end(), [&](const auto& record) {
            return record.server.id == server;
        });
        if (!its) continue;
        auto known = co_await known_of(id, std::move(servers));
        if (!known) co_return known.error();
        co_return std::optional<Answer>{taken(id, std::move(*known))};
    }
    co_return std::optional<Answer>{};
}

/// From now on it is known whose call this is.
WhoAsks::Answer WhoAsks::taken(const RequestId& id, Built found) {
    if (auto* const refused = std::get_if<Refused>(&found)) return std::move(*refused);
    auto& request = std::get<Request>(found);
    request.id = id;
    taken_[id] = {request.requesters.begin(), request.requesters.end()};
    return std::move(request);
}

/// What Nova tells of them is asked once.
ResultTask<WhoAsks::Built> WhoAsks::known_of(RequestId id, Booting servers) {
    std::sort(servers.begin(), servers.end(),
              [](const auto& a, const auto& b) { return a.server.id < b.server.id; });
    const ServerId first = servers.front().server.id;
    const std::size_t count = servers.size();
    const auto known = built_.find(first);
    // Nova lists those of one request one after the other.
    if (known != built_.end() && known->second.servers == count) co_return known->second.built;
    auto made = co_await built(std::move(id), std::move(servers));
    if (made) built_.insert_or_assign(first, Known{*made, count});
    co_return made;
}

ResultTask<WhoAsks::Built> WhoAsks::built(RequestId id, Booting servers) {
    const ServerRecord& first = servers.front();
    FailureNotice notice;
    notice.event = FailureEvent::build_instances;
    notice.request_id = std::move(id);
    notice.server = notice.spec_server = first.server.id;
    notice.project = first.server.project;
    notice.num_instances = static_cast<int>(servers.size());
    if (!first.shown_zone.empty()) notice.availability_zone = first.shown_zone;
    notice.sent_at = cloud_.clock.now();
    std::optional<Schedule> no_search;
    SchedulerRules rules = rules_();
    co_return co_await complete_request(cloud_, std::move(notice), std::move(no_search),
                                        std::move(rules));
}

}  // namespace reaper
