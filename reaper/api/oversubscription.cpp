#include "reaper/api/oversubscription.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/controllers/room_publisher.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {

Task<HttpResponse> get_oversubscription(const Backend& backend, ApiRequest) {
    const RoomPublisher* const publisher =
        backend.room_publisher ? backend.room_publisher() : nullptr;
    if (publisher == nullptr) co_return refuse(503, "the daemon does not run yet");
    const auto room_class = publisher->room_class();
    if (!room_class) co_return refuse(404, "nothing is oversubscribed (oversubscription.enabled)");
    nlohmann::json hosts = nlohmann::json::array();
    for (const OversubscribedHost& each : publisher->hosts())
        hosts.push_back(
            {{"host", each.host.str()},
             {"host_name", each.name},
             {"published", each.published},
             {"used", each.used},
             {"wanted", each.wanted ? nlohmann::json(*each.wanted) : nlohmann::json(nullptr)},
             {"excess", each.excess},
             {"left_alone", each.left_alone},
             {"too_busy", each.too_busy},
             {"why", each.why}});
    HttpResponse found;
    found.body = report::dump({{"version", report::json_version},
                               {"class", room_class->str()},
                               {"hosts", std::move(hosts)}}) +
                 "\n";
    co_return found;
}

}  // namespace reaper::api
