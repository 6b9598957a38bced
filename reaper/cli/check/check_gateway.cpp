// Check of the gateway: does it listen, lead to Placement, help, and is it asked by nova-scheduler?
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reaper/cli/check/checks.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/gateway.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::cli {
namespace {

constexpr std::chrono::milliseconds answer_within{5'000};

ResultTask<http::Response> get(http::Client& client, std::string url) {
    http::Request request;
    request.url = std::move(url);
    request.service = "gateway";
    co_return co_await client.call(std::move(request));
}

/// Under which the gateway is asked: that of Placement, if nothing else is set.
Task<std::string> path_of(CloudSession& session, const config::Settings& settings) {
    if (!settings.gateway.path_prefix.empty())
        co_return settings.gateway.path_prefix == "/" ? "" : settings.gateway.path_prefix;
    std::string placement = known_placement_url(settings.gateway, settings.cloud);
    if (placement.empty()) {
        auto found = co_await session.endpoint(CloudService::placement);
        if (found) placement = found->url;
    }
    const auto url = http::parse_url(placement);
    std::string path = url ? url->path : "";
    while (path.ends_with('/')) path.pop_back();
    co_return path;
}

/// 0 if it is no number.
std::uint64_t number_of(const nlohmann::json& state, const char* name) {
    const auto found = state.find(name);
    const bool is_one = found != state.end() && found->is_number_unsigned();
    return is_one ? found->get<std::uint64_t>() : 0;
}

/// How it is, as `GET /reaper-gateway` tells.
Finding finding_of(const std::string& name, const http::Response& answer) {
    const auto state = parse_bounded(answer.body);
    const bool told = state.is_object() && state.contains("passes_through");
    if (!told)
        return {Verdict::warn, name,
                "answers, but decides nothing: it is no 'reaper run' that serves (HTTP " +
                    std::to_string(answer.status) + ")"};
    const auto& why = state["passes_through"];
    if (!why.is_null())
        return {Verdict::warn, name,
                "passes everything through: " +
                    (why.is_string() ? printable(why.get<std::string>(), 300) : "it says not why")};
    const auto searches = number_of(state, "searches");
    if (searches == 0)
        return {Verdict::warn, name,
                "nova-scheduler has asked it for no host yet: let [placement] endpoint_override in "
                "its nova.conf lead here, and boot a server"};
    return {Verdict::ok, name,
            "nova-scheduler looked for hosts here " + reaper::counted(searches, "time") +
                ", the last " + std::to_string(number_of(state, "last_search_s")) + " s ago; " +
                std::to_string(number_of(state, "served")) + " got room that was freed, " +
                std::to_string(number_of(state, "revocable")) +
                " revocable room that they ask for"};
}

/// What nova-scheduler does, with our token: why it fails; none if it does not.
Task<std::optional<std::string>> search_through(boost::asio::io_context& io,
                                                const config::Settings& settings,
                                                std::string place) {
    config::Settings changed = settings;
    changed.cloud.endpoint_overrides["placement"] = std::move(place);
    changed.http.max_retries = 0;
    const auto through = connect_cloud(io, changed);
    if (!through) co_return through.error().what;
    ResourceClass cpus{"VCPU"};
    const auto found = co_await through->parts.placement->summaries(std::move(cpus));
    if (!found) co_return found.error().what;
    co_return std::nullopt;
}

}  // namespace

Task<bool> check_gateway(boost::asio::io_context& io, Clock& clock, CloudSession& session,
                         const config::Settings& settings, const Report& report) {
    const config::Gateway& gateway = settings.gateway;
    if (gateway.listen.empty()) co_return true;
    const std::string name = "gateway " + gateway.listen;
    config::Http http = settings.http;
    http.max_retries = 0;
    http.call_timeout = http.connect_timeout = answer_within;
    const auto client = connect_http(io, settings.cloud, http, clock);
    if (!client) {
        report({Verdict::fail, name, client.error().what});
        co_return false;
    }
    auto path = co_await path_of(session, settings);
    const std::string place =
        (gateway.cert_file.empty() ? "http://" : "https://") + gateway.listen + path;
    std::string url = place + "/reaper-gateway";
    const auto state = co_await get(**client, std::move(url));
    if (!state) {
        report({Verdict::warn, name,
                state.error().what + "; is 'reaper run' running? Without it, nova-scheduler finds "
                                     "no Placement here"});
        co_return false;
    }
    // The list of Placement's versions, which it gives to all clients.
    url = place + "/";
    const auto versions = co_await get(**client, std::move(url));
    const bool placement =
        versions && versions->ok() && versions->body.find("\"versions\"") != std::string::npos;
    if (!placement) {
        report(
            {Verdict::fail, name,
             "does not lead to Placement: " +
                 (versions ? "HTTP " + std::to_string(versions->status) : versions.error().what)});
        co_return false;
    }
    const auto failed = co_await search_through(io, settings, place);
    if (failed) {
        report({Verdict::fail, name,
                "leads to Placement, but a search for hosts with our token fails through it: " +
                    *failed});
        co_return false;
    }
    report(finding_of(name, *state));
    co_return true;
}

}  // namespace reaper::cli
