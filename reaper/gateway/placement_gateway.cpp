#include "reaper/gateway/placement_gateway.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

constexpr std::string_view path_end = "/allocation_candidates";
/// Placement has no such path.
constexpr std::string_view state_path_end = "/reaper-gateway";
constexpr int long_answers_at_once = 2;
/// While the requester is uncertain, and while an offer would do.
constexpr Duration usual_patience{2'500};
constexpr Duration patience_before_offer{250};
/// Where hosts can be offered without it, a slow list of Nova's is not waited for.
constexpr Duration look_before_offer{1'000};
/// Placement may show freed room a moment later.
constexpr Duration between_tries{100};
constexpr int most_tries = 20;
/// Until the message of a search that failed has come.
constexpr Duration remembered_for = std::chrono::minutes{10};

/// It says so itself.
bool admits_revocable(const Request& request) {
    return request.phases.admits(ResType::revocable);
}

/// One server for somebody of whom nothing is known.
Request of_unknown(const RequestId& id) {
    Request request;
    request.id = id;
    return request;
}

}  // namespace

PlacementGateway::PlacementGateway(const boost::asio::any_io_executor& executor,
                                   Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      requester_resolver_(dependencies_.cloud, dependencies_.scheduler,
                          [this](const CandidatesQuery& query) { return named_aggregates(query); }),
      promised_(dependencies_.cloud, dependencies_.refresher, dependencies_.rooms.ledger(),
                dependencies_.kept_rooms),
      long_answers_(executor, long_answers_at_once) {}

bool PlacementGateway::wants(std::string_view method, std::string_view target) const {
    const std::string_view path = path_of(target);
    if (method == "GET") return path.ends_with(path_end) || path.ends_with(state_path_end);
    // A claim, or one that is taken back.
    if (method != "PUT" && method != "DELETE") return false;
    return claimed_server(path) && (!offers_.empty() || !wishes_.empty() || !promised_.none());
}

/// haproxy need not know the prefix.
bool PlacementGateway::owns(std::string_view target) const {
    return path_of(target) == state_path_end;
}

std::string PlacementGateway::line() const {
    if (const auto why = passes_through()) return "passing everything through: " + printable(*why);
    std::string line;
    if (waiting_room_.held() > 0)
        line = std::to_string(waiting_room_.held()) + " waiting for room" +
               (is_full() ? ": overloaded, others pass through (gateway.max_held)" : "");
    for (const std::string& pause : waiting_room_.pauses(dependencies_.cloud.clock.steady()))
        line += (line.empty() ? "" : "; ") + printable(pause);
    return line;
}

OwnAnswer PlacementGateway::state() const {
    const auto passes = passes_through();
    const Duration since_last = dependencies_.cloud.clock.steady() - counts_.last_search;
    OwnAnswer answer;
    // At 503 haproxy leaves: a claim of kept room would be refused by Placement.
    answer.status = passes && !awaits_claims() ? 503 : 200;
    answer.headers = {{"Content-Type", "application/json"}};
    answer.body =
        nlohmann::json{
            {"version", 2},
            {"passes_through", passes ? nlohmann::json(*passes) : nlohmann::json(nullptr)},
            {"searches", counts_.searches},
            {"last_search_s", counts_.searches == 0 ? nlohmann::json(nullptr)
                                                    : nlohmann::json(since_last.count() / 1000)},
            {"held", waiting_room_.held()},
            {"full", is_full()},
            {"served", counts_.served},
            {"in_vain", counts_.in_vain},
            {"offered", counts_.offered},
            {"revocable", counts_.revocable},
            {"kept", dependencies_.kept_rooms.size()},
            {"passed", counts_.passed}}
            .dump() +
        "\n";
    return answer;
}

void PlacementGateway::pass(const RequestId& id, const std::string& why) {
    ++counts_.passed;
    spdlog::info("gateway: {}: Placement's answer passes as it is: {}", printable(id.str()), why);
}

PlacementGateway::Asked PlacementGateway::refuse(const RequestId& id, const std::string& why) {
    spdlog::warn("gateway: {}: no candidates: {}", printable(id.str()), why);
    Asked none;
    none.answer = own_answer(Candidates{});
    none.candidates.emplace();
    return none;
}

Task<ProxyAnswer> PlacementGateway::handle(HttpRequest request, ProxyCall& asked) {
    GatewayCall call{asked, dependencies_.cloud.clock.steady() + dependencies_.settings.deadline};
    if (path_of(request.target).ends_with(state_path_end)) co_return ProxyAnswer{state()};
    if (request.method != "GET") co_return co_await claim(std::move(request), call);
    co_return co_await search(std::move(request), call);
}

Task<ProxyAnswer> PlacementGateway::search(HttpRequest request, GatewayCall& call) {
    const RequestId id = request_of(request.headers);
    if (!id.empty()) {  // nova-scheduler tells it
        ++counts_.searches;
        counts_.last_search = dependencies_.cloud.clock.steady();
    }
    const RequesterResolver::Waiting waiting{requester_resolver_, id};
    auto parameters = parameters_of(request.target);
    if (parameters && !take_res_type(*parameters).constraints.empty())
        co_return co_await search_by_type(std::move(request), call, std::move(*parameters));
    Asked first = co_await ask(request, call, id);
    auto query = parameters ? read_candidates_query(*parameters)
                            : Result<CandidatesQuery>{Error{Errc::bad_input, "a broken query"}};
    if (query) note_dedicated(id, *query, first);
    // Without candidates that could be read: Placement refused, or can't be understood.
    if (!first.candidates || usable_places(*first.candidates) >= many_places)
        co_return std::move(first.answer);
    if (const auto why = why_pass(id, query)) {
        if (first.candidates->none()) pass(id, *why);
        co_return std::move(first.answer);
    }
    const Counted looking{counts_.looking};
    const CandidatesQuery asked_for = *query;
    Asked last = co_await help(std::move(request), call, std::move(*query), std::move(first));
    note_dedicated(id, asked_for, last);
    co_return std::move(last.answer);
}

std::optional<std::string> PlacementGateway::why_pass(const RequestId& id,
                                                      const Result<CandidatesQuery>& query) {
    if (id.empty()) return "it names no request";
    if (!query) return "it asks for what is not known here: " + query.error().what;
    if (is_full())
        return std::to_string(waiting_room_.held()) + " calls wait already (gateway.max_held)";
    if (too_many_looks()) return std::to_string(counts_.looking) + " calls are looked into already";
    return passes_through();
}

/// Why the call may not wait for room now.
std::optional<std::string> PlacementGateway::why_no_place(const WaitingCall& waiting) const {
    auto why = waiting_room_.why_paused(waiting, dependencies_.cloud.clock.steady());
    if (!why) why = waiting_room_.why_full(waiting, dependencies_.settings.max_held);
    return why;
}

void PlacementGateway::pass_over_paused_hosts(Request& wanted) const {
    for (const auto& [id, why] : waiting_room_.paused_hosts(dependencies_.cloud.clock.steady()))
        if (const Host* const host = dependencies_.refresher.cache().find(id))
            wanted.excluded_hosts.emplace(host->service_host, why);
}

WaitingCall PlacementGateway::waiting_call(const Request& wanted) const {
    WaitingCall waiting;
    waiting.project = wanted.project;
    waiting.project_name =
        name_of_project(dependencies_.refresher.cache().project_names(), wanted.project);
    return waiting;
}

bool PlacementGateway::too_many_looks() const {
    return counts_.looking >= std::max(most_looking, dependencies_.settings.max_held);
}

void PlacementGateway::note_hosts(const RequestId& id) {
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(had_hosts_, [&](const auto& each) { return now - each.second > remembered_for; });
    had_hosts_[id] = now;
}

// ---- the requester, and what can be done ----

Task<PlacementGateway::Asked> PlacementGateway::help(HttpRequest request, GatewayCall& call,
                                                     CandidatesQuery query, Asked first) {
    const RequestId id = request_of(request.headers);
    const bool none = first.candidates->none();
    if (!none) {
        Offer told{{query}, first.candidates->hosts(), dependencies_.cloud.clock.steady()};
        note_offer(id, std::move(told));
    }
    const Amount places = usable_places(*first.candidates);
    if (places >= few_places) {
        auto look = begin(requester_resolver_.may_want_more(query, places));
        auto more = co_await in_time(call, std::move(look), short_look);
        if (!more || !*more) co_return first;
    }
    const bool offers = query.groups.empty();
    const Duration wait = !none ? Duration{0} : offers ? patience_before_offer : usual_patience;
    const auto look = begin(requester_resolver_.find(id, query, wait));
    const Duration looked = !none ? short_look : offers ? look_before_offer : whole_call;
    auto found = co_await in_time(call, look, looked);
    if (none && offers && !found && found.error().code == Errc::timeout) {
        if (offer(id, query, {as_asked(of_unknown(id), query)}, first)) co_return first;
        found = co_await in_time(call, look, whole_call);
    }
    std::vector<Request> may_be;
    std::string why;
    // The claim will tell; others may have what Placement names by then.
    if (!found) {
        why = found.error().what;
        if (!none || found.error().code == Errc::timeout)
            may_be.push_back(as_asked(of_unknown(id), query));
    } else if (auto* const unknown = std::get_if<NotCertain>(&*found)) {
        why = "it is not certain who asks: " + unknown->why;
        may_be = std::move(unknown->may_be);
        if (may_be.empty() || unknown->others_fit)
            may_be.push_back(as_asked(of_unknown(id), query));
    } else if (const auto* const refused = std::get_if<Refused>(&*found)) {
        if (refused->no_room_at_all) co_return refuse(id, refused->reason);
        why = refused->reason;
    } else if (auto revocable = dependencies_.why_revocable(std::get<Request>(*found));
               revocable && !admits_revocable(std::get<Request>(*found)) &&
               !dependencies_.lends()) {
        why = "the requester is revocable: " + *revocable;
    } else {
        auto wanted = std::get<Request>(std::move(*found));
        auto unfit = why_second_passes(wanted, query);
        if (!unfit) unfit = narrow(wanted, query);
        const bool enough = is_enough(*first.candidates, wanted);
        if (!unfit && !enough && admits_revocable(wanted)) {
            const Phases phases = wanted.phases;
            co_return co_await in_phases(std::move(request), call, std::move(query), phases,
                                         std::move(wanted), std::move(first));
        }
        if (!unfit && !enough)
            co_return co_await serve(std::move(request), call, std::move(query), std::move(wanted),
                                     std::move(first));
        why = unfit.value_or("it has its places");
        if (!unfit && wanted.operation == Operation::build) may_be.push_back(std::move(wanted));
    }
    const bool offered = offers && offer(id, query, std::move(may_be), first);
    if (none && !offered) pass(id, why);
    co_return first;
}

Task<PlacementGateway::Asked> PlacementGateway::serve(HttpRequest request, GatewayCall& call,
                                                      CandidatesQuery query, Request wanted,
                                                      Asked first) {
    const Counted helping{helping_};
    wanted.id = request_ids_.of(wanted.id, wanted.requesters, dependencies_.cloud.clock.steady());
    const RequestId id = wanted.id;
    const Duration began = dependencies_.cloud.clock.steady();
    if (is_second_of_pair(id, query) &&
        places_of_pair(id, *first.candidates) >= Amount{wanted.slots}) {
        first.enough = true;  // by what was asked first
        co_return first;
    }
    const bool pair = wanted.fallback && dependencies_.scheduler().pcpu_fallback;
    if (pair) {
        std::optional<ResType> only;
        if (!query.res_type.empty()) only = ResType::regular;
        const bool found =
            co_await found_by_fallback(request, call, wanted, only, *first.candidates);
        if (found) {
            first.enough = true;  // by what is asked next
            co_return first;
        }
    }
    // Others may have begun to wait while it was looked who asks.
    if (const auto full = why_no_place(waiting_call(wanted))) {
        if (first.candidates->none()) pass(id, *full);
        co_return first;
    }
    const auto outcome = co_await wait_for(wanted, call, first.had_hosts);
    if (outcome && !has_room(*outcome)) {
        ++counts_.in_vain;
        co_return first;
    }
    if (!outcome && !call.client_gone() && tell_of_room_on_its_way(id, query, first)) {
        ++counts_.offered;
        co_return first;
    }
    if (outcome && has_room_of_the_other_kind(id, query)) {
        ++counts_.served;
        spdlog::info("gateway: {}: its room is told by the other search of the two",
                     printable(id.str()));
        first.enough = true;
        co_return first;
    }
    Asked last = std::move(first);
    bool way = false;
    for (int tries = 1; !call.client_gone(); ++tries) {
        Asked again = co_await ask_for_its_room(request, call, query, id);
        if (!again.candidates) break;  // Placement fails now: what it said before is no worse
        last = std::move(again);
        way = places_of(wanted, *last.candidates) >= wanted.slots;
        if (way || !outcome || tries >= most_tries) break;
        co_await dependencies_.cloud.clock.sleep(between_tries);
    }
    if (way && outcome && outcome->kind == OutcomeKind::freed) keep_to_its_room(wanted, last);
    if (way) note_hosts(id);
    last.enough = way;
    ++(way ? counts_.served : counts_.in_vain);
    const Duration took = dependencies_.cloud.clock.steady() - began;
    spdlog::info("gateway: {}: {} after {} ms ({})", printable(id.str()),
                 way ? "candidates" : "no candidates", took.count(),
                 outcome ? to_string(outcome->kind) : "not in time");
    co_return last;
}

/// What Placement says, and of the room that is kept for the request; where that can't be told, or
/// its claim may come to Placement itself, it is let go.
Task<PlacementGateway::Asked> PlacementGateway::ask_for_its_room(HttpRequest request,
                                                                 GatewayCall& call,
                                                                 CandidatesQuery query,
                                                                 RequestId id) {
    std::optional<ResType> only;
    if (!query.res_type.empty()) only = ResType::regular;
    if (passes_through()) co_await dependencies_.kept_rooms.release_for(id);
    Asked asked = co_await ask(request, call, id, only, true);
    if (asked.candidates) co_await add_hidden_hosts(request, call, id, only, asked);
    if (!asked.candidates) co_return asked;
    if (tell_of_kept_room(id, query, asked)) {
        note_told_of_kept_room(id);
        co_return asked;
    }
    co_await dependencies_.kept_rooms.release_for(id);
    co_return co_await ask(std::move(request), call, std::move(id), only, true);
}

}  // namespace reaper
