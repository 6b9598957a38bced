#include "faults/schedules/clouds.hpp"

#include <algorithm>

#include "faults/schedules/chance.hpp"

namespace reaper::faults {

using cloudsim::RevocableBy;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using HostNames = std::vector<std::string>;

/// At least one host, and not all of them.
HostNames some_hosts(const SchedulePlan& plan, Chance& rng) {
    const int hosts = plan.cloud.hosts;
    const int most = rng.between(1, hosts - 1);
    const int first = rng.between(1, hosts);
    HostNames names;
    for (int i = 0; i < most; ++i)
        names.push_back("host-" + std::to_string((first + i - 1) % hosts + 1));
    return names;
}

void add_flavor(SchedulePlan& plan, const std::string& like, const std::string& suffix,
                std::map<std::string, std::string> specs) {
    cloudsim::FlavorEntry made = plan.cloud.flavors.at(like);
    made.extra_specs.merge(specs);
    plan.cloud.flavors.emplace(like + suffix, std::move(made));
}

void add_items(SchedulePlan& plan, Kind kind, int number, Chance& rng) {
    for (int i = 0; i < number; ++i) {
        Item made = item_of(plan, kind, rng);
        if (kind == Kind::boot_group || kind == Kind::boot_hinted)
            made.amount = rng.pick({1, 1, 2, 3});
        plan.items.push_back(made);
    }
}

void draw_traits(SchedulePlan& plan, Chance& rng) {
    plan.cloud.traits["CUSTOM_FAST"] = some_hosts(plan, rng);
    add_flavor(plan, "small", "-fast", {{"trait:CUSTOM_FAST", "required"}});
    add_flavor(plan, "tiny", "-slow", {{"trait:CUSTOM_FAST", "forbidden"}});
    if (plan.cloud.flavors.contains("medium"))
        add_flavor(plan, "medium", "-fast", {{"trait:CUSTOM_FAST", "required"}});
}

void draw_nested(SchedulePlan& plan, Chance& rng) {
    plan.cloud.nested["CUSTOM_FPGA"] = rng.between(1, 3);
    plan.cloud.nested["CUSTOM_NIC"] = rng.between(1, 4);
    add_flavor(plan, "small", "-fpga", {{"resources1:CUSTOM_FPGA", "1"}});
    add_flavor(plan, "tiny", "-both",
               {{"resources1:CUSTOM_FPGA", "1"},
                {"resources2:CUSTOM_NIC", "1"},
                {"group_policy", rng.pick({"none", "isolate"})}});
}

void draw_cells(SchedulePlan& plan, Chance& rng) {
    const int first = rng.between(1, plan.cloud.hosts - 1);
    const bool disabled = rng.percent(20);
    for (int host = 1; host <= plan.cloud.hosts; ++host)
        plan.cloud.cells[host <= first ? "one" : "two"].push_back("host-" + std::to_string(host));
    for (const auto& [name, hosts] : plan.cloud.cells)
        plan.policy.scheduler.cells.push_back({name, hosts, {}, disabled && name == "two"});
    if (disabled) plan.cloud.disabled_cells = {"two"};
    add_items(plan, Kind::resize, rng.between(1, 3), rng);
}

}  // namespace

Item item_of(const SchedulePlan& plan, Kind kind, Chance& rng) {
    Item made;
    made.kind = kind;
    made.seed = rng.next();
    const auto span = (plan.storm - calm_start).count();
    made.at = calm_start + Duration{static_cast<Duration::rep>(rng.below(span))};
    return made;
}

void draw_constraints(SchedulePlan& plan) {
    Chance rng{plan.seed ^ 0xc0457a17U};
    if (!rng.percent(30)) return;
    auto& cloud = plan.cloud;
    cloud.hosts = std::max(cloud.hosts, rng.between(2, 4));
    if (rng.percent(50)) draw_traits(plan, rng);
    if (rng.percent(40)) draw_nested(plan, rng);
    if (rng.percent(35)) draw_cells(plan, rng);
    if (cloud.zones.empty() && rng.percent(50)) cloud.zones["east"] = some_hosts(plan, rng);
    if (rng.percent(25)) {
        plan.tenant_hosts = {"host-" + std::to_string(rng.between(1, cloud.hosts))};
        cloud.tenant_isolation = plan.policy.scheduler.tenant_filter = true;
    }
    if (rng.percent(65)) add_items(plan, Kind::boot_group, rng.between(1, 4), rng);
    if (rng.percent(50)) {
        cloud.nova_minor = rng.pick({93, 100, 100});
        add_items(plan, Kind::boot_hinted, rng.between(1, 3), rng);
    }
}

void draw_tagging(SchedulePlan& plan) {
    Chance rng{plan.seed ^ 0x7a661e5U};
    if (!rng.percent(28)) return;
    auto& cloud = plan.cloud;
    auto& policy = plan.policy;
    cloud.revocable_by = rng.pick({RevocableBy::resource, RevocableBy::resource,
                                   RevocableBy::resource, RevocableBy::either, RevocableBy::both});
    plan.holds_room = rng.percent(60);
    config::Plugin resource;
    resource.name = "resource";
    resource.parameters["class"] = cloud.revocable_class;
    resource.parameters["freed_room"] = std::string{plan.holds_room ? "held" : "open"};
    if (cloud.revocable_by == RevocableBy::resource) policy.taggers.clear();
    policy.taggers.push_back(resource);
    if (cloud.revocable_by == RevocableBy::both) policy.tagger_conflict = "all";
    // Where they are scarce, some boots fail for want of them.
    const int slots = rng.pick({3, 8, 16, 100});
    if (rng.percent(30))
        cloud.nested[cloud.revocable_class] = slots;
    else
        cloud.host.classes[cloud.revocable_class] = slots;
    const auto plain = cloud.flavors;
    for (const auto& entry : plain)
        if (entry.first != "odd")
            add_flavor(plan, entry.first, "-spot", {{"resources:" + cloud.revocable_class, "1"}});
    cloud.mixed_projects = {"regular", "spot"};
    if (cloud.revocable_by == RevocableBy::resource) cloud.mixed_projects.emplace_back("regular2");
    std::vector<Duration> demands;
    for (const Item& item : plan.items)
        if (is_demand(item.kind)) demands.push_back(item.at);
    const auto near = [&](Item& item, int most) {
        if (rng.percent(70)) item.at = rng.any_of(demands) + milliseconds{rng.between(0, most)};
        plan.items.push_back(item);
    };
    for (int left = rng.between(0, 2); left > 0; --left) {
        Item item = item_of(plan, Kind::boot_preemptible, rng);
        near(item, 2'000);
    }
    for (int left = rng.between(0, 2); left > 0; --left) {
        Item item = item_of(plan, Kind::boot_by_spot, rng);
        near(item, 2'000);
    }
    for (int left = rng.pick({0, 1, 2, 4}); left > 0; --left) {
        Item item = item_of(plan, Kind::class_lost, rng);
        item.in_mid_cull = rng.percent(40);
        near(item, rng.pick({300, 2'000}));
    }
}

void draw_fair_order(SchedulePlan& plan) {
    Chance rng{plan.seed ^ 0xfa12U};
    if (plan.policy.strategy.name != "cost" || !rng.percent(35)) return;
    using Texts = std::vector<std::string>;
    Parameters& parameters = plan.policy.strategy.parameters;
    const std::string first = rng.pick({"fair_share", "bid"});
    parameters["objective"] = Texts{first, "lost_work + 60 victims", "waste"};
    if (first == "fair_share")
        parameters["weights"] = Texts{"spot=" + std::to_string(rng.between(1, 3))};
    else
        for (auto& [name, flavor] : plan.cloud.flavors)
            flavor.extra_specs["reaper:bid"] = "0.0" + std::to_string(rng.between(0, 3));
}

std::string describe_objective(const SchedulePlan& plan) {
    const auto& parameters = plan.policy.strategy.parameters;
    const auto objective = parameters.find("objective");
    if (objective == parameters.end()) return "";
    return " of " + std::get<std::vector<std::string>>(objective->second).front();
}

void draw_gateway(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x9a7e3a1U};
    if (!rng.percent(percent)) return;
    plan.gateway.listen = "127.0.0.1:8780";
    plan.gateway.deadline = seconds{rng.pick({3, 20, 20, 60})};
    plan.gateway.max_held = rng.pick({1, 16, 16});
    plan.gateway.escrow = rng.percent(80);
    const auto draw = [&](Kind kind, int most) {
        for (int left = rng.between(0, most); left > 0; --left) {
            plan.items.push_back(item_of(plan, kind, rng));
            plan.items.back().length = seconds{rng.pick({10, 30, 90})};
            plan.items.back().percent = rng.pick({10, 30, 100});
        }
    };
    draw(Kind::evacuation, 2);
    draw(Kind::unshelving, 2);
    plan.trigger.unshelve_again = Chance{plan.seed ^ 0xa6a14U}.percent(50);
    draw(Kind::client_leaves, 1);
    draw(Kind::other_gateway, 1);
    if (!rng.percent(30)) return;
    Item crash = item_of(plan, Kind::crash, rng);
    crash.in_mid_claim = true;
    crash.amount = rng.pick({rng.between(0, 10), rng.between(0, 60)});  // handlers
    crash.length = milliseconds{rng.pick({10, 1000, 20'000})};
    plan.items.push_back(crash);
}

void draw_shared_journal(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x1ea5edU};
    if (!rng.percent(percent)) return;
    plan.reapers = rng.between(2, 3);
    if (rng.percent(50)) {
        plan.items.push_back(item_of(plan, Kind::takeover, rng));
        plan.items.back().in_mid_cull = rng.percent(50);
        plan.items.back().length = milliseconds{200};
    }
    for (Item& item : plan.items)
        if (item.kind == Kind::takeover) item.orderly = rng.percent(60);
    for (int left = rng.between(1, 4); left > 0; --left) {
        Item lost = item_of(plan, Kind::lease_lost, rng);
        lost.in_mid_cull = rng.percent(30);
        if (!lost.in_mid_cull && rng.percent(75))
            lost.at_write = rng.pick({"admit", "plan", "plan", "delete-sent", "delete-sent", "gone",
                                      "hold", "finish", "freed-room"});
        lost.amount = rng.pick({0, rng.between(0, 10), rng.between(0, 60)});  // handlers
        lost.length = seconds{rng.pick({2, 10, 16, 20, 30, 60})};
        if (rng.percent(35)) lost.service = "journal";
        plan.items.push_back(lost);
    }
}

void draw_notice(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x4071ceU};
    if (!rng.percent(percent)) return;
    plan.policy.notice.period = seconds{rng.pick({2, 20, 60, 300})};
    if (rng.percent(50)) plan.policy.notice.stop_before = seconds{rng.pick({1, 10, 60})};
}

void draw_shelving(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x54e17eU};
    if (!rng.percent(percent)) return;
    plan.policy.shelve.servers = {"all"};
    plan.policy.shelve.returns_per_hour = rng.pick({0, 600});
}

void draw_slow_nova(SchedulePlan& plan) {
    Chance rng{plan.seed ^ 0x510e0aU};
    if (!rng.percent(15)) return;
    for (int left = rng.between(1, 3); left > 0; --left) {
        plan.items.push_back(item_of(plan, Kind::slow_nova, rng));
        plan.items.back().length = seconds{rng.pick({20, 60, 180})};
    }
}

void draw_looping_tenant(SchedulePlan& plan) {
    Chance rng{plan.seed ^ 0x100b5U};
    if (!rng.percent(15)) return;
    for (int left = rng.between(1, 2); left > 0; --left) {
        plan.items.push_back(item_of(plan, Kind::tenant_loops, rng));
        plan.items.back().length = seconds{rng.pick({20, 60, 120})};
        plan.items.back().amount = rng.pick({1, 1, 2});
    }
}

namespace {

/// In the proportions of the flavors.
Resources room_of(int vcpus) {
    return {{"VCPU", vcpus}, {"MEMORY_MB", vcpus * 2'048}, {"DISK_GB", vcpus * 10}};
}

config::StaticReservation draw_reservation(const SchedulePlan& plan, const Role& role,
                                           Chance& rng) {
    config::StaticReservation made;
    made.role = role;
    if (plan.cloud.hosts == 1 || rng.percent(20))
        made.hosts = {"host-*"};
    else
        made.hosts = some_hosts(plan, rng);
    const int vcpus = rng.pick({1, 2, 4, 6, 8});
    made.resources = room_of(vcpus);
    made.lending.lend = rng.percent(65);
    if (rng.percent(30)) made.lending.floor = room_of((vcpus + 1) / 2);
    return made;
}

}  // namespace

void draw_reservations(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x4e5e47eU};
    // A dry run reserves nothing.
    if (!rng.percent(percent) || plan.dry_run) return;
    config::Reservations& reservations = plan.reservations;
    reservations.enabled = true;
    reservations.calm = seconds{rng.pick({5, 30, 120})};
    reservations.interval = seconds{rng.pick({5, 20, 60})};
    const Role eng = Role::parse("eng").value();
    const Role ops = Role::parse("ops").value();
    reservations.roles.push_back(
        {rng.percent(30) ? Role::parse("eng/web").value() : eng, {"regular"}});
    const bool both = rng.percent(50);
    if (both) reservations.roles.push_back({ops, {"regular2"}});
    reservations.static_ones.push_back(draw_reservation(plan, eng, rng));
    if (both && rng.percent(70))
        reservations.static_ones.push_back(draw_reservation(plan, ops, rng));
    plan.cloud.fill = rng.pick({0.3, 0.5, 0.7, 0.9, 1.0});
    add_items(plan, Kind::boot, rng.between(1, 4), rng);
    add_items(plan, Kind::boot_revocable, rng.between(1, 4), rng);
    add_items(plan, Kind::user_delete, rng.between(0, 3), rng);
    if (rng.percent(40)) add_items(plan, Kind::reservation_changed, rng.between(1, 2), rng);
    if (rng.percent(40)) add_items(plan, Kind::reservation_touched, rng.between(1, 3), rng);
}

/// How the hosts are measured, and what is not to be exceeded.
void draw_watching(SoldPlan& sold, std::uint64_t seed) {
    Chance rng{seed ^ 0x10ad5U};
    sold.per_server = rng.percent(40);
    sold.evict_all = rng.percent(25);
    if (rng.percent(30)) sold.publication.flaps = rng.between(1, 2);
    if (sold.load5 == 0 && !rng.percent(30)) return;
    switch (rng.between(0, 3)) {
        case 0: sold.load5 = rng.between(2, 8); break;
        case 1:
            sold.load5 = 0;
            sold.load15 = rng.between(1, 6);
            break;
        case 2:
            sold.per_core = true;
            sold.load5 = rng.pick({0.25, 0.5, 0.75});
            sold.load15 = rng.pick({0.0, 0.25, 0.5});
            break;
        default:
            sold.load5 = 0;
            sold.pressure = rng.pick({0.02, 0.1, 0.3});
            sold.in_a_row = rng.pick({1, 3});
            break;
    }
}

void draw_sold_room(SchedulePlan& plan, int percent) {
    Chance rng{plan.seed ^ 0x501d400U};
    if (!rng.percent(percent)) return;
    SoldPlan sold;
    if (rng.percent(35)) sold.fixed = rng.between(1, 8);
    sold.margin = rng.pick({0.0, 0.1, 0.25});
    sold.peak = seconds{rng.pick({0, 30, 120})};
    PublicationRules& rules = sold.publication;
    rules.interval = seconds{rng.pick({5, 15})};
    rules.rise_after = seconds{rng.pick({5, 20, 60})};
    rules.rise_step = rng.pick({0.25, 0.5, 1.0});
    rules.trust_after = seconds{rng.pick({0, 0, 60})};
    rules.max_age = seconds{rng.pick({20, 60})};
    rules.flaps = rng.pick({0, 3});
    sold.drain = rng.percent(25);
    if (rng.percent(40)) sold.load5 = rng.between(2, 8);
    draw_watching(sold, plan.seed);
    plan.sold = sold;
    plan.storm += seconds{rng.pick({0, 120, 300})};
    const int boots = rng.between(4, 16);
    for (int i = 0; i < boots; ++i) {
        Item boot = item_of(plan, Kind::boot_sold, rng);
        boot.amount = rng.pick({1, 1, 2, 3});
        plan.items.push_back(boot);
    }
    for (int faults = rng.pick({0, 0, 1, 2, 4}); faults > 0; --faults) {
        Item fault = item_of(plan, Kind::metrics_fault, rng);
        fault.amount = rng.between(1, 5);
        fault.length = seconds{rng.pick({5, 30, 90})};
        plan.items.push_back(fault);
    }
}

void change_reservations(config::Reservations& reservations, const SchedulePlan& plan,
                         Chance& rng) {
    auto& all = reservations.static_ones;
    if (all.empty()) {
        all.push_back(draw_reservation(plan, Role::parse("eng").value(), rng));
        return;
    }
    config::StaticReservation& one = rng.any_of(all);
    switch (rng.between(0, 4)) {
        case 0: all.erase(all.begin() + (&one - all.data())); break;
        case 1: one.lending.lend = !one.lending.lend; break;
        default: one = draw_reservation(plan, one.role, rng); break;
    }
}

std::string describe_cloud(const SchedulePlan& plan) {
    const auto& cloud = plan.cloud;
    std::string text;
    switch (cloud.revocable_by) {
        case RevocableBy::project: break;
        case RevocableBy::resource: text += ", revocable by class"; break;
        case RevocableBy::either: text += ", revocable by project or class"; break;
        case RevocableBy::both: text += ", revocable by project and class"; break;
    }
    if (plan.holds_room) text += ", freed room is held";
    const auto hosts = [&](const std::string& what, const HostNames& names) {
        text += ", " + what + ':';
        for (const auto& name : names) text += ' ' + name;
    };
    for (const auto& [trait, names] : cloud.traits) hosts(trait, names);
    for (const auto& [zone, names] : cloud.zones) hosts("zone " + zone, names);
    for (const auto& [cell, names] : cloud.cells) hosts("cell " + cell, names);
    if (!cloud.disabled_cells.empty()) hosts("disabled", cloud.disabled_cells);
    if (!plan.tenant_hosts.empty()) hosts("for regular2 alone", plan.tenant_hosts);
    for (const auto& [name, total] : cloud.nested)
        text += ", nested " + std::to_string(total) + ' ' + name;
    if (cloud.nova_minor > 93) text += ", Nova shows hints";
    if (plan.with_gateway()) {
        text +=
            ", gateway, deadline " + std::to_string(plan.gateway.deadline.count() / 1000) + " s";
        if (!plan.gateway.escrow) text += ", keeps no room";
    }
    for (const auto& each : plan.reservations.roles)
        text += ", role " + each.role.str() + ": " + each.projects.front();
    for (const auto& each : plan.reservations.static_ones) {
        hosts("reserved for " + each.role.str() + ' ' + to_string(each.resources), each.hosts);
        if (each.lending.lend) text += " (lends above " + to_string(each.lending.floor) + ")";
    }
    return text;
}

}  // namespace reaper::faults
