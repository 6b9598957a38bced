#include "reaper/api/health.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/model/text.hpp"

namespace reaper::api {
namespace {

constexpr std::size_t longest_detail = 500;

HttpResponse answer_of(const std::vector<HealthCheck>& checks,
                       const std::vector<HealthCheck>& notes) {
    nlohmann::json checked = nlohmann::json::array();
    for (const HealthCheck& each : checks)
        checked.push_back({{"name", each.name},
                           {"ok", each.good},
                           {"detail", printable(each.detail, longest_detail)}});
    nlohmann::json noted = nlohmann::json::array();
    for (const HealthCheck& each : notes)
        noted.push_back({{"name", each.name}, {"detail", printable(each.detail, longest_detail)}});
    const bool good =
        std::ranges::all_of(checks, [](const HealthCheck& each) { return each.good; });
    return answered({{"status", good ? "ok" : "failing"},
                     {"checks", std::move(checked)},
                     {"notes", std::move(noted)}},
                    good ? 200 : 503);
}

HttpResponse not_watched() {
    return refuse(503, "the daemon has not started yet");
}

}  // namespace

Task<HttpResponse> get_healthz(const Backend& backend, ApiRequest) {
    if (backend.monitoring == nullptr) co_return not_watched();
    const Health health = backend.monitoring->health();
    co_return answer_of(health.live, health.notes);
}

Task<HttpResponse> get_readyz(const Backend& backend, ApiRequest) {
    if (backend.monitoring == nullptr) co_return not_watched();
    const Health health = backend.monitoring->health();
    co_return answer_of(health.ready, health.notes);
}

Task<HttpResponse> get_metrics(const Backend& backend, ApiRequest) {
    if (backend.monitoring == nullptr) co_return not_watched();
    HttpResponse page;
    page.content_type = "text/plain; version=0.0.4; charset=utf-8";
    page.body = co_await backend.monitoring->metrics();
    co_return page;
}

}  // namespace reaper::api
