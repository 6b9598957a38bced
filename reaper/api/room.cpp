#include "reaper/report/room.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/json/fields.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper::api {
namespace {

struct Asked {
    DescribedRequest described;
    std::string flavor;
};

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

Result<int> count_in(const std::string& text) {
    int count = 1;
    if (text.empty()) return count;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failure != std::errc{} || end != text.data() + text.size() || count < 1 ||
        count > most_servers_planned)
        return wrong("count: expected a whole number from 1 to " +
                     std::to_string(most_servers_planned) + ", found " + in_quotes(text));
    return count;
}

Result<void> add_traits(const std::string& list, DescribedRequest& described) {
    std::istringstream parts{list};
    for (std::string part; std::getline(parts, part, ',');)
        if (auto added = add_trait(described, part); !added)
            return wrong("traits: " + added.error().what);
    return {};
}

Result<Asked> asked_in(const Query& query) {
    Asked asked;
    asked.flavor = query.text("flavor");
    const std::string& resources = query.text("resources");
    if (asked.flavor.empty() == resources.empty())
        return wrong(
            "expected one of ?flavor=NAME and ?resources=CLASS:AMOUNT,... (example: "
            "resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20)");
    if (!resources.empty()) {
        auto amounts = parse_resources(resources);
        if (!amounts) return wrong("resources: " + amounts.error().what);
        asked.described.resources = std::move(*amounts);
    }
    const auto count = count_in(query.text("count"));
    if (!count) return count.error();
    asked.described.slots = *count;
    if (const auto added = add_traits(query.text("traits"), asked.described); !added)
        return added.error();
    asked.described.project = query.text("project");
    if (!query.text("zone").empty()) asked.described.availability_zone = query.text("zone");
    return asked;
}

Task<BuiltRequest> built_of(const Backend& backend, Asked asked) {
    ProjectId project;
    if (!asked.described.project.empty()) {
        std::string written = asked.described.project;
        auto found = co_await backend.identity->find_project(std::move(written));
        if (!found) co_return refuse(503, "Keystone can't be asked: " + found.error().what);
        if (!found->found)
            co_return refuse(found->several ? 400 : 404, "project: " + found->why_not);
        project = found->found->id;
    }
    Request request =
        request_of(asked.described, RequestId{"room"}, std::move(project), backend.clock->now());
    if (asked.flavor.empty()) co_return request;
    co_return co_await of_named_flavor(backend, std::move(request), std::move(asked.flavor));
}

}  // namespace

Task<HttpResponse> get_room(const Backend& backend, ApiRequest request) {
    const Query query{request, {"flavor", "resources", "count", "zone", "project", "traits"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.identity == nullptr || backend.clock == nullptr)
        co_return refuse(503, "this daemon tells no room");
    auto asked = asked_in(query);
    if (!asked) co_return refuse(400, asked.error().what);
    if (!backend.daemon.view()) co_return cloud_not_read();
    auto built = co_await built_of(backend, std::move(*asked));
    if (auto* const refusal = std::get_if<HttpResponse>(&built)) co_return std::move(*refusal);
    Request wanted = std::get<Request>(std::move(built));
    const auto before = backend.daemon.view();
    if (!before) co_return cloud_not_read();
    add_names(before->cache.project_names(), wanted);
    if (auto why = why_unknown(wanted, before->cache.index())) co_return refuse(404, *why);
    Request question = wanted;
    const auto answer = co_await backend.daemon.room_for(std::move(question));
    const auto view = backend.daemon.view();
    if (!answer || !view) co_return cloud_not_read();
    nlohmann::json body = report::room_json(*answer, wanted);
    body["remarks"] = plan_remarks(backend, *view);
    if (auto remark = zone_remark(wanted, view->cache.index()))
        body["remarks"].push_back(std::move(*remark));
    body["taken_at"] = iso_time(view->cache.ages().oldest_read_at);
    co_return answered(std::move(body));
}

namespace {

constexpr std::size_t most_hosts_at_once = 1'000'000;  ///< without a limit

constexpr auto oversubscribed_host_fields = fields_of<OversubscribedHost>([](auto& io, auto& host) {
    io.required("host", host.host);
    io.required("host_name", host.name);
    io.required("published", host.published);
    io.required("used", host.used);
    io.required("wanted", host.wanted);
    io.required("excess", host.excess);
    io.required("left_alone", host.left_alone);
    io.required("too_busy", host.too_busy);
    io.required("why", host.why);
});

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
    nlohmann::json links =
        *more ? next_link(request, known.back().host.str()) : nlohmann::json::array();
    co_return answered({{"class", room_class->str()},
                        {"hosts", json_of_value(known, oversubscribed_host_fields)},
                        {"hosts_links", std::move(links)}});
}

}  // namespace reaper::api
