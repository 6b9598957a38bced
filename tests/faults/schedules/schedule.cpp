#include "faults/schedules/schedule.hpp"

#include <array>
#include <functional>
#include <utility>

#include "fakes/fake_switch.hpp"
#include "faults/schedules/actors.hpp"
#include "faults/schedules/judge_exclusive.hpp"
#include "faults/schedules/judge_first_tries.hpp"
#include "faults/schedules/process.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/backoff.hpp"
#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::faults {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

cloudsim::Time cloud_time(TimePoint time) {
    return cloudsim::Time{time.time_since_epoch()};
}

/// What a schedule consists of. The order of members is that of their making.
class Schedule {
public:
    Schedule(const SchedulePlan& plan, const std::set<std::size_t>& without, bool verbose,
             Tally& tally);
    ScheduleResult run();

private:
    void arm(const Item& item);
    void start();
    void kill();
    void count_waits();
    void resume();
    void crash_soon(const Item& item);
    void take_over(const Item& item);
    void reload(const Item& item);
    void on_deletion();
    void reserve_hosts();
    void make_register();
    void sell_room();
    test::FakeJournal& journal() { return journals_[machine_]; }
    void watch_journal(std::size_t machine);
    void lose_lease(const Item& item);
    void replace(std::uint64_t run);
    void come_back(std::size_t machine, std::uint64_t run);
    std::size_t next_machine() const;
    void drain_displaced();
    void stop();
    bool is_frozen() const { return held_up_ != nullptr && held_up_->service.empty(); }
    bool settled() const;
    void drain();
    /// Moves on to what comes next; false if nothing does.
    bool advance();
    TimePoint calm_from() const;

    const SchedulePlan& plan_;
    const std::set<std::size_t>& without_;
    Tally& tally_;
    Timeline timeline_;
    Trace trace_;
    cloudsim::Site site_;
    const std::shared_ptr<test::FakeRows> rows_ = std::make_shared<test::FakeRows>();
    /// Each on a machine of its own; all of the same rows, if they share one.
    std::array<test::FakeJournal, 3> journals_;
    test::FakeJournal no_other_;                ///< of one that does not come back
    std::array<test::FakeSwitch, 3> breakers_;  ///< each on a machine of its own
    std::size_t machine_ = 0;                   ///< whose reaper is the active one
    test::FakeSwitch pause_;                    ///< operators pause both
    Reloaded configured_;
    Truth truth_;
    std::optional<SoldRoom> sold_;
    Checker checker_;
    Network network_;
    Broker broker_;
    Gateway gateway_;
    FirstTries first_tries_;
    ExclusiveRoom exclusive_;
    cloudsim::Notifications notifications_;
    Actors actors_;
    std::unique_ptr<Process> process_;  ///< of the active one
    std::uint64_t run_ = 0;             ///< the number of that process
    /// Another has taken over; it does not know, as it is frozen, or cut off from the journal.
    struct Displaced {
        std::size_t machine = 0;
        bool frozen = false;
        std::unique_ptr<Process> process;
    };
    std::vector<Displaced> displaced_;
    const Item* held_up_ = nullptr;         ///< the active one is frozen or cut off
    const Item* losing_ = nullptr;          ///< what strikes next is this, and no crash
    bool stopping_ = false;                 ///< the active one, in good order
    std::vector<const Item*> at_write_{};   ///< due when the journal is written
    std::optional<int> crash_in_;           ///< handlers
    bool stops_ = false;                    ///< ... which is none: it stops in good order
    bool taken_over_ = false;               ///< ... and the other machine takes over
    const Item* in_mid_claim_ = nullptr;    ///< due when the next claim is asked for
    std::vector<const Item*> in_mid_cull_;  ///< due when the next deletion is accepted
    Duration restart_after_{};
    int writes_failing_ = 0;  ///< items that make the disk full now
    TimePoint limit_{};
};

Schedule::Schedule(const SchedulePlan& plan, const std::set<std::size_t>& without, bool verbose,
                   Tally& tally)
    : plan_(plan),
      without_(without),
      tally_(tally),
      trace_(timeline_, verbose),
      site_(plan.cloud, [this] { return cloud_time(timeline_.true_now()); }),
      journals_{
          test::FakeJournal{rows_},
          test::FakeJournal{plan.shares_journal() ? rows_ : std::make_shared<test::FakeRows>()},
          test::FakeJournal{rows_}},
      configured_{configured_by(plan)},
      truth_(timeline_, site_),
      checker_(plan, timeline_, site_, truth_,
               {&journals_[0], plan.shares_journal() ? &no_other_ : &journals_[1]}, pause_, trace_,
               tally),
      network_(timeline_, site_, trace_, tally.faults, plan.seed ^ 0x9e37U),
      broker_(timeline_, trace_, tally.faults, plan.seed ^ 0x79b9U),
      gateway_(timeline_, site_, network_, trace_, plan.seed ^ 0x517cU,
               [this] { truth_.record(); }),
      first_tries_(
          plan, timeline_, site_, truth_, gateway_, checker_,
          [this] { return breakers_[machine_].paused().has_value(); }, tally),
      exclusive_(plan, timeline_, site_, truth_, checker_, tally),
      notifications_([this]() -> cloudsim::World& { return site_.world(); },
                     [this](cloudsim::Message message) { broker_.publish(std::move(message)); }),
      actors_(timeline_, site_, trace_, tally.faults,
              plan.soft_delete ? plan.cloud.soft_region_reclaim : cloudsim::Micros{},
              [this] { truth_.record(); }) {
    site_.set_root("http://cloud.sim:8000");
    if (const std::string wrong = site_.fill(); !wrong.empty()) throw std::runtime_error(wrong);
    reserve_hosts();
    if (plan.with_reservations()) make_register();
    if (plan.sold) sell_room();
    site_.listen(truth_);
    site_.listen(checker_);
    site_.listen(first_tries_);
    truth_.on_record([this] { first_tries_.look(); });
    site_.listen(notifications_);
    site_.listen(actors_);
    network_.watch(checker_);
    broker_.on_acknowledge([this](const Broker::Stored& message, bool set_aside) {
        checker_.on_acknowledge(message, set_aside);
    });
    broker_.on_delivery([this](const Broker::Stored& message) { checker_.on_delivery(message); });
    checker_.watch(broker_);
    if (plan.with_gateway()) {
        checker_.watch(gateway_);
        gateway_.watch({[this](const auto&... told) { exclusive_.told(told...); },
                        [this](const auto&... claimed) { exclusive_.claimed(claimed...); },
                        [this] {
                            if (const Item* const due = std::exchange(in_mid_claim_, nullptr))
                                crash_soon(*due);
                        }});
        site_.world().door = &gateway_;
    }
    checker_.on_accepted_deletion([this] { on_deletion(); });
    for (std::size_t machine = 0; machine < journals_.size(); ++machine) watch_journal(machine);
}

void Schedule::watch_journal(std::size_t machine) {
    journals_[machine].on_call = [this, machine](const std::string& what) {
        if (what.empty()) return;
        if (machine != machine_) {
            ++tally_.fenced;
            trace_.line("without the lease: " + what);
            return;
        }
        std::erase_if(at_write_, [&](const Item* item) {
            if (!what.starts_with(item->at_write) || losing_ != nullptr) return false;
            losing_ = item;
            crash_soon(*item);
            return true;
        });
    };
    journals_[machine].fails = [this, machine](const std::string& what) {
        if (what == "holds") return false;  // only read
        if (writes_failing_ > 0) {
            ++tally_.faults[static_cast<std::size_t>(Kind::disk_full)];
            trace_.line("disk full: " + what);
            return true;
        }
        if (machine != machine_) checker_.blame("fence", what + " is written without the lease");
        checker_.on_write(what);
        return false;
    };
}

TimePoint Schedule::calm_from() const {
    Duration last = plan_.storm;
    for (const Item& item : plan_.items)
        if (item.kind != Kind::clock_step) last = std::max(last, item.at + item.length);
    return timeline_.true_now() + last;
}

void Schedule::arm(const Item& item) {
    timeline_.after(item.at, [this, &item] {
        if (is_network(item.kind)) {
            trace_.line("- " + describe(item));
            network_.begin(item);
            return;
        }
        switch (item.kind) {
            case Kind::duplicate:
            case Kind::delayed:
            case Kind::late_repeat:
            case Kind::info_lost:
            case Kind::info_late:
            case Kind::flow_stops:
            case Kind::forged_message: broker_.begin(item); break;
            case Kind::garbage_message: broker_.publish_garbage(item); break;
            case Kind::old_message: broker_.publish_old(item); break;
            case Kind::connection_lost:
                ++tally_.faults[static_cast<std::size_t>(item.kind)];
                broker_.disconnect();
                timeline_.after(seconds{2}, [this] { broker_.connect(); });
                break;
            case Kind::crash:
                if (item.in_mid_claim)
                    in_mid_claim_ = &item;
                else
                    crash_soon(item);
                break;
            case Kind::disk_full:
                ++writes_failing_;
                timeline_.after(item.length, [this] { --writes_failing_; });
                break;
            case Kind::paused:
                ++tally_.faults[static_cast<std::size_t>(item.kind)];
                trace_.line("- " + describe(item));
                (void)pause_.pause("alice", "a test");
                timeline_.after(item.length, [this] { resume(); });
                break;
            case Kind::resumed:
                ++tally_.faults[static_cast<std::size_t>(item.kind)];
                trace_.line("- " + describe(item));
                resume();
                break;
            case Kind::reload:
            case Kind::reservation_changed:
            case Kind::takeover:
            case Kind::lease_lost:
                if (item.in_mid_cull)
                    in_mid_cull_.push_back(&item);
                else if (!item.at_write.empty())
                    at_write_.push_back(&item);
                else if (item.kind == Kind::lease_lost)
                    crash_soon(*(losing_ = &item));
                else if (item.kind == Kind::takeover)
                    take_over(item);
                else
                    reload(item);
                break;
            case Kind::client_leaves:
                trace_.line("- " + describe(item));
                gateway_.leave(item.percent);
                timeline_.after(item.length, [this] { gateway_.leave(0); });
                break;
            case Kind::other_gateway:
                trace_.line("- " + describe(item));
                gateway_.pass_by(item.percent);
                timeline_.after(item.length, [this] { gateway_.pass_by(0); });
                break;
            case Kind::metrics_fault:
                trace_.line("- " + describe(item));
                sold_->begin(item);
                break;
            case Kind::clock_step:
                ++tally_.faults[static_cast<std::size_t>(item.kind)];
                trace_.line("- " + describe(item));
                timeline_.step(item.length);
                break;
            default:
                if (item.in_mid_cull)
                    in_mid_cull_.push_back(&item);
                else
                    actors_.begin(item);
                break;
        }
    });
}

/// Hosts that one project has for itself.
void Schedule::reserve_hosts() {
    if (plan_.tenant_hosts.empty()) return;
    auto& world = site_.world();
    cloudsim::Context context;
    context.is_admin = true;
    const auto by = std::make_shared<const cloudsim::Context>(context);
    auto& aggregate = site_.lifecycle().create_aggregate("tenants", "", by);
    aggregate.metadata["filter_tenant_id"] = world.identity.project_named("regular2")->id;
    for (const auto& name : plan_.tenant_hosts)
        site_.lifecycle().add_to_aggregate(aggregate, *world.nova.find_host(name), by);
}

/// What `reaper setup reservations --apply` makes.
void Schedule::make_register() {
    auto& world = site_.world();
    world.placement.add_class(reservation_register::resource_class);
    const auto id = *cloudsim::Uuid::parse(reservation_register::provider_id);
    world.placement.create_provider(id, reservation_register::provider_name, nullptr);
    cloudsim::Inventory inventory;
    inventory.total = 0x7fffffff;
    world.placement.set_inventories(
        *world.placement.find(id),
        {{world.names.id(reservation_register::resource_class), inventory}}, 0);
}

void Schedule::sell_room() {
    auto& world = site_.world();
    world.placement.add_class(sold_class.str());
    for (const auto& [name, vcpus] : {std::pair{"tiny-sold", 1}, std::pair{"small-sold", 2}}) {
        cloudsim::Flavor flavor;
        flavor.id = world.rng.uuid().text();
        flavor.name = name;
        flavor.vcpus = vcpus;
        flavor.memory_mb = 1'024;
        flavor.root_gb = 10;
        flavor.extra_specs = {{"resources:VCPU", "0"},
                              {"resources_revocable:" + sold_class.str(), std::to_string(vcpus)}};
        world.nova.flavors.push_back(std::make_shared<const cloudsim::Flavor>(std::move(flavor)));
    }
    sold_.emplace(plan_, timeline_, site_, truth_, tally_.faults);
    checker_.watch(*sold_);
}

void Schedule::resume() {
    (void)pause_.resume();
    // With a shared journal, the command is given on one machine, which may be that of a standby.
    if (plan_.shares_journal()) pause_.resumed = timeline_.true_now();
    for (std::size_t machine = 0; machine < (plan_.shares_journal() ? 1U : breakers_.size());
         ++machine)
        (void)breakers_[machine].resume();
    checker_.on_resume();
}

void Schedule::crash_soon(const Item& item) {
    crash_in_ = item.amount;
    restart_after_ = item.length;
}

void Schedule::take_over(const Item& item) {
    crash_soon(item);
    taken_over_ = true;
    stops_ = item.orderly;
}

void Schedule::reload(const Item& item) {
    ++tally_.faults[static_cast<std::size_t>(item.kind)];
    trace_.line("- " + describe(item));
    configured_ = reloaded_by(plan_, item, configured_);
    checker_.on_reload(configured_);
    if (process_) process_->reload(plan_, configured_);
}

/// Slightly later, as the cloud is still at work.
void Schedule::on_deletion() {
    const auto due = std::exchange(in_mid_cull_, {});
    for (const Item* item : due)
        timeline_.after(Duration{}, [this, item] {
            if (item->kind == Kind::reload)
                reload(*item);
            else if (item->kind == Kind::takeover)
                take_over(*item);
            else if (item->kind == Kind::lease_lost)
                crash_soon(*(losing_ = item));
            else
                actors_.begin(*item);
        });
}

void Schedule::start() {
    if (plan_.shares_journal() && !journal().take_lease(
                                      "machine " + std::to_string(machine_),
                                      [this] { return timeline_.true_now(); }, &pause_)) {
        timeline_.at(journal().lease_ends(), [this] { start(); });
        return;
    }
    trace_.line("the reaper starts");
    journal().cut_off = false;
    ++run_;
    network_.begin_process();
    checker_.on_start();
    process_ =
        std::make_unique<Process>(plan_, configured_, timeline_, network_, broker_, journal(),
                                  pause_, breakers_[machine_], site_, sold_ ? &*sold_ : nullptr);
    gateway_.ask_of(process_.get());
}

void Schedule::kill() {
    crash_in_.reset();
    if (!process_) return;
    const bool in_order = std::exchange(stopping_, false) && process_->ended();
    if (in_order) journal().give_back_lease();
    trace_.line(in_order ? "it stopped" : "kill -9");
    if (!in_order) ++tally_.crashes;
    held_up_ = losing_ = nullptr;
    stops_ = false;
    if (plan_.with_gateway()) count_waits();
    const bool taken_over = std::exchange(taken_over_, false);
    ++tally_.faults[static_cast<std::size_t>(taken_over ? Kind::takeover : Kind::crash)];
    gateway_.ask_of(nullptr);
    process_.reset();
    broker_.disconnect();
    checker_.on_kill();
    if (taken_over) {
        trace_.line("another machine takes over");
        machine_ = next_machine();
        if (!plan_.shares_journal()) checker_.on_takeover(machine_);
    }
    timeline_.after(restart_after_, [this] { start(); });
}

/// One whose last reaper has ended.
std::size_t Schedule::next_machine() const {
    const auto machines = plan_.shares_journal() ? static_cast<std::size_t>(plan_.reapers) : 2U;
    std::size_t next = (machine_ + 1) % machines;
    while (std::any_of(displaced_.begin(), displaced_.end(),
                       [&](const Displaced& each) { return each.machine == next; }))
        next = (next + 1) % machines;
    return next;
}

/// The active reaper is held up, until its lease ends or it comes back.
void Schedule::lose_lease(const Item& item) {
    crash_in_.reset();
    if (held_up_ != nullptr || stopping_) return;
    ++tally_.faults[static_cast<std::size_t>(item.kind)];
    trace_.line("- " + describe(item));
    held_up_ = &item;
    if (is_frozen()) {
        broker_.freeze();
        gateway_.ask_of(nullptr);
    } else {
        journal().cut_off = true;
    }
    timeline_.after(item.length,
                    [this, machine = machine_, run = run_] { come_back(machine, run); });
    timeline_.at(journal().lease_ends(), [this, run = run_] { replace(run); });
}

/// Its lease has ended: another takes over.
void Schedule::replace(std::uint64_t run) {
    if (run != run_ || held_up_ == nullptr) return;
    if (journal().lease_ends() > timeline_.true_now()) {
        timeline_.at(journal().lease_ends(), [this, run] { replace(run); });
        return;
    }
    const std::size_t next = next_machine();
    if (next == machine_) return;
    trace_.line("another machine takes over from one that is held up");
    ++tally_.displaced;
    broker_.freeze();
    gateway_.ask_of(nullptr);
    checker_.on_kill();
    displaced_.push_back({machine_, is_frozen(), std::move(process_)});
    held_up_ = nullptr;
    machine_ = next;
    start();
}

void Schedule::come_back(std::size_t machine, std::uint64_t run) {
    if (run == run_) {
        if (held_up_ == nullptr) return;
        trace_.line("the reaper comes back in time");
        journal().cut_off = false;
        const bool frozen = is_frozen();
        held_up_ = nullptr;
        if (!frozen) return;
        broker_.thaw();
        gateway_.ask_of(process_.get());
        return;
    }
    for (Displaced& each : displaced_) {
        if (each.machine != machine) continue;
        trace_.line("a reaper that lost its lease comes back");
        journals_[machine].cut_off = false;
        each.frozen = false;
    }
}

/// They end by themselves.
void Schedule::drain_displaced() {
    std::erase_if(displaced_, [this](Displaced& each) {
        try {
            while (!each.frozen && !each.process->ended() && each.process->poll_one()) {
            }
        } catch (const std::exception& error) {
            checker_.on_reaper_died(error.what());
            return true;
        }
        if (each.process->ended()) trace_.line("it ends: " + *each.process->ended());
        return each.process->ended().has_value();
    });
}

/// In good order: it ends when it has given everything back.
void Schedule::stop() {
    crash_in_.reset();
    trace_.line("the reaper is to stop");
    stopping_ = true;
    process_->stop();
}

/// What nova-scheduler waits for when the reaper crashes.
void Schedule::count_waits() {
    bool searches = false, claims = false, served = false;
    for (const GatewayWait& wait : gateway_.waits()) {
        (wait.method == "GET" ? searches : claims) = true;
        const auto record = journal().records.find(RequestId{wait.request});
        if (record == journal().records.end() || record->second.outcome) continue;
        auto& in_service =
            wait.method == "GET" ? tally_.crashes_serving_search : tally_.crashes_serving_claim;
        ++in_service;
        served = served || !record->second.steps.empty();
    }
    tally_.crashes_with_search += searches;
    tally_.crashes_with_claim += claims;
    tally_.crashes_in_cull += served;
    tally_.crashes_with_escrow += checker_.keeps_room();
}

void Schedule::drain() {
    drain_displaced();
    while (process_ && !is_frozen()) {
        if (crash_in_ && --*crash_in_ < 0) {
            if (const Item* const item = std::exchange(losing_, nullptr)) {
                lose_lease(*item);
            } else if (std::exchange(stops_, false)) {
                stop();
            } else {
                kill();
                return;
            }
            continue;
        }
        try {
            if (!process_->poll_one()) return;
        } catch (const std::exception& error) {
            checker_.on_reaper_died(error.what());
            gateway_.ask_of(nullptr);
            process_.reset();
            return;
        }
        // One that can't read its journal ends, and is started again.
        const auto& ended = process_->ended();
        if (ended &&
            (stopping_ || journal().cut_off || ended->find("may have it") != ended->npos)) {
            taken_over_ = taken_over_ || stopping_;
            kill();
            return;
        }
        if (ended) {
            checker_.on_reaper_died(*ended);
            gateway_.ask_of(nullptr);
            process_.reset();
            return;
        }
    }
}

bool Schedule::settled() const {
    if (!process_ || held_up_ != nullptr || !displaced_.empty() || actors_.pending() > 0 ||
        broker_.unacknowledged() > 0)
        return false;
    for (const auto& [id, record] : journals_[machine_].records)
        if (!record.outcome) return false;
    return !checker_.awaits_end_of_hold() && !checker_.awaits_freed_room() &&
           !checker_.awaits_end_of_keeping() && !checker_.awaits_reservations() &&
           !checker_.awaits_sold_room() && !checker_.awaits_shelved();
}

bool Schedule::advance() {
    if (timeline_.run_due()) return true;
    if (site_.world().clock.run_due() > 0) {
        truth_.record();
        return true;
    }
    auto next = timeline_.next();
    if (const auto cloud = site_.world().clock.until_next()) {
        const TimePoint at = timeline_.true_now() + std::chrono::ceil<Duration>(*cloud);
        next = next ? std::min(*next, at) : at;
    }
    if (!next || *next > limit_) return false;
    timeline_.move_to(*next);
    return true;
}

ScheduleResult Schedule::run() {
    Backoff::seed(static_cast<unsigned>(plan_.seed));
    truth_.record();
    const TimePoint begin = timeline_.true_now();
    const TimePoint calm = calm_from();
    limit_ =
        calm + plan_.trigger.max_age + plan_.cull.deadline * plan_.cull.max_rounds + minutes{10};
    if (plan_.with_notice()) limit_ += 2 * longest_notice;
    // A change without an event is seen when the host is read again.
    const bool untold =
        plan_.has(Kind::info_lost) || plan_.has(Kind::deletion_lost) || plan_.has(Kind::class_lost);
    if (plan_.with_reservations() && untold) limit_ += plan_.cache.host_max_age;
    for (std::size_t i = 0; i < plan_.items.size(); ++i)
        if (!without_.contains(i)) arm(plan_.items[i]);
    if (sold_) sold_->begin();
    start();
    do {
        drain();
        if (timeline_.true_now() <= calm) continue;
        checker_.sync_plans();  // their promises may be over
        if (settled()) break;
    } while (advance());
    checker_.at_the_end(broker_);
    for (const Displaced& each : displaced_)
        checker_.blame("fence", "the reaper of machine " + std::to_string(each.machine) +
                                    " lost its lease, and does not end");
    if (plan_.shares_journal()) ++tally_.with_shared_journal;
    if (plan_.with_gateway()) ++tally_.through_gateway;
    const GatewayCounted& asked = gateway_.counted();
    tally_.searches += asked.calls;
    tally_.left_searches += asked.left_searches;
    tally_.left_claims += asked.left_claims;
    tally_.faults[static_cast<std::size_t>(Kind::client_leaves)] +=
        asked.left_searches + asked.left_claims;
    tally_.faults[static_cast<std::size_t>(Kind::other_gateway)] += asked.passed_by;
    ScheduleResult result;
    result.virtual_time = timeline_.true_now() - begin;
    gateway_.ask_of(nullptr);
    process_.reset();
    result.violations = checker_.violations();
    result.trace_hash = trace_.hash();
    ++tally_.schedules;
    if (plan_.by_class()) ++tally_.by_class;
    if (plan_.with_reservations()) ++tally_.with_reservations;
    if (plan_.sold) ++tally_.with_sold_room;
    if (const auto order = describe_objective(plan_); !order.empty())
        ++tally_.orders[order.substr(4)];
    return result;
}

}  // namespace

ScheduleResult run_schedule(const SchedulePlan& plan, const std::set<std::size_t>& without,
                            bool verbose, Tally& tally) {
    Schedule schedule(plan, without, verbose, tally);
    return schedule.run();
}

}  // namespace reaper::faults
