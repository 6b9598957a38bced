// hostile_tenant: what one project costs that boots again and again what no host takes, deletes at
// once what it booted, or asks for very much; and what it does to the others. Seeded runs of the
// real service in virtual time; prints a table. tests/faults/README.md tells more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <vector>

#include "fakes/fake_switch.hpp"
#include "faults/schedules/process.hpp"
#include "reaper/runtime/backoff.hpp"
#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::faults {
namespace {

using cloudsim::Context;
using cloudsim::ContextPtr;
using cloudsim::CreateRequest;
using cloudsim::DeleteKind;
using cloudsim::Image;
using cloudsim::Message;
using cloudsim::Notifications;
using cloudsim::Project;
using cloudsim::Server;
using cloudsim::Site;
using cloudsim::Time;
using cloudsim::Uuid;
using cloudsim::VmState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// What the hostile project does. But for the last two, every half a minute it asks for something
/// that no host takes.
enum class Attack {
    same,      ///< always the same
    many,      ///< four servers at a time
    varied,    ///< each time a flavor of its own
    twenty,    ///< twenty servers at a time
    thousand,  ///< in a large cloud, once every half an hour: a thousand servers
    loop,      ///< one server that it may have, deleted as soon as it runs, and again
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
    cloud.hosts = world.attack == Attack::thousand ? 150 : world.attack == Attack::twenty ? 14 : 10;
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
        : world_(world),
          plan_(plan_of(world)),
          trace_(timeline_, false),
          site_(plan_.cloud, [this] { return Time{timeline_.true_now().time_since_epoch()}; }),
          network_(timeline_, site_, trace_, counts_, world.seed ^ 0x9e37U),
          broker_(timeline_, trace_, counts_, world.seed ^ 0x79b9U),
          notifications_([this]() -> cloudsim::World& { return site_.world(); },
                         [this](Message message) {
                             if (message.routing_key.ends_with(".error"))
                                 broker_.publish_error(std::move(message.body));
                             else
                                 broker_.publish_info(std::move(message.body));
                         }),
          chance_(world.seed ^ 0x05e1U) {
        site_.set_root("http://cloud.sim:8000");
        if (const std::string wrong = site_.fill(); !wrong.empty()) throw std::runtime_error(wrong);
        site_.listen(notifications_);
        make_flavors();
        impossible_.id = site_.world().rng.uuid();
        impossible_.name = "impossible";
        impossible_.properties = {{"cloudsim:impossible", "yes"}};
    }

    Figures go() {
        Backoff::seed(static_cast<unsigned>(world_.seed));
        const TimePoint begin = timeline_.true_now();
        process_ = std::make_unique<Process>(plan_, configured_by(plan_), timeline_, network_,
                                             broker_, journal_, pause_, breaker_, site_);
        timeline_.after(minutes{1},
                        [this] { world_.attack == Attack::loop ? boot_to_delete() : attack(0); });
        timeline_.after(minutes{2}, [this] { demand(); });
        timeline_.after(minutes{1}, [this] { fill_up(); });
        const TimePoint end = begin + world_.length;
        do {
            while (process_->poll_one()) {
            }
        } while (advance(end));
        count(begin);
        process_.reset();
        return outcome_;
    }

private:
    bool advance(TimePoint end) {
        if (timeline_.run_due()) return true;
        if (site_.world().clock.run_due() > 0) return true;
        auto next = timeline_.next();
        if (const auto cloud = site_.world().clock.until_next()) {
            const TimePoint at = timeline_.true_now() + std::chrono::ceil<Duration>(*cloud);
            next = next ? std::min(*next, at) : at;
        }
        if (!next || *next > end) return false;
        timeline_.move_to(*next);
        return true;
    }

    void make_flavors() {
        for (int i = 0; i < flavors_of_its_own; ++i) {
            auto flavor =
                std::make_shared<cloudsim::Flavor>(*site_.world().nova.find_flavor_name("large"));
            flavor->id = "own-" + std::to_string(i);
            flavor->name = flavor->id;
            flavor->memory_mb -= i;
            site_.world().nova.flavors.push_back(flavor);
        }
    }

    ContextPtr user_of(const std::string& project) {
        auto context = std::make_shared<Context>();
        const Project* found = site_.world().identity.project_named(project);
        context->user_id = context->user_name = "somebody";
        context->project_id = found->id;
        context->project_name = found->name;
        context->roles = {"member"};
        context->request = site_.world().rng.uuid();
        return context;
    }

    std::vector<Uuid> boot(const std::string& project, const std::string& flavor, int servers,
                           const Image* image) {
        CreateRequest request;
        request.name = "wanted";
        request.flavor = site_.world().nova.find_flavor_name(flavor);
        request.image = image;
        request.count = static_cast<std::size_t>(servers);
        std::vector<Uuid> ids;
        for (const Server* server : site_.lifecycle().create(std::move(request), user_of(project)))
            ids.push_back(server->id);
        return ids;
    }

    void remove(const std::vector<Uuid>& ids) {
        for (const Uuid& id : ids)
            if (Server* server = site_.world().nova.find_server(id))
                site_.lifecycle().remove(*server, DeleteKind::normal, {}, user_of("regular"));
    }

    void attack(int number) {
        const std::map<Attack, int> servers{
            {Attack::many, 4}, {Attack::twenty, 20}, {Attack::thousand, 1'000}};
        const auto several = servers.find(world_.attack);
        std::string flavor = "large";
        if (world_.attack == Attack::thousand) flavor = "small";
        if (world_.attack == Attack::varied)
            flavor = "own-" + std::to_string(number % flavors_of_its_own);
        const auto ids =
            boot("regular2", flavor, several == servers.end() ? 1 : several->second, &impossible_);
        timeline_.after(seconds{25}, [this, ids] { remove(ids); });
        const Duration every =
            world_.attack == Attack::thousand ? Duration{minutes{30}} : Duration{seconds{30}};
        timeline_.after(every, [this, number] { attack(number + 1); });
    }

    /// Its quota is one large server; whatever became of it, it goes, and comes again.
    void boot_to_delete() {
        const auto ids = boot("regular2", "large", 1, site_.world().nova.images.front().get());
        timeline_.after(seconds{10}, [this, ids] {
            remove(ids);
            timeline_.after(seconds{2}, [this] { boot_to_delete(); });
        });
    }

    /// One who boots, tries again after a while, at most twice, and ends after ten minutes.
    void demand() {
        ++outcome_.honest;
        try_it(3);
        timeline_.after(world_.honest_every, [this] { demand(); });
    }
    void try_it(int tries) {
        const auto ids = boot("regular", "large", 1, site_.world().nova.images.front().get());
        timeline_.after(seconds{20}, [this, ids, tries] {
            const Server* server = site_.world().nova.find_server(ids.front());
            if (server != nullptr && server->state == VmState::active) {
                ++outcome_.served;
                timeline_.after(minutes{10}, [this, ids] { remove(ids); });
                return;
            }
            remove(ids);
            if (tries > 1) try_it(tries - 1);
        });
    }

    /// Now and then others take what is free; so there is always somebody to delete.
    void fill_up() {
        for (int i = 0; i < (world_.attack == Attack::loop ? 6 : 80); ++i) {
            const auto ids = boot("spot", "small", 1, site_.world().nova.images.front().get());
            timeline_.after(seconds{10}, [this, ids] {
                const Server* server = site_.world().nova.find_server(ids.front());
                if (server != nullptr && server->state != VmState::active) remove(ids);
            });
        }
        // Who deletes at once gains by it only where others are quick.
        const Duration every = world_.attack == Attack::loop
                                   ? Duration{seconds{chance_.between(4, 8)}}
                                   : Duration{minutes{chance_.between(3, 6)}};
        timeline_.after(every, [this] { fill_up(); });
    }

    void count(TimePoint begin) {
        const std::string hostile = site_.world().identity.project_named("regular2")->id;
        for (const auto& [id, record] : journal_.records) {
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
    const SchedulePlan plan_;
    FaultCounts counts_{};
    Timeline timeline_;
    Trace trace_;
    Site site_;
    test::FakeJournal journal_;
    test::FakeSwitch pause_;
    test::FakeSwitch breaker_;
    Network network_;
    Broker broker_;
    Notifications notifications_;
    Chance chance_;
    Image impossible_;
    std::unique_ptr<Process> process_;
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
                                                {Attack::loop, "boot, delete, again"}};
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
                world.length = std::chrono::hours{length};
                outcomes.push_back(Run{world}.go());
            }
            tell(name, "every " + std::to_string(every) + " min", outcomes);
        }
    return 0;
}
