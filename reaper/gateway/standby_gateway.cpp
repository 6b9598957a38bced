#include "reaper/gateway/standby_gateway.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <nlohmann/json.hpp>

#include "reaper/gateway/call_words.hpp"

namespace reaper {
namespace {

/// Of a call that a standby has handed on: none hands it on again.
constexpr const char* handed_on_header = "X-Reaper-Standby";

bool is_state(std::string_view target) {
    return path_of(target).ends_with(gateway_state_path);
}

OwnAnswer no_active_gateway() {
    const nlohmann::json told = {{"version", 2},
                                 {"passes_through", "standing by, and no active gateway answers"}};
    return {503, "", {{"Content-Type", "application/json"}}, told.dump() + "\n"};
}

}  // namespace

bool StandbyGateway::wants(std::string_view method, std::string_view target) const {
    if (!ports_.stands_by()) return ports_.service->wants(method, target);
    const std::string_view path = path_of(target);
    if (method == "GET") return path.ends_with(candidates_path) || is_state(path);
    return (method == "PUT" || method == "DELETE") && claimed_server(path);
}

bool StandbyGateway::owns(std::string_view target) const {
    return ports_.stands_by() ? is_state(target) : ports_.service->owns(target);
}

std::string StandbyGateway::line() const {
    if (!ports_.stands_by()) return ports_.service->line();
    const auto active = ports_.active();
    return active ? "handing on to " + *active : "passing everything through: standing by";
}

Task<ProxyAnswer> StandbyGateway::handle(HttpRequest request, ProxyCall& call) {
    const bool was_handed_on = std::erase_if(request.headers, [](const auto& header) {
                                   return boost::algorithm::iequals(header.first, handed_on_header);
                               }) > 0;
    if (ports_.stands_by() && !was_handed_on) {
        auto handed = co_await hand_on(request, call);
        if (handed) co_return std::move(*handed);
    }
    // We may have taken over meanwhile.
    if (ports_.service->wants(request.method, request.target))
        co_return co_await ports_.service->handle(std::move(request), call);
    if (is_state(request.target)) co_return no_active_gateway();
    auto passed = co_await call.ask(std::move(request));
    if (!passed) co_return passed.error();
    co_return std::move(*passed);
}

/// None: Placement is to be asked.
Task<std::optional<ProxyAnswer>> StandbyGateway::hand_on(const HttpRequest& request,
                                                         ProxyCall& call) {
    const auto active = ports_.active();
    if (!active) co_return std::nullopt;
    HttpRequest handed = request;
    handed.headers.emplace_back(handed_on_header, "1");
    auto lost = [this, at = *active] { return !ports_.stands_by() || ports_.active() != at; };
    auto answer = co_await call.ask_other(*active, std::move(handed), std::move(lost));
    const bool search = request.method == "GET";
    if (answer && (!search || (*answer)->status() == 200 || is_state(request.target)))
        co_return ProxyAnswer{std::move(*answer)};
    // A claim may have been done: a second one would be answered otherwise than the first.
    if (!answer && !search && answer.error().code != Errc::unreachable)
        co_return ProxyAnswer{answer.error()};
    co_return std::nullopt;
}

}  // namespace reaper
