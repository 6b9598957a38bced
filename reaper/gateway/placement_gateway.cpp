#include "reaper/gateway/placement_gateway.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

PlacementGateway::PlacementGateway(const boost::asio::any_io_executor& executor, GatewayPorts ports)
    : ports_(std::move(ports)),
      log_(ports_.cloud.clock),
      resolver_(ports_),
      promised_(ports_.cloud, ports_.refresher, ports_.ledger(), ports_.escrow),
      patience_(ports_, log_, waiting_room_),
      answers_(executor, ports_, log_, promised_),
      pairs_(ports_, answers_),
      waits_(ports_, log_, waiting_room_),
      offers_(ports_, log_, patience_, pairs_, waits_),
      searches_(ports_, log_, patience_, resolver_, request_ids_, answers_, pairs_, offers_,
                waits_),
      claims_(ports_, log_, patience_, resolver_, request_ids_, offers_, waits_, promised_) {}

bool PlacementGateway::wants(std::string_view method, std::string_view target) const {
    const std::string_view path = path_of(target);
    if (method == "GET")
        return path.ends_with(candidates_path) || path.ends_with(gateway_state_path);
    // A claim, in its turn; or one that is taken back.
    if (method == "PUT") return claimed_server(path).has_value();
    const bool of_interest = !offers_.none() || !log_.wishes.empty() || !promised_.none();
    return method == "DELETE" && of_interest && claimed_server(path);
}

/// haproxy need not know the prefix.
bool PlacementGateway::owns(std::string_view target) const {
    return path_of(target) == gateway_state_path;
}

std::string PlacementGateway::line() const {
    if (const auto why = passes_through()) return "passing everything through: " + printable(*why);
    std::string line;
    if (waiting_room_.held() > 0)
        line = std::to_string(waiting_room_.held()) + " waiting for room" +
               (patience_.is_full() ? ": overloaded, others pass through (gateway.max_held)" : "");
    for (const std::string& pause : waiting_room_.pauses(ports_.steady()))
        line += (line.empty() ? "" : "; ") + printable(pause);
    return line;
}

OwnAnswer PlacementGateway::state() const {
    const auto passes = passes_through();
    const GatewayCounts& now = log_.counts;
    const Duration since_last = ports_.steady() - now.last_search;
    const nlohmann::json none;
    const nlohmann::json last =
        now.searches == 0 ? none : nlohmann::json(since_last.count() / 1000);
    const nlohmann::json told = {{"version", 2},
                                 {"passes_through", passes ? nlohmann::json(*passes) : none},
                                 {"searches", now.searches},
                                 {"last_search_s", last},
                                 {"held", waiting_room_.held()},
                                 {"full", patience_.is_full()},
                                 {"served", now.served},
                                 {"without_room", now.without_room},
                                 {"offered", now.offered},
                                 {"revocable", now.revocable},
                                 {"kept", ports_.escrow.size()},
                                 {"passed", now.passed}};
    OwnAnswer answer;
    // At 503 haproxy leaves: a claim of room in escrow would be refused by Placement.
    answer.status = passes && !offers_.awaits_claims() ? 503 : 200;
    answer.headers = {{"Content-Type", "application/json"}};
    answer.body = told.dump() + "\n";
    return answer;
}

Task<ProxyAnswer> PlacementGateway::handle(HttpRequest request, ProxyCall& asked) {
    GatewayCall call{asked, ports_.steady() + ports_.settings().deadline};
    if (path_of(request.target).ends_with(gateway_state_path)) co_return ProxyAnswer{state()};
    if (request.method != "GET") co_return co_await claims_.claim(std::move(request), call);
    co_return co_await searches_.search(std::move(request), call);
}

}  // namespace reaper
