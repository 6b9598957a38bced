#include "reaper/api/culling_candidates.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/culling.hpp"

namespace reaper::api {
namespace {

/// Hosts that are looked at before others run again: less than a millisecond.
constexpr std::size_t at_a_time = 25;

const char* const usage =
    "expected one of ?flavor=NAME and ?resources=CLASS:AMOUNT,... (example: "
    "resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20)";

/// What one server takes; nothing if a flavor says it.
Result<Resources> resources_of(const Query& query) {
    const auto wrong = [](const std::string& why) { return Error{Errc::bad_input, why}; };
    if (query.wrong()) return wrong(*query.wrong() + "; " + usage);
    if (query.text("resources").empty() == query.text("flavor").empty()) return wrong(usage);
    if (query.text("resources").empty()) return Resources{};
    auto resources = parse_resources(query.text("resources"));
    if (!resources) return wrong("resources: " + resources.error().what);
    return resources;
}

HttpResponse not_read_yet() {
    return refuse(503, "the cloud has not been read yet; try again in a moment");
}

}  // namespace

Task<HttpResponse> culling_candidates(const Backend& backend, ApiRequest request) {
    const Query query{request, {"flavor", "resources", "zone"}};
    auto resources = resources_of(query);
    if (!resources) co_return refuse(400, resources.error().what);
    Request wanted;
    wanted.resources = std::move(*resources);
    BuiltRequest built = wanted;
    std::string flavor = query.text("flavor");
    if (!flavor.empty())
        built = co_await of_named_flavor(backend, std::move(wanted), std::move(flavor));
    if (auto* const refusal = std::get_if<HttpResponse>(&built)) co_return std::move(*refusal);
    const auto executor = co_await boost::asio::this_coro::executor;
    std::optional<CullingQuestion> question;
    std::vector<HostId> ids;
    TimePoint taken_at;
    if (const auto view = backend.daemon.view()) {
        question.emplace(std::get<Request>(std::move(built)), view->policy.scheduler,
                         view->cache.index(), view->ledger);
        if (auto why = why_unknown(question->request(), view->cache.index()))
            co_return refuse(404, *why);
        const std::string& zone = query.text("zone");
        auto no_zone = zone.empty() ? std::nullopt : why_unknown_zone(zone, view->cache.index());
        if (no_zone) co_return refuse(404, *no_zone);
        for (const Host* host : view->cache.hosts())
            if (zone.empty() || host->availability_zone == zone) ids.push_back(host->id);
        taken_at = view->cache.ages().oldest_read_at;
    } else {
        co_return not_read_yet();
    }
    report::CullingJson json;
    for (std::size_t begin = 0; begin < ids.size(); begin += at_a_time) {
        // The cache may have changed since: hosts are looked up anew, some may be gone.
        const auto view = backend.daemon.view();
        if (!view) co_return not_read_yet();
        const std::size_t end = std::min(begin + at_a_time, ids.size());
        for (std::size_t i = begin; i < end; ++i) {
            const Host* const host = view->cache.find(ids[i]);
            if (host == nullptr) continue;
            if (const auto found =
                    question->candidate(*host, view->ledger, view->policy.protection))
                json.add(*found);
        }
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    HttpResponse found;
    found.body = json.finish(question->request().resources, taken_at) + "\n";
    co_return found;
}

}  // namespace reaper::api
