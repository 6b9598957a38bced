// hostile_tenant: what one project costs that boots again and again what no host takes, deletes at
// once what it booted, or asks for very much; and what it does to the others. Seeded runs of the
// real service in virtual time; prints a table. tests/faults/README.md tells more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <vector>

#include "faults/schedules/stage.hpp"

namespace reaper::faults {
namespace {

using cloudsim::Image;
using cloudsim::Server;
using cloudsim::Uuid;
using cloudsim::VmState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// What the hostile project does. But for the last two, it asks every half a minute for something
/// that no host takes.
enum class Attack {
    same,      ///< always the same
    many,      ///< four servers at a time
    varied,    ///< each time a flavor of its own
    twenty,    ///< twenty servers at a time
    thousand,  ///< in a large cloud, once every half an hour: a thousand servers
    loop,      ///< one server that it may have, deleted as soon as it runs, and again
    resist,    ///< nothing; the owners of revocable servers do all to keep them
};

/// What is switched off.
enum class Without {
    nothing,
    price,           ///< limits, what a first part proves, and what short lives cost
    all_but_breaker  ///< and all but one breaker for all projects
};

struct Setup {
    Attack attack{};
    Duration honest_every{};  ///< the other project's demands
    std::uint64_t seed = 1;
    Duration length = hours{6};
    Without without{};
    bool messages = false;  ///< the reaper hears of what Nova refused, and has no gateway
};

struct Figures {
    double victims_per_hour = 0;  ///< of the hostile project
    double first_hour = 0;
    int honest = 0;  ///< demands of the other project
    int served = 0;  ///< of these: run
};

constexpr int flavors_of_its_own = 60;

SchedulePlan plan_of(const Setup& world) {
    SchedulePlan plan;
    plan.seed = world.seed;
    auto& cloud = plan.cloud;
    cloud.seed = world.seed;
    cloud.hosts = world.attack == Attack::thousand ? 200 : world.attack == Attack::twenty ? 14 : 10;
    cloud.host.vcpus = 16;
    cloud.host.memory_mb = 65'536;
    cloud.host.disk_gb = 2'000;
    cloud.fill = 1.0;
    const bool large = world.attack == Attack::thousand || world.attack == Attack::twenty;
    cloud.revocable = large ? 0.95 : 0.7;
    cloud.flavors = {{"small", {2, 4'096, 20, 0, 0, {}}}, {"large", {8, 16'384, 80, 0, 0, {}}}};
    cloud.projects["regular2"] = {};
    cloud.log_limit = 1'000;
    fill_defaults(cloud);
    if (!world.messages) plan.gateway.listen = "127.0.0.1:8780";
    config::Plugin project;
    project.name = "project";
    plan.policy.taggers.push_back(project);
    plan.policy.strategy.name = "cost";
    auto& safeguards = plan.policy.safeguards;
    if (world.without != Without::nothing) {
        safeguards.limits.victims_per_request = 0;
        safeguards.limits.share_per_request = safeguards.limits.share_per_requester = 0;
        safeguards.project_breaker.unproven = 0;
        safeguards.short_lived.allowance = 0;
        safeguards.protect.owners = true;
    }
    if (world.without == Without::all_but_breaker) {
        safeguards.breaker.projects = 1;
        safeguards.breaker.retry.retry_after = {};
        safeguards.project_breaker.wasted = 0;
        safeguards.shape_cooldown.wasted = 0;
    }
    return plan;
}

class Run {
public:
    explicit Run(const Setup& world)
        : world_(world), stage_(plan_of(world)), chance_(world.seed ^ 0x05e1U) {
        make_flavors();
        impossible_.id = stage_.world().rng.uuid();
        impossible_.name = "impossible";
        impossible_.properties = {{"cloudsim:impossible", "yes"}};
    }

    Figures go() {
        const TimePoint begin = stage_.now();
        stage_.start_reaper();
        after(minutes{1}, [this] { begin_attack(); });
        after(minutes{2}, [this] { demand(); });
        after(minutes{1}, [this] { fill_up(); });
        stage_.run_for(world_.length);
        count(begin);
        return outcome_;
    }

private:
    void after(Duration delay, std::function<void()> action) {
        stage_.timeline().after(delay, std::move(action));
    }

    void make_flavors() {
        for (int i = 0; i < flavors_of_its_own; ++i) {
            auto flavor =
                std::make_shared<cloudsim::Flavor>(*stage_.world().nova.find_flavor_name("large"));
            flavor->id = "own-" + std::to_string(i);
            flavor->name = flavor->id;
            flavor->memory_mb -= i;
            stage_.world().nova.flavors.push_back(flavor);
        }
    }

    std::vector<Uuid> boot(const std::string& project, const std::string& flavor, int servers,
                           const Image* image = nullptr) {
        std::vector<Uuid> ids;
        stage_.boot(project, flavor, servers, ids, {}, image);
        return ids;
    }

    /// By its owner: what an operator deletes is not given back.
    void remove(const std::vector<Uuid>& ids) {
        for (const Uuid& id : ids) {
            const Server* const server = stage_.find(id);
            if (server == nullptr) continue;
            const bool hostile =
                stage_.world().names.text(server->project) == stage_.project_id("regular2");
            stage_.remove(hostile ? "regular2" : "regular", id);
        }
    }

    void begin_attack() {
        if (world_.attack == Attack::loop)
            boot_to_delete();
        else if (world_.attack == Attack::resist)
            resist();
        else
            attack(0);
    }

    /// Each revocable server is locked by its owner, or has the tag or the metadata.
    void resist() {
        int number = 0;
        for (Server* const server : stage_.world().nova.listed()) {
            if (!stage_.world().is_revocable(*server)) continue;
            const int kind = number++ % 3;
            if (kind == 0)
                stage_.set_locked("spot", server->id, true);
            else if (kind == 1)
                server->more().tags.insert("reaper-protected");
            else
                server->more().metadata["reaper:protected"] = "true";
        }
        after(seconds{5}, [this] { resist(); });
    }

    void attack(int number) {
        const std::map<Attack, int> servers{
            {Attack::many, 4}, {Attack::twenty, 20}, {Attack::thousand, 1'000}};
        const auto several = servers.find(world_.attack);
        std::string flavor = "large";
        if (world_.attack == Attack::twenty || world_.attack == Attack::thousand) flavor = "small";
        if (world_.attack == Attack::varied)
            flavor = "own-" + std::to_string(number % flavors_of_its_own);
        const auto ids =
            boot("regular2", flavor, several == servers.end() ? 1 : several->second, &impossible_);
        // The requester of each is looked up: a thousand take longer.
        const Duration stays =
            world_.attack == Attack::thousand ? Duration{minutes{10}} : Duration{seconds{25}};
        after(stays, [this, ids] { remove(ids); });
        const Duration every =
            world_.attack == Attack::thousand ? Duration{minutes{30}} : Duration{seconds{30}};
        after(every, [this, number] { attack(number + 1); });
    }

    /// Its quota is one large server; whatever became of it, it goes, and comes again.
    void boot_to_delete() {
        const auto ids = boot("regular2", "large", 1);
        after(seconds{10}, [this, ids] {
            remove(ids);
            after(seconds{2}, [this] { boot_to_delete(); });
        });
    }

    /// One who boots, tries again after a while, at most twice, and ends after ten minutes.
    void demand() {
        ++outcome_.honest;
        try_it(3);
        after(world_.honest_every, [this] { demand(); });
    }
    void try_it(int tries) {
        const auto ids = boot("regular", "large", 1);
        after(seconds{20}, [this, ids, tries] {
            const Server* server = stage_.find(ids.front());
            if (server != nullptr && server->state == VmState::active) {
                ++outcome_.served;
                after(minutes{10}, [this, ids] { remove(ids); });
                return;
            }
            remove(ids);
            if (tries > 1) try_it(tries - 1);
        });
    }

    /// From time to time others take what is free, so there is always a victim.
    void fill_up() {
        for (int i = 0; i < (world_.attack == Attack::loop ? 6 : 80); ++i) {
            const auto ids = boot("spot", "small", 1);
            after(seconds{10}, [this, ids] {
                const Server* server = stage_.find(ids.front());
                if (server != nullptr && server->state != VmState::active) remove(ids);
            });
        }
        // Who deletes at once gains by it only where others are quick.
        const Duration every = world_.attack == Attack::loop
                                   ? Duration{seconds{chance_.between(4, 8)}}
                                   : Duration{minutes{chance_.between(3, 6)}};
        after(every, [this] { fill_up(); });
    }

    void count(TimePoint begin) {
        const std::string hostile = stage_.project_id("regular2");
        for (const auto& [id, record] : stage_.journal().records) {
            if (record.request.project.str() != hostile) continue;
            for (const VictimEntry& victim : victims_of(record)) {
                outcome_.victims_per_hour += 1;
                if (victim.at - begin < hours{1}) outcome_.first_hour += 1;
            }
        }
        outcome_.victims_per_hour /=
            std::chrono::duration<double, std::ratio<3600>>(world_.length).count();
    }

    const Setup world_;
    Stage stage_;
    Chance chance_;
    Image impossible_;
    Figures outcome_;
};

/// The mean of the seeds, and the worst.
void tell(const std::string& attack, const std::string& honest,
          const std::vector<Figures>& outcomes) {
    double sum = 0;
    double worst = 0;
    double first = 0;
    int asked = 0;
    int served = 0;
    for (const Figures& one : outcomes) {
        sum += one.victims_per_hour;
        first += one.first_hour;
        worst = std::max(worst, one.victims_per_hour);
        asked += one.honest;
        served += one.served;
    }
    const auto runs = static_cast<double>(outcomes.size());
    std::printf("| %s | %s | %.1f | %.1f | %.1f | %.0f %% |\n", attack.c_str(), honest.c_str(),
                first / runs, sum / runs, worst, 100.0 * served / std::max(asked, 1));
    std::fflush(stdout);
}

}  // namespace
}  // namespace reaper::faults

int main(int argc, char** argv) {
    using namespace reaper::faults;
    CLI::App app{"What one hostile project costs the others"};
    std::uint64_t seeds = 10;
    int length = 6;
    Without without = Without::nothing;
    app.add_flag_callback(
        "--one-breaker", [&] { without = Without::all_but_breaker; },
        "one breaker for all projects, and nothing else");
    app.add_flag_callback(
        "--before", [&] { without = Without::price; },
        "without limits, and whatever short lives and first parts tell");
    bool messages = false;
    app.add_flag("--messages", messages, "by Nova's messages alone, without the gateway");
    std::string only;
    app.add_option("--only", only, "rows whose name begins with this");
    app.add_option("--seeds", seeds, "runs of each row");
    app.add_option("--hours", length, "of each run");
    CLI11_PARSE(app, argc, argv);
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("none", std::make_shared<spdlog::sinks::null_sink_mt>()));
    std::printf(
        "| attack | others ask | victims in the first hour | victims per hour | worst seed "
        "| others served |\n|---|---|---|---|---|---|\n");
    const std::map<Attack, std::string> attacks{{Attack::same, "one shape"},
                                                {Attack::many, "one shape, four at a time"},
                                                {Attack::varied, "many shapes"},
                                                {Attack::twenty, "twenty servers at a time"},
                                                {Attack::thousand, "1,000 servers at a time"},
                                                {Attack::loop, "boot, delete, again"},
                                                {Attack::resist, "owners resist"}};
    for (const auto& [attack, name] : attacks)
        for (const int every : {2, 30}) {
            if (!name.starts_with(only)) continue;
            std::vector<Figures> outcomes;
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                Setup world;
                world.attack = attack;
                world.honest_every = std::chrono::minutes{every};
                world.seed = seed;
                world.without = without;
                world.messages = messages;
                world.length = std::chrono::hours{length};
                outcomes.push_back(Run{world}.go());
            }
            tell(name, "every " + std::to_string(every) + " min", outcomes);
        }
    return 0;
}
