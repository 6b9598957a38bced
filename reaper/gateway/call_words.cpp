#include "reaper/gateway/call_words.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/url/parse_query.hpp>
#include <boost/url/url.hpp>
#include <charconv>

namespace reaper {

RequestId RequestIds::of(const RequestId& call, const std::vector<ServerId>& servers,
                         Duration now) {
    if (servers.empty()) return call;
    std::erase_if(known_, [&](const auto& each) {
        return now - each.second.back().at > remembered_for && each.first != call;
    });
    std::vector<Known>& of_call = known_[call];
    const auto its = std::find_if(of_call.begin(), of_call.end(), [&](const Known& each) {
        return std::any_of(servers.begin(), servers.end(),
                           [&](const ServerId& id) { return each.servers.contains(id); });
    });
    if (its != of_call.end()) {
        its->servers.insert(servers.begin(), servers.end());
        its->at = now;
        return its->id;
    }
    RequestId id = call;
    if (!of_call.empty()) id = RequestId{call.str() + "~" + std::to_string(of_call.size() + 1)};
    of_call.push_back({id, {servers.begin(), servers.end()}, now});
    return id;
}

RequestId RequestIds::of_server(const RequestId& call, const ServerId& server) const {
    const auto of_call = known_.find(call);
    if (of_call == known_.end()) return call;
    for (const Known& each : of_call->second)
        if (each.servers.contains(server)) return each.id;
    return call;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

RequestId request_of(const HttpHeaders& headers) {
    for (const auto& [name, value] : headers)
        if (boost::algorithm::iequals(name, "X-Openstack-Request-Id")) return RequestId{value};
    return {};
}

std::optional<PlacementQuery> parameters_of(std::string_view target) {
    const auto mark = target.find('?');
    if (mark == target.npos) return PlacementQuery{};
    const auto read = boost::urls::parse_query(target.substr(mark + 1));
    if (!read) return std::nullopt;
    PlacementQuery query;
    boost::urls::encoding_opts forms;
    forms.space_as_plus = true;
    for (const auto& parameter : *read)
        query.emplace_back(parameter.key.decode(forms), parameter.value.decode(forms));
    return query;
}

std::string with_query(std::string_view target, const PlacementQuery& query) {
    std::string made{path_of(target)};
    boost::urls::url encoder;
    auto parameters = encoder.params();
    for (const auto& [name, value] : query) parameters.append({name, value});
    return made + "?" + std::string{encoder.encoded_query()};
}

std::optional<std::size_t> limit_of(std::string_view target) {
    const auto parameters = parameters_of(target);
    if (!parameters) return std::nullopt;
    for (const auto& [name, value] : *parameters) {
        std::size_t limit = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), limit);
        if (name == "limit" && read.ec == std::errc{} && limit > 0) return limit;
    }
    return std::nullopt;
}

std::string with_limit(std::string_view target, std::size_t limit) {
    PlacementQuery query = parameters_of(target).value();
    for (auto& [name, value] : query)
        if (name == "limit") value = std::to_string(limit);
    return with_query(target, query);
}

PlacementQuery fallback_query(PlacementQuery query, const Request& request) {
    const auto of_shape = [](const auto& each) {
        return each.first == "resources" || each.first == "required";
    };
    std::erase_if(query, of_shape);
    const auto second = placement_queries(by_fallback(request), {}, {}, {});
    for (const auto& each : second.front())
        if (of_shape(each)) query.push_back(each);
    return query;
}

std::optional<ServerId> claimed_server(std::string_view path) {
    constexpr std::string_view before = "/allocations/";
    const auto at = path.rfind(before);
    if (at == path.npos) return std::nullopt;
    const std::string_view id = path.substr(at + before.size());
    if (id.empty() || id.find('/') != id.npos) return std::nullopt;
    return ServerId{std::string{id}};
}

int status_of(const ProxyAnswer& answer) {
    if (const auto* const own = std::get_if<OwnAnswer>(&answer)) return own->status;
    const auto* const passed = std::get_if<std::unique_ptr<UpstreamAnswer>>(&answer);
    return passed == nullptr ? 0 : (*passed)->status();
}

OwnAnswer own_answer(const Candidates& candidates) {
    OwnAnswer answer;
    answer.headers = {{"Content-Type", "application/json"}};
    answer.body = candidates.text();
    return answer;
}

bool has_room(const Outcome& outcome) {
    return outcome.kind == OutcomeKind::freed || outcome.kind == OutcomeKind::already_there ||
           outcome.kind == OutcomeKind::revocable_room;
}

}  // namespace reaper
