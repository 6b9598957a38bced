#include "reaper/cli/daemon/gateway_state.hpp"

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "clients/http/client.hpp"
#include "clients/http/system_clock.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr Duration state_within{3'000};

Task<Result<http::Response>> ask(http::Client& client, std::string url) {
    http::Request request;
    request.url = std::move(url);
    request.service = "gateway";
    co_return co_await client.call(std::move(request));
}

}  // namespace

GatewayState read_gateway_state(const std::string& body) {
    const auto state = nlohmann::json::parse(body, nullptr, false);
    if (!state.is_object() || !state.contains("passes_through"))
        return GatewayState{true, "it decides nothing: no 'reaper run' serves there"};
    const auto& why = state["passes_through"];
    GatewayState read{true, why.is_string() ? why.get<std::string>() : std::string{}};
    read.full = state.contains("full") && state["full"] == true;
    return read;
}

std::optional<GatewayState> gateway_state(const config::Gateway& gateway) {
    if (gateway.listen.empty()) return std::nullopt;
    boost::asio::io_context io{1};
    const auto clock = make_system_clock(io.get_executor());
    http::Options options;
    options.max_retries = 0;
    options.call_timeout = options.connect_timeout = state_within;
    options.tls.verify = false;  // no secret goes there, and nothing hangs on the answer
    auto client = http::make_client(io.get_executor(), std::move(options), *clock);
    if (!client) return GatewayState{false, client.error().what};
    const std::string url =
        (gateway.cert_file.empty() ? "http://" : "https://") + gateway.listen + "/reaper-gateway";
    const auto answer = run_task(io, ask(**client, url));
    if (!answer) return GatewayState{false, answer.error().what};
    return read_gateway_state(answer->body);
}

std::string to_text(const GatewayState& state, const config::Gateway& gateway) {
    const std::string where = "gateway: " + gateway.listen;
    if (!state.answers) return where + " does not answer: " + report::safe(state.why_not);
    if (state.why_not.empty())
        return where + " helps" +
               (state.full
                    ? "; overloaded: as many searches wait as may (gateway.max_held), others "
                      "pass through"
                    : "");
    return where + " passes everything through: " + report::safe(state.why_not);
}

}  // namespace reaper::cli
