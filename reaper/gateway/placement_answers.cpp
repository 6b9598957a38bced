#include "reaper/gateway/placement_answers.hpp"

#include <algorithm>
#include <utility>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/places.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr int long_answers_at_once = 2;
/// An answer that is longer has many candidates: it is looked into only if all have to be, or some
/// of them may be promised.
constexpr std::size_t short_answer = 64UL * 1024;
/// An answer that is longer passes as it is.
constexpr std::size_t longest_answer = 32UL * 1024 * 1024;
/// A capped answer with fewer places may hide others.
constexpr Amount few_left = 16;
constexpr std::size_t highest_limit = 100'000;
/// Hosts that are asked for one by one, at most.
constexpr int most_hidden = 8;

bool asks_for_a_host(const PlacementQuery& query) {
    return std::any_of(query.begin(), query.end(),
                       [](const auto& each) { return each.first.starts_with("in_tree"); });
}

/// Is any host of one kind of room alone?
bool some_host_is_declared(const CloudCache& cache) {
    const auto& profiles = cache.index().names().profiles();
    return std::any_of(profiles.begin(), profiles.end(), [](const Profile& profile) {
        return declared_type(profile.root_traits).has_value();
    });
}

}  // namespace

PlacementAnswers::PlacementAnswers(const boost::asio::any_io_executor& executor,
                                   const GatewayPorts& ports, GatewayLog& log,
                                   PromisedRoom& promised)
    : ports_(ports),
      log_(log),
      promised_(promised),
      long_answers_(executor, long_answers_at_once) {}

Task<SearchAnswer> PlacementAnswers::ask(HttpRequest request, GatewayCall& call, RequestId id,
                                         std::optional<ResType> only, bool whole) {
    const bool every = whole || (only && some_host_is_declared(ports_.cache()));
    SearchAnswer asked = co_await ask_once(request, call, id, only, every);
    auto limit = limit_of(request.target);
    while (limit && *limit < highest_limit && asked.candidates && asked.withheld &&
           asked.told >= *limit && usable_places(ports_.cache(), *asked.candidates) < few_left) {
        limit = std::min(*limit * 10, highest_limit);
        request.target = with_limit(request.target, *limit);
        SearchAnswer more = co_await ask_once(request, call, id, only, true);
        if (!more.candidates) break;
        asked = std::move(more);
    }
    co_return asked;
}

Task<void> PlacementAnswers::add_hidden_hosts(HttpRequest request, GatewayCall& call, RequestId id,
                                              std::optional<ResType> only, SearchAnswer& asked) {
    const auto parameters = parameters_of(request.target);
    if (asked.told == 0 || !parameters || asks_for_a_host(*parameters)) co_return;
    std::set<HostId> hidden;
    for (const auto* const promise : ports_.ledger().promises_of(id))
        if (promise->kept() > 0) hidden.insert(promise->host);
    for (const HostId& named : asked.candidates->hosts()) hidden.erase(named);
    // Of its own room there, Placement knows no candidate.
    for (const EscrowedRoom& room : ports_.escrow.kept_for(id)) hidden.erase(room.host);
    bool more = false;
    int left = most_hidden;
    for (const HostId& host : hidden) {
        if (left-- == 0) break;
        PlacementQuery there = *parameters;
        there.emplace_back("in_tree", host.str());
        HttpRequest of_host = request;
        of_host.target = with_query(request.target, there);
        RequestId who = id;
        const SearchAnswer found =
            co_await ask_once(std::move(of_host), call, std::move(who), only, true);
        if (!found.candidates || found.candidates->none()) continue;
        asked.candidates->join(*found.candidates);
        more = true;
    }
    if (more) asked.answer = own_answer(*asked.candidates);
}

Task<SearchAnswer> PlacementAnswers::ask_once(HttpRequest request, GatewayCall& call, RequestId id,
                                              std::optional<ResType> only, bool every) {
    SearchAnswer asked{Error{}};
    auto answered = co_await call.ask(std::move(request));
    if (!answered) {
        asked.answer = answered.error();
        co_return asked;
    }
    UpstreamAnswer& answer = **answered;
    if (answer.status() != 200) {
        asked.answer = std::move(*answered);
        co_return asked;
    }
    std::optional<AsyncSemaphore::Permit> turn;
    auto whole = co_await answer.read_all(short_answer);
    const bool more = whole && *whole == BodyRead::too_large;
    if (more && (every || !promised_.none())) {
        turn.emplace(co_await long_answers_.acquire());
        whole = co_await answer.read_all(longest_answer);
    }
    asked.answer = std::move(*answered);
    if (!whole || *whole != BodyRead::whole) co_return asked;
    const bool as_it_is = !every && !only;
    if (as_it_is && names_many_hosts(answer.body(), id)) co_return asked;
    auto candidates = Candidates::read(answer.body());
    if (!candidates) {
        spdlog::warn("gateway: Placement's candidates can't be read, they pass as they are: {}",
                     candidates.error().what);
        co_return asked;
    }
    const bool others = only && candidates->keep_to(*only);
    asked.had_hosts = !candidates->none();
    asked.told = candidates->count();
    auto hosts = candidates->hosts();
    RequestId asking = id;
    auto kept = co_await promised_.withheld(std::move(hosts), std::move(asking));
    const bool kept_back = candidates->withhold([&](const HostId& host) {
        const auto at = kept.find(host);
        return at == kept.end() ? Resources{} : at->second;
    });
    if (kept_back) log_.had_hosts.note(id);
    asked.withheld = kept_back;
    if (kept_back || others) {
        OwnAnswer own;
        own.status = answer.status();
        own.reason = answer.reason();
        own.headers = answer.headers();
        own.body = candidates->text();
        asked.answer = std::move(own);
    }
    asked.candidates = std::move(*candidates);
    co_return asked;
}

/// So many that are up that their room need not be read; and none of all that it
/// names has any that is promised to others.
bool PlacementAnswers::names_many_hosts(std::string_view body, const RequestId& id) const {
    const bool promises = !promised_.none();
    // A few of them may be down.
    const std::size_t most = many_places + many_places / 2;
    const auto hosts = quick_hosts_of(body, promises ? all_hosts : most);
    if (promises && std::any_of(hosts.begin(), hosts.end(), [&](const HostId& host) {
            return promised_.any_to_others(host, id);
        }))
        return false;
    return std::count_if(hosts.begin(), hosts.end(), [&](const HostId& host) {
               const Host* const known = ports_.cache().find(host);
               return known == nullptr || !is_down(*known);
           }) >= many_places;
}

}  // namespace reaper
