#include "reaper/report/usage.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/backend.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/api/server_runs.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/risk.hpp"

namespace reaper::api {
namespace {

/// All that ended since then is held in memory at once.
constexpr Duration longest_past = std::chrono::days{93};
// What is looked at before others run again: a few milliseconds.
constexpr std::size_t hosts_counted_at_a_time = 50;
constexpr std::size_t servers_counted_at_a_time = 1000;

/// True as long as it lives.
class Counting {
public:
    explicit Counting(std::shared_ptr<bool> now) : now_(std::move(now)) { *now_ = true; }
    ~Counting() { *now_ = false; }
    Counting& operator=(Counting&&) = delete;

private:
    std::shared_ptr<bool> now_;
};

Error bad_time(const char* name, const std::string& found, const char* expected) {
    return Error{Errc::bad_input,
                 std::string{name} + ": expected " + expected + ", found " + in_quotes(found)};
}

/// `usual`: before now, where no beginning is asked for; none: the month of its end.
Result<UsagePeriod> period_of(const Query& query, TimePoint now,
                              std::optional<Duration> usual = std::nullopt) {
    std::optional<TimePoint> from, to;
    const std::string& since = query.text("since");
    const auto span = parse_duration(since);
    if (!since.empty() && !span) {
        from = parse_time_or_date(since);
        if (!from)
            return bad_time("since", since,
                            "a time or a duration, such as 2024-05-01T12:00:00Z or 2h");
    }
    if (const std::string& until = query.text("until"); !until.empty()) {
        to = parse_time_or_date(until);
        if (!to) return bad_time("until", until, "a time such as 2024-05-01T12:00:00Z");
    }
    const UsagePeriod period = usage_period(from, span ? span : usual, to, now);
    if (period.from >= period.to)
        return Error{Errc::bad_input,
                     "since: must be before until, and before now; a duration counts from now"};
    if (now - period.from > longest_past)
        return Error{Errc::bad_input,
                     "since: more than 93 days back is too much for the daemon beside its work; "
                     "`reaper usage` where the journal is counts it"};
    return period;
}

/// What this daemon's estimator allows; nothing if nothing is oversubscribed.
EstimatedRoom estimated_room(const Backend& backend) {
    EstimatedRoom room;
    const RoomPublisher* const publisher = backend.daemon.room_publisher();
    const auto room_class = publisher == nullptr ? std::nullopt : publisher->room_class();
    if (!room_class) return room;
    room.of = *room_class;
    for (const OversubscribedHost& each : publisher->hosts())
        if (each.wanted) room.wanted.emplace(each.host, *each.wanted);
    return room;
}

HttpResponse not_told(const char* by, const Error& error) {
    return refuse(503, std::string{by} + " can't be asked: " + error.what);
}

/// Why usage can't be counted now; nothing: it can.
std::optional<HttpResponse> why_not_counted(const Backend& backend) {
    if (!backend.daemon.view()) return cloud_not_read();
    if (*backend.counts_usage)
        return refuse(503, "usage is being counted for another client; try again in a moment");
    return std::nullopt;
}

Task<void> add_in_steps(UsageSum& sum, std::vector<ServerRun> runs) {
    const auto executor = co_await boost::asio::this_coro::executor;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        sum.add(std::move(runs[i]));
        if (i % servers_counted_at_a_time == 0)
            co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
}

/// Who ran when: the first word on a server counts, the cloud's, then Nova's, then the journal's.
/// Returns what went wrong; nothing: it is all in `sum`, with `remarks`. `also` sees each host.
Task<std::optional<HttpResponse>> add_runs(const Backend& backend, TimePoint since, UsageSum& sum,
                                           std::vector<std::string>& remarks, const ProjectId& only,
                                           const HostVisit& also) {
    auto ended = co_await backend.compute->ended_servers(since);
    if (!ended) co_return not_told("Nova", ended.error());
    auto reclaimed = co_await reclaimed_runs(backend.journal, *ended, since, backend.clock->now());
    if (!reclaimed) co_return not_readable(reclaimed.error());
    std::vector<ServerRun> all;
    const auto add_some = [&](std::vector<ServerRun>& runs) {
        for (ServerRun& run : runs)
            if (only.empty() || run.project == only) all.push_back(std::move(run));
    };
    std::vector<HostId> hosts;
    if (const auto view = backend.daemon.view())
        for (const Host* const host : view->cache.hosts()) hosts.push_back(host->id);
    const HostVisit visit = [&](const Host& host, const DaemonView& view) {
        std::vector<ServerRun> runs;
        add_running(host, runs);
        add_some(runs);
        also(host, view);
    };
    const bool read = co_await visit_hosts(backend, hosts, hosts_counted_at_a_time, visit);
    if (!read) co_return cloud_not_read();
    const auto executor = co_await boost::asio::this_coro::executor;
    for (std::size_t begin = 0; begin < ended->size(); begin += servers_counted_at_a_time) {
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
        const auto view = backend.daemon.view();
        if (!view) co_return cloud_not_read();
        const auto first = ended->begin() + static_cast<std::ptrdiff_t>(begin);
        const std::size_t count = std::min(servers_counted_at_a_time, ended->size() - begin);
        const std::vector<ServerRecord> some(first, first + static_cast<std::ptrdiff_t>(count));
        std::vector<ServerRun> runs;
        add_ended(some, view->policy.taggers, view->cache.tag_data(), runs);
        add_some(runs);
    }
    remarks = co_await split_runs(*backend.compute, *reclaimed, since, all);
    add_some(*reclaimed);
    co_await add_in_steps(sum, std::move(all));
    co_return std::nullopt;
}

}  // namespace

Task<HttpResponse> get_usage(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since", "until", "project"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.compute == nullptr || backend.identity == nullptr || backend.clock == nullptr)
        co_return refuse(503, "this daemon tells no usage");
    const auto period = period_of(query, backend.clock->now());
    if (!period) co_return refuse(400, period.error().what);
    std::string project = query.text("project");
    if (!project.empty()) {
        auto found = co_await backend.identity->find_project(std::move(project));
        if (!found) co_return not_told("Keystone", found.error());
        if (!found->found)
            co_return refuse(found->several ? 400 : 404, "project: " + found->why_not);
        project = found->found->id.str();
    }
    if (auto why_not = why_not_counted(backend)) co_return std::move(*why_not);
    const Counting counting{backend.counts_usage};
    UsageSum sum{period->from, period->to};
    report::UsageReport counted{period->from, period->to, {}, {}, {}};
    const EstimatedRoom estimated = estimated_room(backend);
    const HostVisit add_room = [&](const Host& host, const DaemonView& view) {
        add(counted.oversubscribed,
            oversubscribed_room(host, view.policy.revocable_classes, estimated));
    };
    const ProjectId only{project};
    auto wrong = co_await add_runs(backend, period->from, sum, counted.remarks, only, add_room);
    if (wrong) co_return std::move(*wrong);
    const auto executor = co_await boost::asio::this_coro::executor;
    while (sum.sum(servers_counted_at_a_time))
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    counted.lines = sum.lines();
    if (const auto view = backend.daemon.view())
        add_names(view->cache.project_names(), counted.lines);
    co_return answered(report::to_json(counted));
}

Task<HttpResponse> get_risk(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since", "until", "flavor", "zone", "aggregate"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.compute == nullptr || backend.clock == nullptr)
        co_return refuse(503, "this daemon tells no usage");
    const auto period = period_of(query, backend.clock->now(), report::usual_risk_span);
    if (!period) co_return refuse(400, period.error().what);
    if (auto why_not = why_not_counted(backend)) co_return std::move(*why_not);
    const Counting counting{backend.counts_usage};
    UsageSum sum{period->from, period->to};
    report::HostPlaces places;
    const HostVisit add_place = [&](const Host& host, const DaemonView&) {
        places[host.service_host] = {host.availability_zone, host.aggregates};
    };
    const ProjectId any;
    std::vector<std::string> remarks;
    auto wrong = co_await add_runs(backend, period->from, sum, remarks, any, add_place);
    if (wrong) co_return std::move(*wrong);
    const report::RiskOf only{query.text("flavor"), query.text("zone"), query.text("aggregate")};
    report::RiskSum risk{period->from, period->to, only, std::move(places)};
    const auto executor = co_await boost::asio::this_coro::executor;
    for (std::size_t i = 0; i < sum.runs().size(); ++i) {
        risk.add(sum.runs()[i]);
        if (i % servers_counted_at_a_time == 0)
            co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    report::RiskReport counted = risk.report();
    counted.remarks = std::move(remarks);
    co_return answered(report::to_json(counted));
}

}  // namespace reaper::api
