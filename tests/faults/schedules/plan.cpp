#include "faults/schedules/plan.hpp"

#include <algorithm>

#include "faults/schedules/chance.hpp"
#include "faults/schedules/clouds.hpp"

namespace reaper::faults {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr std::array<std::string_view, kinds> fault_names{
    "boot",
    "boot-many",
    "boot-revocable",
    "boot-preemptible",
    "boot-by-spot-project",
    "boot-in-group",
    "boot-with-hint",
    "boot-on-sold-room",
    "resize",
    "lock",
    "user-delete",
    "migrate",
    "retag-project",
    "power-off",
    "regular-takes-room",
    "revocable-takes-room",
    "requester-deleted",
    "orphan-allocation",
    "allocation-missing",
    "compute-down",
    "host-disabled",
    "deletion-lost",
    "deletion-held",
    "latency",
    "500",
    "502",
    "503",
    "504",
    "429-retry-after",
    "reset-before",
    "reset-after",
    "cut-body",
    "short-json",
    "garbage-body",
    "wrong-type",
    "missing-field",
    "half-list",
    "token-revoked",
    "403",
    "409",
    "message-duplicate",
    "message-delayed",
    "message-late-repeat",
    "connection-lost",
    "message-garbage",
    "message-old",
    "info-lost",
    "info-late",
    "flow-stops",
    "crash",
    "disk-full",
    "clock-step",
    "paused",
    "protect",
    "operator-resumes",
    "forged-message",
    "reload",
    "takeover",
    "class-lost",
    "evacuation",
    "unshelving",
    "client-leaves",
    "other-gateway",
    "reservation-changed",
    "reservation-touched",
    "metrics-fault",
    "lease-lost",
    "slow-nova",
    "tenant-loops",
};

constexpr const char* services[] = {"", "compute", "placement", "identity"};

class Drawer {
public:
    explicit Drawer(std::uint64_t seed) : rng_(seed) { plan_.seed = seed; }

    SchedulePlan draw() {
        draw_cloud();
        draw_settings();
        draw_demands();
        draw_faults();
        draw_safeguards();
        draw_forgeries();
        draw_reloads();
        draw_takeovers();
        draw_constraints(plan_);
        draw_tagging(plan_);
        draw_fair_order(plan_);
        std::stable_sort(plan_.items.begin(), plan_.items.end(),
                         [](const Item& a, const Item& b) { return a.at < b.at; });
        return std::move(plan_);
    }

private:
    void draw_cloud() {
        auto& cloud = plan_.cloud;
        cloud.seed = rng_.next();
        cloud.hosts = rng_.between(1, 5);
        cloud.host.vcpus = 8;
        cloud.host.memory_mb = 32'768;
        cloud.host.disk_gb = 400;
        cloud.fill = rng_.pick({0.6, 0.9, 1.0, 1.0, 1.0});
        cloud.flavors = flavors(rng_.between(0, 2));
        cloud.revocable = rng_.pick({0.2, 0.5, 0.5, 0.7, 0.9, 1.0});
        cloud.page_limit = rng_.pick({1000, 1000, 7, 3});
        cloud.delays.schedule = milliseconds{rng_.between(10, 300)};
        cloud.delays.build = milliseconds{rng_.between(50, 3000)};
        cloud.delays.erase = milliseconds{rng_.pick({100, 300, 1500, 6000})};
        cloud.delays.forget = cloud.delays.erase / 10;
        cloud.delays.resize = milliseconds{rng_.between(100, 3000)};
        cloud.token_life = rng_.percent(15) ? seconds{60} : seconds{86'400};
        cloud.respawn = rng_.percent(10);
        cloud.projects["spot2"] = {"preemptible"};
        cloud.projects["regular2"] = {};
        cloud.log_limit = 1'000;
        // Nova's default is false. Of its own, so that the rest stays the same.
        cloud.state_changes = Chance{plan_.seed ^ 0x5a7ec4U}.percent(50);
        if (cloud.hosts >= 2 && rng_.percent(25)) cloud.zones["east"] = {"host-1", "host-2"};
        plan_.soft_delete = rng_.percent(10);
        cloud.soft_region_reclaim = seconds{rng_.between(10, 600)};
        fill_defaults(cloud);
    }

    /// Of different sizes: so that some clouds hold many small servers.
    static std::map<std::string, cloudsim::FlavorEntry> flavors(int shape) {
        std::map<std::string, cloudsim::FlavorEntry> made{{"tiny", {1, 2'048, 10, 0, 0, {}}},
                                                          {"small", {2, 4'096, 20, 0, 0, {}}}};
        if (shape >= 1) made["medium"] = {4, 8'192, 40, 0, 0, {}};
        if (shape >= 2) made["large"] = {8, 16'384, 80, 0, 0, {}};
        // Little memory, much disk.
        made["odd"] = {1, 512, 70, 0, 0, {}};
        return made;
    }

    void draw_settings() {
        config::Plugin project;
        project.name = "project";
        plan_.policy.taggers.push_back(project);
        plan_.policy.strategy.name = rng_.pick({"strict", "cost", "cost", "chance", "strict_time"});
        plan_.policy.alternatives = rng_.percent(20) ? 2 : 1;
        plan_.cull.max_parallel_deletions = rng_.between(1, 4);
        plan_.cull.max_rounds = rng_.between(2, 4);
        plan_.cull.deadline = seconds{rng_.pick({15, 40, 120})};
        plan_.cull.promise = seconds{rng_.pick({10, 30, 60})};
        plan_.cull.watch = seconds{rng_.pick({10, 60})};
        plan_.trigger.max_age = seconds{rng_.pick({60, 180, 600})};
        plan_.cache.events = !rng_.percent(25);
        plan_.cache.hosts_per_second = 2;
        plan_.cache.services_interval = seconds{30};
        plan_.http.call_timeout = seconds{rng_.pick({5, 30})};
        plan_.http.max_retries = rng_.between(0, 4);
        plan_.dry_run = rng_.percent(4);
        plan_.storm = calm_start + seconds{rng_.between(60, 240)};
    }

    Item item(Kind kind) { return item(kind, rng_); }
    Item item(Kind kind, Chance& rng) const { return item_of(plan_, kind, rng); }

    /// With rng of their own: the rest of a schedule is the same with safeguards and without.
    void draw_safeguards() {
        Chance rng{plan_.seed ^ 0xb4a3e5U};
        if (rng.percent(40)) return;
        auto& [protect, limits, thrash, breaker, project_breaker, shape_cooldown, short_lived,
               host_cooldown] = plan_.policy.safeguards;
        if (rng.percent(25)) limits.victims_per_request = rng.between(1, 3);
        if (rng.percent(20)) limits.victims_per_project = rng.between(1, 4);
        if (rng.percent(20)) limits.victims_per_window = rng.between(1, 5);
        limits.window = seconds{rng.pick({30, 90, 300})};
        if (rng.percent(30)) protect.min_run_time = seconds{rng.pick({20, 60, 150})};
        if (rng.percent(15)) plan_.protected_project = rng.pick({"spot", "spot2", "spot2"});
        const int protections = rng.pick({0, 1, 3, 6});
        for (int i = 0; i < protections; ++i) plan_.items.push_back(item(Kind::protect, rng));
        protect.owners = rng.percent(30);
        if (!rng.percent(40)) return;
        breaker.wasted = rng.between(1, 3);
        breaker.failed = rng.between(1, 3);
        breaker.projects = rng.between(1, 2);
        breaker.retry = retry(rng);
        project_breaker.wasted = rng.between(0, 3);
        project_breaker.unproven = rng.pick({0, 1, 2, 20});
        project_breaker.retry = retry(rng);
        shape_cooldown.wasted = rng.between(0, 2);
        shape_cooldown.retry = retry(rng);
        short_lived.lived = seconds{rng.pick({20, 120, 600})};
        short_lived.allowance = rng.pick({0, 1, 3, 10});
        short_lived.retry = retry(rng);
        if (rng.percent(50)) plan_.items.push_back(item(Kind::resumed, rng));
    }

    static RetrySettings retry(Chance& rng) {
        return {seconds{rng.pick({5, 20, 60, 1800})}, seconds{rng.pick({1800, 3600})}};
    }

    /// Another client writes to Nova's exchange.
    void draw_forgeries() {
        Chance rng{plan_.seed ^ 0xf0a6e5U};
        if (!rng.percent(25)) return;
        Item forged = item(Kind::forged_message, rng);
        forged.at = {};
        forged.length = plan_.storm;
        forged.percent = rng.pick({30, 100});
        plan_.items.push_back(forged);
    }

    /// The operator changes the safeguards, and tells the daemon.
    void draw_reloads() {
        Chance rng{plan_.seed ^ 0x4e10adU};
        if (rng.percent(70)) return;
        const int reloads = rng.between(1, 3);
        for (int i = 0; i < reloads; ++i) {
            Item reload = item(Kind::reload, rng);
            reload.in_mid_cull = rng.percent(70);
            plan_.items.push_back(reload);
        }
    }

    /// The reaper's machine is gone, and another one's takes over, with a journal of its own.
    void draw_takeovers() {
        Chance rng{plan_.seed ^ 0x7a4e0e4U};
        if (rng.percent(75)) return;
        plan_.soft_delete = plan_.soft_delete || rng.percent(60);
        const int takeovers = rng.between(1, 3);
        for (int i = 0; i < takeovers; ++i) {
            Item takeover = item(Kind::takeover, rng);
            takeover.in_mid_cull = rng.percent(75);
            takeover.amount = rng.pick({rng.between(0, 10), rng.between(0, 60)});  // handlers
            takeover.length = milliseconds{rng.pick({10, 1000, 15'000})};
            plan_.items.push_back(takeover);
        }
    }

    void draw_demands() {
        const int demands = rng_.between(2, 8);
        // Some come together, so that they want the same room.
        const Duration together = item(Kind::boot).at;
        for (int i = 0; i < demands; ++i) {
            Item demand = item(rng_.pick({Kind::boot, Kind::boot, Kind::boot, Kind::boot_many,
                                          Kind::boot_many, Kind::boot_revocable, Kind::resize}));
            if (rng_.percent(50)) demand.at = together + milliseconds{rng_.between(0, 2000)};
            if (demand.kind == Kind::boot_many) demand.amount = rng_.between(2, 4);
            plan_.items.push_back(demand);
        }
    }

    void draw_faults() {
        // A part of the schedules has no more than latency and duplicates; the others are bad.
        const int faults = rng_.pick({0, 2, 4, 8, 12, 18});
        for (int i = 0; i < faults; ++i) {
            const auto first = static_cast<int>(Kind::lock);
            const auto last = static_cast<int>(Kind::paused);
            Item fault = item(static_cast<Kind>(rng_.between(first, last)));
            shape(fault);
            plan_.items.push_back(fault);
        }
    }

    /// How long, how often, how much.
    void shape(Item& fault) {
        if (near_a_demand(fault.kind) && rng_.percent(70)) aim(fault);
        if (is_network(fault.kind)) {
            fault.length = seconds{rng_.pick({1, 3, 10, 40})};
            fault.percent = rng_.pick({10, 30, 60, 100});
            fault.service = rng_.pick({services[0], services[1], services[2], services[3]});
            fault.writes_only = rng_.percent(35);
            if (fault.writes_only) fault.service = "compute";
        }
        switch (fault.kind) {
            case Kind::duplicate:
            case Kind::delayed:
            case Kind::late_repeat:
                fault.length = plan_.storm;
                fault.at = {};
                fault.percent = rng_.pick({30, 100});
                break;
            case Kind::info_lost:
            case Kind::info_late:
            case Kind::flow_stops:
            case Kind::disk_full: fault.length = seconds{rng_.pick({2, 10, 40})}; break;
            case Kind::compute_down:
            case Kind::host_disabled:
            case Kind::deletion_held: fault.length = seconds{rng_.between(5, 60)}; break;
            case Kind::paused: fault.length = seconds{rng_.pick({1, 5, 60})}; break;
            case Kind::deletion_lost: fault.amount = rng_.between(1, 3); break;
            case Kind::crash:
                fault.amount = rng_.between(0, 400);  // handlers
                fault.length = milliseconds{rng_.pick({10, 1000, 20'000})};
                break;
            case Kind::clock_step:
                fault.length = seconds{rng_.pick({-3600, -120, -5, 5, 120, 3600})};
                break;
            default: break;
        }
    }

    static bool near_a_demand(Kind kind) { return kind >= Kind::lock && kind != Kind::late_repeat; }

    /// Into the seconds after a demand, where the reaper works.
    void aim(Item& fault) {
        const auto demands = std::count_if(plan_.items.begin(), plan_.items.end(),
                                           [](const Item& other) { return is_demand(other.kind); });
        auto which = rng_.below(static_cast<std::uint64_t>(demands));
        for (const Item& demand : plan_.items)
            if (is_demand(demand.kind) && which-- == 0)
                fault.at =
                    demand.at + milliseconds{rng_.pick({rng_.between(0, 300), rng_.between(0, 2000),
                                                        rng_.between(0, 15'000)})};
    }

    Chance rng_;
    SchedulePlan plan_;
};

std::string seconds_text(Duration time) {
    std::string text = std::to_string(time.count());
    const bool negative = text.front() == '-';
    if (negative) text.erase(0, 1);
    while (text.size() < 4) text.insert(0, 1, '0');
    text.insert(text.size() - 3, 1, '.');
    return (negative ? "-" : "") + text + " s";
}

}  // namespace

std::string_view name_of(Kind kind) {
    return fault_names[static_cast<std::size_t>(kind)];
}
bool is_demand(Kind kind) {
    return kind <= Kind::resize;
}
bool is_network(Kind kind) {
    return kind >= Kind::latency && kind <= Kind::conflict_409;
}

bool SchedulePlan::has(Kind kind) const {
    return std::any_of(items.begin(), items.end(),
                       [&](const Item& item) { return item.kind == kind; });
}

bool SchedulePlan::lies() const {
    return has(Kind::half_list) || has(Kind::missing_field);
}

SchedulePlan make_plan_of(std::uint64_t seed) {
    return Drawer(seed).draw();
}

Reloaded configured_by(const SchedulePlan& plan) {
    return {plan.policy.safeguards, plan.protected_project, plan.reservations};
}

Reloaded reloaded_by(const SchedulePlan& plan, const Item& item, const Reloaded& now) {
    Chance rng{item.seed};
    if (item.kind == Kind::reservation_changed) {
        Reloaded changed = now;
        change_reservations(changed.reservations, plan, rng);
        return changed;
    }
    Reloaded changed = configured_by(plan);
    changed.reservations = now.reservations;
    auto& protect = changed.safeguards.protect;
    auto& limits = changed.safeguards.limits;
    switch (rng.between(0, 5)) {
        case 0: break;  // something that does not concern who dies
        case 1: protect.min_run_time = seconds{rng.pick({0, 60, 600})}; break;
        case 2: limits.victims_per_request = rng.between(0, 2); break;
        case 3: limits.victims_per_window = rng.between(0, 3); break;
        default: changed.protected_project = rng.pick({"spot", "spot2", ""}); break;
    }
    return changed;
}

std::string describe(const Item& item) {
    std::string text = "at " + seconds_text(item.at) + ' ' + std::string{name_of(item.kind)};
    if (item.length != Duration::zero()) text += " for " + seconds_text(item.length);
    if (item.percent != 100) text += ", " + std::to_string(item.percent) + " %";
    if (!item.service.empty()) text += " of " + item.service;
    if (item.writes_only) text += ", writes only";
    if (item.in_mid_cull) text += ", when a deletion is accepted";
    if (!item.at_write.empty()) text += ", when `" + item.at_write + "` is about to be written";
    if (item.orderly) text += ", in good order";
    if (item.in_mid_claim) text += ", when a claim is asked for";
    if (item.amount != 1) text += ", " + std::to_string(item.amount);
    return text;
}

namespace {

std::string describe_safeguards(const SchedulePlan& plan) {
    const SafeguardSettings& safeguards = plan.policy.safeguards;
    std::string text;
    const auto limit = [&](const char* what, int most) {
        if (most > 0) text += ", at most " + std::to_string(most) + " victims " + what;
    };
    limit("of a request", safeguards.limits.victims_per_request);
    limit("of a project", safeguards.limits.victims_per_project);
    limit("in all", safeguards.limits.victims_per_window);
    if (safeguards.limits.victims_per_project > 0 || safeguards.limits.victims_per_window > 0)
        text += " in " + seconds_text(safeguards.limits.window);
    if (safeguards.protect.min_run_time > Duration::zero())
        text += ", min run time " + seconds_text(safeguards.protect.min_run_time);
    if (!plan.protected_project.empty()) text += ", project " + plan.protected_project + " is safe";
    const BreakerSettings usual;
    if (!(safeguards.breaker == usual))
        text += ", breaker " + std::to_string(safeguards.breaker.wasted) + " wasted or " +
                std::to_string(safeguards.breaker.failed) + " failed" + ", of " +
                std::to_string(safeguards.breaker.projects) + " projects, again after " +
                seconds_text(safeguards.breaker.retry.retry_after);
    const auto left_alone = [&](const char* what, int wasted, const RetrySettings& settings) {
        text += std::string{", "} + what + " after " + std::to_string(wasted) + " wasted for " +
                seconds_text(settings.retry_after);
    };
    left_alone("projects are left alone", safeguards.project_breaker.wasted,
               safeguards.project_breaker.retry);
    left_alone("shapes", safeguards.shape_cooldown.wasted, safeguards.shape_cooldown.retry);
    return text;
}

}  // namespace

std::string describe(const SchedulePlan& plan) {
    std::string text =
        "seed " + std::to_string(plan.seed) + ": " + std::to_string(plan.cloud.hosts) +
        " hosts, strategy " + plan.policy.strategy.name + describe_objective(plan) +
        ", alternatives " + std::to_string(plan.policy.alternatives) +
        (plan.cache.events ? ", events" : ", no events") +
        (plan.cloud.state_changes ? "" : ", no updates") + (plan.dry_run ? ", dry run" : "") +
        (plan.soft_delete ? ", soft delete" : "") +
        (plan.with_notice() ? ", notice " + seconds_text(plan.policy.notice.period) + ", stop " +
                                  seconds_text(plan.policy.notice.stop_before)
                            : "") +
        (plan.shares_journal() ? ", reapers " + std::to_string(plan.reapers) : "") + ", deadline " +
        seconds_text(plan.cull.deadline) + ", promise " + seconds_text(plan.cull.promise) +
        ", max age " + seconds_text(plan.trigger.max_age) + ", " +
        std::to_string(plan.cull.max_parallel_deletions) + " deletions at a time, " +
        std::to_string(plan.http.max_retries) + " retries, call timeout " +
        seconds_text(plan.http.call_timeout) + describe_safeguards(plan) + describe_cloud(plan) +
        '\n';
    for (std::size_t i = 0; i < plan.items.size(); ++i)
        text += "  [" + std::to_string(i) + "] " + describe(plan.items[i]) + '\n';
    return text;
}

}  // namespace reaper::faults
