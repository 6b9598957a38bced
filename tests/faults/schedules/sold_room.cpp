#include "faults/schedules/sold_room.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reaper::faults {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration between_measurements = seconds{5};
constexpr Duration answers_take = milliseconds{5};
constexpr Duration hangs_for = seconds{45};
/// As Prometheus: an older value is none.
constexpr Duration lookback = std::chrono::minutes{5};
constexpr double rounding = 1e-9;
/// So that there is something to sell.
constexpr double lightly = 0.75;

const ResourceClass vcpu{"VCPU"};

}  // namespace

SoldRoom::SoldRoom(const SchedulePlan& plan, Timeline& timeline, cloudsim::Site& site,
                   const Truth& truth, FaultCounts& counts)
    : plan_(plan), timeline_(timeline), site_(site), truth_(truth), counts_(counts) {}

// ---- what is measured ----

void SoldRoom::begin() {
    began_ = timeline_.true_now();
    std::uint64_t number = 0;
    for (const auto& host : site_.world().nova.hosts)
        hosts_.emplace(host->name,
                       Measured{LoadHistory{plan_.seed + ++number, plan_.storm}, {}, {}});
    measure();
}

void SoldRoom::begin(const Item& item) {
    ++counts_[static_cast<std::size_t>(item.kind)];
    faults_.emplace_back(static_cast<Fault>(item.amount), timeline_.true_now() + item.length);
}

bool SoldRoom::has(Fault fault) const {
    return std::any_of(faults_.begin(), faults_.end(), [&](const auto& each) {
        return each.first == fault && timeline_.true_now() < each.second;
    });
}

SoldRoom::Point SoldRoom::measured(Measured& host, const HostState* state, TimePoint now) const {
    Point point;
    point.at = now;
    if (state != nullptr)
        for (const Holder& holder : state->holders) {
            point.allocated += holder.held.get(vcpu);
            point.held += holder.held.get(sold_class);
        }
    const double busy = lightly * host.history.used_part(now - began_);
    const double revocable = host.history.revocable_part() * static_cast<double>(point.held);
    point.regular = busy * static_cast<double>(point.allocated);
    const double wanted = point.regular + revocable;
    point.whole = std::min(wanted, size());
    host.load.pass(between_measurements, wanted);
    point.load5 = host.load.of_5_minutes();
    point.load15 = host.load.of_15_minutes();
    point.pressure = wanted > size() ? 1 - size() / wanted : 0;
    if (!plan_.sold->per_server || state == nullptr) return point;
    const double gets = wanted > size() ? size() / wanted : 1;
    for (const Holder& holder : state->holders) {
        const double wants =
            busy * static_cast<double>(holder.held.get(vcpu)) +
            host.history.revocable_part() * static_cast<double>(holder.held.get(sold_class));
        point.servers.emplace_back(holder.consumer, wants * gets);
    }
    return point;
}

void SoldRoom::measure() {
    const TimePoint now = timeline_.true_now();
    for (auto& [name, host] : hosts_) {
        Point point = measured(host, truth_.state_at(name, now), now);
        if (!has(Fault::stale)) host.points.push_back(std::move(point));
    }
    timeline_.after(between_measurements, [this] { measure(); });
}

const SoldRoom::Point* SoldRoom::last(const Measured& host, TimePoint at) const {
    const auto later = std::upper_bound(host.points.begin(), host.points.end(), at,
                                        [](TimePoint t, const Point& p) { return t < p.at; });
    if (later == host.points.begin()) return nullptr;
    const Point& point = *std::prev(later);
    return at - point.at < lookback ? &point : nullptr;
}

std::optional<double> SoldRoom::value(const Point& point, const std::string& expression) const {
    if (expression == SoldQueries::use) return point.whole;
    if (expression == SoldQueries::cores) return size();
    if (expression == SoldQueries::load5) return point.load5;
    if (expression == SoldQueries::load15) return point.load15;
    if (expression == SoldQueries::pressure) return point.pressure;
    return std::nullopt;
}

bool SoldRoom::of_servers(const std::string& expression) const {
    return plan_.sold->per_server && expression == SoldQueries::use;
}

std::vector<Sample> SoldRoom::samples(const std::string& expression, TimePoint at) const {
    std::vector<Sample> all;
    const Duration ahead = has(Fault::other_clock) ? std::chrono::hours{1} : Duration{0};
    for (const auto& [name, host] : hosts_) {
        const Point* const point = last(host, at);
        if (point == nullptr) continue;
        const std::string instance = name + ":9100";
        const auto tell = [&](std::map<std::string, std::string> labels, double told) {
            if (has(Fault::no_number)) told = std::numeric_limits<double>::quiet_NaN();
            labels["instance"] = instance;
            all.push_back(Sample{std::move(labels), told, at + ahead});
        };
        if (of_servers(expression)) {
            for (const auto& [server, used] : point->servers)
                tell({{SoldQueries::server, server.text()}}, used);
            continue;
        }
        const double age = std::chrono::duration<double>(at - point->at).count();
        tell({}, expression == SoldQueries::age ? age : value(*point, expression).value_or(0));
    }
    return all;
}

ResultTask<std::vector<Sample>> SoldRoom::query(std::string expression) {
    co_await timeline_.sleep(answers_take);
    if (has(Fault::hangs)) {
        co_await timeline_.sleep(hangs_for);
        co_return Error{Errc::timeout, "prometheus: no answer in time"};
    }
    if (has(Fault::away)) co_return Error{Errc::unreachable, "prometheus: connection refused"};
    auto found = samples(expression, timeline_.true_now());
    co_await timeline_.sleep(answers_take);
    if (expression == SoldQueries::use && !has(Fault::no_number) && !has(Fault::other_clock))
        told_.push_back(timeline_.true_now());
    co_return found;
}

ResultTask<std::vector<SampleSeries>> SoldRoom::query_range(std::string expression, TimePoint from,
                                                            TimePoint to, Duration step) {
    co_await timeline_.sleep(answers_take);
    if (has(Fault::away) || has(Fault::hangs))
        co_return Error{Errc::unreachable, "prometheus: connection refused"};
    std::vector<SampleSeries> all;
    for (const auto& [name, host] : hosts_) {
        std::map<std::string, SampleSeries> series;  // by server
        for (TimePoint at = from; at <= to; at += step) {
            const Point* const point = last(host, at);
            if (point == nullptr) continue;
            if (of_servers(expression))
                for (const auto& [server, used] : point->servers)
                    series[server.text()].points.emplace_back(at, used);
            else if (const auto told = value(*point, expression))
                series[""].points.emplace_back(at, *told);
        }
        for (auto& [server, one] : series) {
            one.labels["instance"] = name + ":9100";
            if (!server.empty()) one.labels[SoldQueries::server] = server;
            all.push_back(std::move(one));
        }
    }
    co_return all;
}

// ---- what is right ----

/// While so many cores are in use; of those that are allocated, or of all.
Amount SoldRoom::room(double in_use, std::optional<Amount> allocated) const {
    const SoldPlan& sold = *plan_.sold;
    if (sold.fixed) return std::min<Amount>(*sold.fixed, plan_.cloud.host.vcpus);
    double least = size() - size() * sold.margin - in_use;
    if (allocated) least = std::min(least, static_cast<double>(*allocated) - in_use);
    return least <= 0 ? 0 : static_cast<Amount>(std::floor(least + rounding));
}

Amount SoldRoom::most_allowed(const std::string& host, TimePoint from, TimePoint to) const {
    Amount allocated = 0;
    for (const HostState* const state : truth_.states(host, from, to)) {
        Amount here = 0;
        for (const Holder& holder : state->holders) here += holder.held.get(vcpu);
        allocated = std::max(allocated, here);
    }
    const auto held = static_cast<double>(most_held(host, from, to));
    Amount most = 0;
    for (const Point& point : hosts_.at(host).points)
        if (point.at >= from && point.at <= to)
            most = std::max(most, room(std::max(point.whole - held, 0.0), allocated));
    return most;
}

Amount SoldRoom::most_excess(const std::string& host, TimePoint from, TimePoint to) const {
    const Duration back = plan_.sold->fixed ? Duration{0} : plan_.sold->peak;
    double peak = 0;
    for (const Point& point : hosts_.at(host).points)
        if (point.at >= from - back && point.at <= to) peak = std::max(peak, point.whole);
    return std::max<Amount>(most_held(host, from, to) - room(peak, std::nullopt), 0);
}

double SoldRoom::over(const Point& point) const {
    const SoldPlan& sold = *plan_.sold;
    const double each = sold.per_core ? size() : 1;
    double most = -1;
    if (sold.load5 > 0) most = std::max(most, point.load5 - sold.load5 * each);
    if (sold.load15 > 0) most = std::max(most, point.load15 - sold.load15 * each);
    if (sold.pressure > 0) most = std::max(most, (point.pressure - sold.pressure) * size());
    return most;
}

double SoldRoom::most_over(const std::string& host, TimePoint from, TimePoint to) const {
    double most = -1;
    for (const Point& point : hosts_.at(host).points)
        if (point.at >= from && point.at <= to) most = std::max(most, over(point));
    return most;
}

Amount SoldRoom::most_held(const std::string& host, TimePoint from, TimePoint to) const {
    Amount most = 0;
    for (const HostState* const state : truth_.states(host, from, to)) {
        Amount held = 0;
        for (const Holder& holder : state->holders) held += holder.held.get(sold_class);
        most = std::max(most, held);
    }
    return most;
}

Amount SoldRoom::published(const std::string& host) const {
    const auto& world = site_.world();
    const auto name = world.names.find(sold_class.str());
    const auto* const found = world.nova.find_host(host);
    if (!name || found == nullptr) return 0;
    for (const auto* const child : found->provider->children)
        if (const auto* const room = child->room(*name))
            return room->inventory.min_unit > 1 ? 0 : room->inventory.total;
    return 0;
}

bool SoldRoom::told(TimePoint from, TimePoint to) const {
    return std::any_of(told_.begin(), told_.end(),
                       [&](TimePoint at) { return at >= from && at <= to; });
}

}  // namespace reaper::faults
