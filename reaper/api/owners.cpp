#include "reaper/api/owners.hpp"

#include <iterator>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

constexpr Duration price{200};
constexpr Duration credit = 10 * price;
constexpr Duration counts_hold{60'000};
constexpr std::size_t most_own_servers = 100;  ///< in one answer
constexpr std::size_t hosts_looked_at_a_time = 200;

/// It names nothing of another project.
const char* why_it_goes(RequestSource source) {
    switch (source) {
        case RequestSource::reservation: return "a reservation takes back its room";
        case RequestSource::oversubscription: return "its host is too full";
        case RequestSource::watermark: return "too much of the cloud is used";
        case RequestSource::life_span: return "its life span is over";
        case RequestSource::nova_failure:
        case RequestSource::unshelve:
        case RequestSource::operator_:
        case RequestSource::gateway: break;
    }
    return "a regular server needs its room";
}

/// The notice that this reaper gave.
const Notice* notice_of(const ServerId& server, const DaemonView& view) {
    const Notice* const notice = view.notices.find(server);
    return notice != nullptr && notice->told ? notice : nullptr;
}

/// `of_others`: another reaper may have given notice, which the metadata alone say.
json own_server(const Server& server, const Host& host, const DaemonView& view,
                const ServerProtections* protections, bool of_others) {
    json told{{"id", server.id.str()},
              {"name", server.name},
              {"status", server.status},
              {"flavor", server.flavor_name},
              {"launched_at", nullptr},
              {"revocable_because", server.revocable_because->str()},
              {"protected", view.policy.protection.why(server, host.member_of).has_value()},
              {"protected_until", nullptr},
              {"evict_at", nullptr},
              {"evict_because", nullptr}};
    if (server.launched) told["launched_at"] = iso_time(*server.launched);
    if (protections != nullptr)
        if (const auto at = protections->all().find(server.id);
            at != protections->all().end() && at->second.until)
            told["protected_until"] = iso_time(*at->second.until);
    const auto written = server.metadata.find(evict_at_key);
    if (const Notice* const notice = notice_of(server.id, view)) {
        told["evict_at"] = iso_time(notice->until);
        told["evict_because"] = why_it_goes(notice->source);
    } else if (of_others && written != server.metadata.end()) {
        if (const auto end = parse_time(written->second)) told["evict_at"] = iso_time(*end);
    }
    return told;
}

/// Those of the page by id, and one more if there is one; none: the cloud is no longer known. The
/// arguments must outlive it.
Task<std::optional<std::map<std::string, json>>> own_servers_from(const Backend& backend,
                                                                  const ApiRequest& request,
                                                                  const PageAsked& page) {
    std::vector<HostId> hosts;
    if (const auto view = backend.daemon.view())
        for (const Host* const host : view->cache.hosts()) hosts.push_back(host->id);
    std::map<std::string, json> found;
    // Its own it knows at once; the cache may have metadata of a notice that was withdrawn since.
    const bool of_others = !backend.daemon.status().serving;
    const HostVisit add = [&](const Host& host, const DaemonView& view) {
        for (const Server& server : host.servers) {
            const std::string& id = server.id.str();
            if (server.project != request.project || !server.revocable() || id <= page.marker ||
                (found.size() > page.limit && id > found.rbegin()->first))
                continue;
            json told = own_server(server, host, view, backend.daemon.protections(), of_others);
            if (request.access != Access::own) told["host"] = host.service_host;
            found.insert_or_assign(id, std::move(told));
            if (found.size() > page.limit + 1) found.erase(std::prev(found.end()));
        }
    };
    const bool read = co_await visit_hosts(backend, hosts, hosts_looked_at_a_time, add);
    if (!read) co_return std::nullopt;
    co_return found;
}

/// What Nova tells of an instance.
struct Instance {
    ServerId id;
    std::optional<TimePoint> evict_at;  ///< in its metadata
};

Result<Instance> instance_in(const std::string& body) {
    const auto document = parse_body(body);
    if (!document) return document.error();
    try {
        const JsonPlace place{*document, "the body"};
        Instance instance{ServerId{place["instance-id"].text()}, {}};
        if (const auto metadata = place.maybe("metadata"))
            if (const auto end = metadata->maybe(evict_at_key))
                instance.evict_at = parse_time(end->text());
        return instance;
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    }
}

}  // namespace

bool OwnersQuestions::may_ask(const ProjectId& project, Duration now) {
    std::erase_if(paid_until_, [now](const auto& each) { return each.second <= now; });
    Duration& paid_until = paid_until_.try_emplace(project, now).first->second;
    if (paid_until + price > now + credit) return false;
    paid_until += price;
    return true;
}

ResultTask<void> OwnersQuestions::count(JournalReader& journal, TimePoint now, Duration steady) {
    if (counted_at_ && *counted_at_ + counts_hold > steady) co_return Result<void>{};
    if (!counting_.expired() && counted_at_) co_return Result<void>{};
    if (!counting_.expired())
        co_return Error{Errc::storage, "it is being read for another client; try again"};
    const auto counting = std::make_shared<bool>(true);
    counting_ = counting;
    const TimePoint week_ago = now - std::chrono::days{7};
    const TimePoint day_ago = now - std::chrono::days{1};
    auto week = co_await journal.victims_by_flavor(week_ago);
    auto day = co_await journal.victims_by_flavor(day_ago);
    if (!counted_at_ && !week) co_return week.error();
    if (!counted_at_ && !day) co_return day.error();
    counted_at_ = steady;
    if (!week || !day) co_return Result<void>{};  // the last count stays
    by_flavor_.clear();
    for (const auto& [flavor, number] : *week) by_flavor_[flavor].last_7d = number;
    for (const auto& [flavor, number] : *day) by_flavor_[flavor].last_24h = number;
    co_return Result<void>{};
}

OwnersQuestions::Evicted OwnersQuestions::of_flavor(const std::string& flavor) const {
    const auto at = by_flavor_.find(flavor);
    return at == by_flavor_.end() ? Evicted{} : at->second;
}

Task<HttpResponse> get_own_servers(const Backend& backend, ApiRequest request) {
    if (request.project.empty())
        co_return refuse(403, request.path +
                                  " answers a token of Keystone for a project (X-Auth-Token; "
                                  "admin.owners)");
    if (backend.clock == nullptr) co_return refuse(503, "the daemon has not started yet");
    if (!backend.owners->may_ask(request.project, backend.clock->steady())) {
        HttpResponse later = refuse(503, "too many questions of your project: try again");
        later.headers.emplace_back("Retry-After", "1");
        co_return later;
    }
    const Query query{request, {"limit", "marker"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, most_own_servers, most_own_servers);
    if (!page) co_return refuse(400, page.error().what);
    if (!backend.daemon.view()) co_return cloud_not_read();
    const auto counted = co_await backend.owners->count(backend.journal, backend.clock->now(),
                                                        backend.clock->steady());
    // The journal's own reason is for its operator.
    if (!counted) co_return refuse(503, std::string{journal_trouble} + "try again");
    auto found = co_await own_servers_from(backend, request, *page);
    if (!found) co_return cloud_not_read();
    const bool more = found->size() > page->limit;
    if (more) found->erase(std::prev(found->end()));
    json servers = json::array();
    for (auto& [id, told] : *found) {
        const auto evicted = backend.owners->of_flavor(told["flavor"]);
        told["evicted"] = {{"last_24h", evicted.last_24h}, {"last_7d", evicted.last_7d}};
        servers.push_back(std::move(told));
    }
    json links = more ? next_link(request, found->rbegin()->first) : json::array();
    co_return answered({{"servers", std::move(servers)}, {"servers_links", std::move(links)}});
}

Task<HttpResponse> post_vendordata(const Backend& backend, ApiRequest request) {
    const auto instance = instance_in(request.body);
    if (!instance) co_return refuse(400, instance.error().what);
    const auto view = backend.daemon.view();
    if (!view) co_return cloud_not_read();
    json told = json::object();
    const Server* const server = view->cache.find(instance->id);
    if (server != nullptr && server->revocable()) {
        told = {{"revocable", true}, {"notice_s", view->policy.notice.of(*server).count() / 1000}};
        const Notice* const notice = notice_of(instance->id, *view);
        const auto end = notice != nullptr ? notice->until : instance->evict_at;
        if (end) told["evict_at"] = iso_time(*end);
    }
    HttpResponse response;
    response.body = report::dump(told) + "\n";
    co_return response;
}

}  // namespace reaper::api
