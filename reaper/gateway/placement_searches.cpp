#include "reaper/gateway/placement_searches.hpp"

#include <utility>

#include "reaper/gateway/places.hpp"
#include "reaper/gateway/who_fits.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// While the requester is uncertain, and while an offer would do.
constexpr Duration usual_patience{2'500};
constexpr Duration patience_before_offer{250};
/// Where hosts can be offered without it, a slow list of Nova's is not waited for.
constexpr Duration look_before_offer{1'000};
/// While the requester is not certain: what the query says counts then.
constexpr Duration patience_for_who{250};
/// Placement may show freed room a moment later.
constexpr Duration between_tries{100};
constexpr Duration most_between_tries{1'000};  // of those that fail
constexpr int most_tries = 20;

/// It says so itself.
bool admits_revocable(const Request& request) {
    return request.phases.admits(ResType::revocable);
}

/// One server for a requester of which nothing is known.
Request of_unknown(const RequestId& id) {
    Request request;
    request.id = id;
    return request;
}

/// Whatever Placement has: Nova finds no valid host then.
SearchAnswer no_candidates(const RequestId& id, const std::string& why) {
    spdlog::warn("gateway: {}: no candidates: {}", printable(id.str()), why);
    SearchAnswer none;
    none.answer = own_answer(Candidates{});
    none.candidates.emplace();
    return none;
}

/// Placement failed in a way that may pass by itself.
bool may_pass(const SearchAnswer& failed) {
    const int status = status_of(failed.answer);
    return status == 0 || status == 200 || status >= 500;  // 200: it broke off
}

void note_revocable(GatewayLog& log, const RequestId& id, const SearchAnswer& asked) {
    if (!asked.enough || !asked.candidates || asked.candidates->none()) return;
    ++log.counts.revocable;
    log.had_hosts.note(id);
    spdlog::info("gateway: {}: revocable room, as it admits it", printable(id.str()));
}

/// What was freed for it is to be taken by it, not what came free elsewhere meanwhile: else its
/// victims died for others.
void keep_to_its_room(const GatewayPorts& ports, const Request& wanted, SearchAnswer& asked) {
    std::set<HostId> told = asked.candidates->hosts();
    for (const EscrowedRoom& room : ports.escrow.kept_for(wanted.id)) told.insert(room.host);
    std::set<HostId> own;
    Amount open = 0;
    for (const auto* const promise : ports.ledger().promises_of(wanted.id)) {
        if (promise->open() == 0 || !told.contains(promise->host)) continue;
        own.insert(promise->host);
        open += promise->open();
    }
    if (open >= wanted.slots && asked.candidates->keep_to_hosts(own))
        asked.answer = own_answer(*asked.candidates);
}

}  // namespace

Task<ProxyAnswer> PlacementSearches::search(HttpRequest request, GatewayCall& call) {
    const RequestId id = request_of(request.headers);
    if (!id.empty()) {  // nova-scheduler tells it
        ++log_.counts.searches;
        log_.counts.last_search = ports_.steady();
    }
    auto parameters = parameters_of(request.target);
    if (parameters && !take_res_type(*parameters).constraints.empty())
        co_return co_await search_by_type(std::move(request), call, std::move(*parameters));
    SearchAnswer first = co_await answers_.ask(request, call, id);
    auto query = parameters ? read_candidates_query(*parameters)
                            : Result<CandidatesQuery>{Error{Errc::bad_input, "a broken query"}};
    if (query) pairs_.note(id, *query, first);
    // Without candidates that could be read: Placement refused, or can't be understood.
    if (!first.candidates || usable_places(ports_.cache(), *first.candidates) >= many_places)
        co_return std::move(first.answer);
    if (const auto why = why_pass(id, query)) {
        if (first.candidates->none()) log_.pass(id, *why);
        co_return std::move(first.answer);
    }
    const Counted looking{log_.counts.looking};
    const CandidatesQuery asked_for = *query;
    SearchAnswer last =
        co_await help(std::move(request), call, std::move(*query), std::move(first));
    pairs_.note(id, asked_for, last);
    co_return std::move(last.answer);
}

std::optional<std::string> PlacementSearches::why_pass(const RequestId& id,
                                                       const Result<CandidatesQuery>& query) const {
    if (id.empty()) return "it names no request";
    if (!query) return "it asks for what is not known here: " + query.error().what;
    return patience_.why_busy();
}

Task<SearchAnswer> PlacementSearches::help(HttpRequest request, GatewayCall& call,
                                           CandidatesQuery query, SearchAnswer first) {
    const RequestId id = request_of(request.headers);
    const bool none = first.candidates->none();
    if (!none) {
        HostOffer told{{query}, first.candidates->hosts(), ports_.steady()};
        offers_.note(id, std::move(told));
    }
    const Amount places = usable_places(ports_.cache(), *first.candidates);
    if (places >= few_places) {
        auto look = patience_.begin(resolver_.may_want_more(query, places));
        auto more = co_await patience_.in_time(call, std::move(look), Patience::short_look);
        if (!more || !*more) co_return first;
    }
    const bool offers = may_be_offered(query) && !pairs_.is_second(id, query);
    if (none && offers && patience_.lists_are_slow() &&
        offers_.offer(id, query, {as_asked(of_unknown(id), query)}, first))
        co_return first;
    const Duration wait = !none ? Duration{0} : offers ? patience_before_offer : usual_patience;
    const auto look = patience_.begin(resolver_.find(id, query, wait));
    const Duration looked = !none    ? Patience::short_look
                            : offers ? look_before_offer
                                     : Patience::whole_call;
    auto found = co_await patience_.in_time(call, look, looked);
    if (none && offers && !found && found.error().code == Errc::timeout) {
        if (!call.client_gone()) patience_.note_slow_list();
        if (offers_.offer(id, query, {as_asked(of_unknown(id), query)}, first)) co_return first;
        found = co_await patience_.in_time(call, look, Patience::whole_call);
    }
    std::vector<Request> may_be;
    std::string why;
    // The claim will tell; others may have what Placement names by then.
    if (!found) {
        why = found.error().what;
        if (!none || found.error().code == Errc::timeout)
            may_be.push_back(as_asked(of_unknown(id), query));
    } else if (auto* const unknown = std::get_if<NotCertain>(&*found)) {
        why = "the requester is not certain: " + unknown->why;
        may_be = std::move(unknown->may_be);
        if (may_be.empty() || unknown->others_fit)
            may_be.push_back(as_asked(of_unknown(id), query));
    } else if (const auto* const refused = std::get_if<Refused>(&*found)) {
        if (refused->no_room_at_all) co_return no_candidates(id, refused->reason);
        why = refused->reason;
    } else if (auto revocable = ports_.why_revocable(std::get<Request>(*found));
               revocable && !admits_revocable(std::get<Request>(*found)) && !ports_.lends()) {
        why = "the requester is revocable: " + *revocable;
    } else {
        auto wanted = std::get<Request>(std::move(*found));
        auto unfit = pairs_.why_second_passes(wanted, query);
        if (!unfit) unfit = narrow(wanted, query, ports_.cache());
        const bool enough = is_enough(ports_, *first.candidates, wanted);
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
    const bool offered = offers && offers_.offer(id, query, std::move(may_be), first);
    if (none && !offered) log_.pass(id, why);
    co_return first;
}

Task<SearchAnswer> PlacementSearches::serve(HttpRequest request, GatewayCall& call,
                                            CandidatesQuery query, Request wanted,
                                            SearchAnswer first) {
    const Counted helping{log_.counts.helping};
    const RequestId call_id = wanted.id;
    wanted.id = request_ids_.of(call_id, wanted.requesters, ports_.steady());
    const RequestId id = wanted.id;
    const Duration began = ports_.steady();
    if (pairs_.is_second(call_id, query) &&
        pairs_.places(call_id, *first.candidates) >= Amount{wanted.slots}) {
        first.enough = true;  // by what was asked first
        co_return first;
    }
    const bool pair = wanted.fallback && ports_.scheduler().pcpu_fallback;
    if (pair) {
        std::optional<ResType> only;
        if (!query.res_type.empty()) only = ResType::regular;
        const bool found =
            co_await pairs_.found_by_fallback(request, call, wanted, only, *first.candidates);
        if (found) {
            first.enough = true;  // by what is asked next
            co_return first;
        }
    }
    // Others may have begun to wait while the requester was looked up.
    if (const auto full = waits_.why_no_place(wanted)) {
        if (first.candidates->none()) log_.pass(id, *full);
        co_return first;
    }
    const auto outcome = co_await waits_.wait_for(wanted, call, first.had_hosts);
    if (outcome && !has_room(*outcome)) {
        ++log_.counts.without_room;
        co_return first;
    }
    if (!outcome && !call.client_gone() && offers_.tell_of_room_on_its_way(id, query, first)) {
        ++log_.counts.offered;
        co_return first;
    }
    if (outcome && pairs_.has_room_of_the_other_kind(id, query)) {
        ++log_.counts.served;
        spdlog::info("gateway: {}: the other search of the two has its room", printable(id.str()));
        first.enough = true;
        co_return first;
    }
    SearchAnswer last = std::move(first);
    bool way = false;
    GrowingPause pause{between_tries, most_between_tries};
    for (int tries = 0; !call.client_gone();) {
        SearchAnswer again = co_await ask_for_its_room(request, call, query, id);
        const bool failed = !again.candidates;
        if (failed && !outcome) break;  // what Placement said before is no worse
        last = std::move(again);        // its room is there: no hosts would be wrong
        way = !failed && places_of(ports_, wanted, *last.candidates) >= wanted.slots;
        const bool late = ports_.steady() >= call.until();
        const bool ends = failed ? late || !may_pass(last) : ++tries >= most_tries;
        if (way || !outcome || ends) break;
        const Duration before_next = failed ? pause.next() : between_tries;
        co_await ports_.cloud.clock.sleep(before_next);
    }
    if (way && outcome && outcome->kind == OutcomeKind::freed)
        keep_to_its_room(ports_, wanted, last);
    if (way) log_.had_hosts.note(id);
    last.enough = way;
    ++(way ? log_.counts.served : log_.counts.without_room);
    const Duration took = ports_.steady() - began;
    spdlog::info("gateway: {}: {} after {} ms ({})", printable(id.str()),
                 way ? "candidates" : "no candidates", took.count(),
                 outcome ? to_string(outcome->kind) : "not in time");
    co_return last;
}

/// What Placement says, and of the room that is kept for the request; where that is not known, or
/// its claim may come to Placement itself, it is released.
Task<SearchAnswer> PlacementSearches::ask_for_its_room(HttpRequest request, GatewayCall& call,
                                                       CandidatesQuery query, RequestId id) {
    std::optional<ResType> only;
    if (!query.res_type.empty()) only = ResType::regular;
    if (patience_.passes_through()) co_await ports_.escrow.release_for(id);
    SearchAnswer asked = co_await answers_.ask(request, call, id, only, true);
    if (asked.candidates) co_await answers_.add_hidden_hosts(request, call, id, only, asked);
    if (!asked.candidates) co_return asked;
    if (offers_.tell_of_escrow(id, query, asked)) co_return asked;
    co_await ports_.escrow.release_for(id);
    co_return co_await answers_.ask(std::move(request), call, std::move(id), only, true);
}

/// What the query says is certain; the requester may differ, as by a server's metadata.
Task<ProxyAnswer> PlacementSearches::search_by_type(HttpRequest request, GatewayCall& call,
                                                    PlacementQuery query) {
    const RequestId id = request_of(request.headers);
    ResTypeQuery asked = take_res_type(query);
    request.target = with_query(request.target, asked.rest);
    auto read = read_candidates_query(query);
    auto phases = phases_of(asked.constraints);
    const auto why = why_pass(id, read);
    std::optional<Request> wanted;
    std::optional<Counted> looking;
    if (!why) {
        looking.emplace(log_.counts.looking);
        Said said = co_await who_says(request, call, *read);
        if (auto* const known = std::get_if<Request>(&said)) wanted = std::move(*known);
        if (wanted) phases = wanted->phases;
        if (const auto* const refused = std::get_if<Refused>(&said))
            phases = Error{Errc::bad_input, refused->reason};
    } else {
        read = Error{Errc::bad_input, *why};  // no request is helped
    }
    // Who says two things, or admits nothing, is refused, as by metadata.
    if (!phases) co_return no_candidates(id, phases.error().what).answer;
    log_.wishes.note(id);
    SearchAnswer last = co_await in_phases(std::move(request), call, std::move(read), *phases,
                                           std::move(wanted), std::nullopt);
    const bool none = last.candidates && last.candidates->none();
    if (none && why) log_.pass(id, *why);
    if (none && !why && !phases->admits(ResType::regular))
        spdlog::info("gateway: {}: no candidates: it admits revocable room alone, and none is free",
                     printable(id.str()));
    co_return std::move(last.answer);
}

/// Whose search it is, and what it says of kinds of room; nothing if that is not certain.
Task<PlacementSearches::Said> PlacementSearches::who_says(HttpRequest request, GatewayCall& call,
                                                          CandidatesQuery query) {
    RequestId id = request_of(request.headers);
    auto look = patience_.begin(resolver_.find(std::move(id), query, patience_for_who));
    auto found = co_await patience_.in_time(call, std::move(look), Patience::short_look);
    if (!found) co_return Said{};
    if (auto* const refused = std::get_if<Refused>(&*found); refused && refused->no_room_at_all)
        co_return Said{std::move(*refused)};
    auto* const known = std::get_if<Request>(&*found);
    if (known == nullptr || known->phases_because.empty()) co_return Said{};
    if (pairs_.why_second_passes(*known, query)) co_return Said{};
    Request wanted = std::move(*known);
    if (narrow(wanted, query, ports_.cache())) co_return Said{};
    co_return Said{std::move(wanted)};
}

/// One kind after the other. `plain`: what Placement said to the search as it is, if it was asked.
Task<SearchAnswer> PlacementSearches::in_phases(HttpRequest request, GatewayCall& call,
                                                Result<CandidatesQuery> query, Phases phases,
                                                std::optional<Request> wanted,
                                                std::optional<SearchAnswer> plain) {
    std::optional<SearchAnswer> regular, revocable;
    for (int phase = 1; phase <= (phases.both ? 2 : 1); ++phase) {
        const bool of_revocable = (phases.first == ResType::revocable) == (phase == 1);
        std::optional<SearchAnswer>& asked = of_revocable ? revocable : regular;
        if (of_revocable) {
            asked = co_await ask_for_revocable(request, call, wanted);
            note_revocable(log_, request_of(request.headers), *asked);
        } else {
            auto known = std::exchange(plain, std::nullopt);
            asked = co_await ask_for_regular(request, call, query, wanted, std::move(known));
        }
        // Or Placement failed.
        if (!asked->candidates || asked->enough) co_return std::move(*asked);
    }
    // As of any other search: hosts may be offered, and a claim names the server.
    if (regular && !wanted && query && !patience_.passes_through())
        regular = co_await help(std::move(request), call, std::move(*query), std::move(*regular));
    // Some places are better than none, and Placement's answer to what was asked is the best of
    // none.
    const bool some = revocable && revocable->candidates && !revocable->candidates->none();
    const bool told =
        regular && (!regular->candidates || regular->enough || !regular->candidates->tells_none());
    if (told || (regular && !some)) co_return std::move(*regular);
    co_return std::move(*revocable);
}

/// May free room.
Task<SearchAnswer> PlacementSearches::ask_for_regular(HttpRequest request, GatewayCall& call,
                                                      Result<CandidatesQuery> query,
                                                      std::optional<Request> wanted,
                                                      std::optional<SearchAnswer> plain) {
    SearchAnswer first;
    if (plain) {
        first = std::move(*plain);
    } else {
        RequestId id = request_of(request.headers);
        first = co_await answers_.ask(request, call, std::move(id), ResType::regular);
    }
    if (!first.candidates) co_return first;
    first.enough =
        wanted ? is_enough(ports_, *first.candidates, *wanted) : !first.candidates->none();
    if (first.enough || !query || !wanted || patience_.passes_through()) co_return first;
    if (ports_.why_revocable(*wanted)) co_return first;
    wanted->phases = {};
    co_return co_await serve(std::move(request), call, std::move(*query), std::move(*wanted),
                             std::move(first));
}

/// Of revocable classes. Where no tagger goes by one, room is revocable by whose server is in it.
Task<SearchAnswer> PlacementSearches::ask_for_revocable(HttpRequest request, GatewayCall& call,
                                                        std::optional<Request> wanted) {
    const RequestId id = request_of(request.headers);
    const auto parameters = parameters_of(request.target);
    const std::set<ResourceClass> classes = ports_.revocable_classes();
    std::vector<HttpRequest> searches;
    for (const ResourceClass& offered : classes) {
        const auto query = as_revocable_query(*parameters, offered);
        if (!query) continue;
        searches.push_back(request);
        searches.back().target = with_query(request.target, *query);
    }
    const bool regular = wanted && !ports_.why_revocable(*wanted);
    if (classes.empty() && !regular) searches.push_back(request);
    SearchAnswer last;
    last.answer = own_answer(Candidates{});
    last.candidates.emplace();
    for (bool told = false; HttpRequest & search : searches) {
        SearchAnswer asked = co_await answers_.ask(std::move(search), call, id, ResType::revocable);
        // So it is where no provider ever offered any of that class.
        const bool refused = status_of(asked.answer) == 400;
        if (refused && !told) last.answer = std::move(asked.answer);
        if (refused) continue;
        if (!asked.candidates) co_return asked;
        asked.enough = !asked.candidates->none();
        if (wanted) asked.enough = places_for(ports_, *wanted, *asked.candidates) >= wanted->slots;
        const bool more = !told || asked.candidates->places() > last.candidates->places();
        told = true;
        if (more || asked.enough) last = std::move(asked);
        if (last.enough) co_return last;
    }
    const bool pair = wanted && wanted->fallback && ports_.scheduler().pcpu_fallback;
    if (!pair) co_return last;
    last.enough = co_await revocable_by_fallback(std::move(request), call, std::move(*wanted));
    co_return last;
}

/// Nova asks for dedicated CPUs first, and then for the same as VCPU: is there room for that?
Task<bool> PlacementSearches::revocable_by_fallback(HttpRequest request, GatewayCall& call,
                                                    Request wanted) {
    const auto parameters = parameters_of(request.target);
    request.target = with_query(request.target, fallback_query(*parameters, wanted));
    wanted.fallback.reset();
    const SearchAnswer other =
        co_await ask_for_revocable(std::move(request), call, std::move(wanted));
    co_return other.enough;
}

}  // namespace reaper
