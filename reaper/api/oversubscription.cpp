#include "reaper/api/oversubscription.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

constexpr std::size_t most_hosts_at_once = 1'000'000;  ///< without a limit

}  // namespace

Task<HttpResponse> get_oversubscription(const Backend& backend, ApiRequest request) {
    const Query query{request, {"limit", "marker"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, most_hosts_at_once, most_hosts_at_once);
    if (!page) co_return refuse(400, page.error().what);
    const RoomPublisher* const publisher = backend.daemon.room_publisher();
    if (publisher == nullptr) co_return refuse(503, "the daemon does not run yet");
    const auto room_class = publisher->room_class();
    if (!room_class) co_return refuse(404, "nothing is oversubscribed (oversubscription.enabled)");
    std::vector<OversubscribedHost> known = publisher->hosts();
    const auto id_of = [](const OversubscribedHost& each) { return each.host.str(); };
    const auto more = cut_to_page(known, *page, id_of);
    if (!more) co_return refuse(400, more.error().what);
    nlohmann::json links = nlohmann::json::array();
    if (*more) links = next_link(request, known.back().host.str());
    nlohmann::json hosts = nlohmann::json::array();
    for (const OversubscribedHost& each : known)
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
                               {"hosts", std::move(hosts)},
                               {"hosts_links", std::move(links)}}) +
                 "\n";
    co_return found;
}

}  // namespace reaper::api
