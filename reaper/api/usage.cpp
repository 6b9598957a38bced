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
#include "reaper/api/plan.hpp"
#include "reaper/api/server_runs.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/oversubscribed_room.hpp"

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

Result<UsagePeriod> period_of(const Query& query, TimePoint now) {
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
    const UsagePeriod period = usage_period(from, span, to, now);
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

}  // namespace

Task<HttpResponse> get_usage(const Backend& backend, ApiRequest request) {
    const Query query{request, {"since", "until", "project"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.compute == nullptr || backend.identity == nullptr || backend.clock == nullptr)
        co_return refuse(503, "this daemon tells no usage");
    const TimePoint now = backend.clock->now();
    const auto period = period_of(query, now);
    if (!period) co_return refuse(400, period.error().what);
    std::string project = query.text("project");
    if (!project.empty()) {
        auto found = co_await backend.identity->find_project(std::move(project));
        if (!found) co_return not_told("Keystone", found.error());
        if (!found->found)
            co_return refuse(found->several ? 400 : 404, "project: " + found->why_not);
        project = found->found->id.str();
    }
    if (!backend.daemon.view()) co_return cloud_not_read();
    if (*backend.counts_usage)
        co_return refuse(503, "usage is being counted for another client; try again in a moment");
    const Counting counting{backend.counts_usage};
    auto ended = co_await backend.compute->ended_servers(period->from);
    if (!ended) co_return not_told("Nova", ended.error());
    auto reclaimed = co_await reclaimed_runs(backend.journal, period->from, now);
    if (!reclaimed) co_return not_readable(reclaimed.error());
    // The first word on a server counts: the cloud's, then Nova's, then the journal's.
    UsageSum sum{period->from, period->to};
    const ProjectId only{project};
    const auto add_all = [&](std::vector<ServerRun> runs) {
        for (ServerRun& run : runs)
            if (only.empty() || run.project == only) sum.add(std::move(run));
    };
    report::UsageReport counted{period->from, period->to, {}, {}};
    const EstimatedRoom estimated = estimated_room(backend);
    std::vector<HostId> hosts;
    if (const auto view = backend.daemon.view())
        for (const Host* const host : view->cache.hosts()) hosts.push_back(host->id);
    const HostVisit visit = [&](const Host& host, const DaemonView& view) {
        std::vector<ServerRun> runs;
        add_running(host, runs);
        add_all(std::move(runs));
        add(counted.oversubscribed,
            oversubscribed_room(host, view.policy.revocable_classes, estimated));
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
        add_all(std::move(runs));
    }
    add_all(std::move(*reclaimed));
    while (sum.sum(servers_counted_at_a_time))
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    counted.lines = sum.lines();
    if (const auto view = backend.daemon.view())
        add_names(view->cache.project_names(), counted.lines);
    co_return answered(report::to_json(counted));
}

}  // namespace reaper::api
