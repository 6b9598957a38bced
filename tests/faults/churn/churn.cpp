#include "faults/churn/churn.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "faults/churn/last_words.hpp"
#include "faults/churn/possible.hpp"
#include "faults/churn/victims_room.hpp"
#include "faults/schedules/stage.hpp"

namespace reaper::faults {
namespace {

using cloudsim::Server;
using cloudsim::TaskState;
using cloudsim::Uuid;
using cloudsim::VmState;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string regular_project = "regular";
const std::string revocable_project = "spot";

/// Between two looks of a user.
constexpr Duration glance = milliseconds{50};
/// After its end, until everything has settled.
constexpr Duration aftermath = seconds{150};
/// A request that takes longer has failed.
constexpr Duration settles_within = seconds{90};
/// A regular server that comes later did not come for that room.
constexpr Duration comes_within = seconds{90};

/// One boot of a regular user.
struct Request {
    std::string id;
    std::string flavor;
    int servers = 0;
    std::vector<Uuid> ids;
    TimePoint at{};
    bool first = true;
    bool possible = false;
};

class Churn {
public:
    explicit Churn(const ChurnSetup& setup)
        : setup_(setup),
          stage_(lab_plan(setup.seed, setup.hosts, setup.delays)),
          room_(stage_.timeline(), stage_.world()),
          chance_(setup.seed ^ 0x05e1U) {
        for (const auto& host : stage_.world().nova.hosts)
            while (stage_.put(revocable_project, "small", host->name)) {
            }
        room_.begin();
        stage_.site().listen(room_);
    }

    ChurnFigures go() {
        stage_.start_reaper();
        stage_.run_for(seconds{20});
        end_ = stage_.now() + setup_.length;
        for (int i = 0; i < setup_.revocable_users; ++i)
            after(milliseconds{chance_.between(0, 2'000)}, [this] { boot_revocable(); });
        for (int i = 0; i < setup_.regular_users; ++i)
            after(milliseconds{chance_.between(1'000, 5'000)}, [this] { ask(); });
        stage_.run_for(setup_.length + aftermath);
        count_victims();
        return std::move(figures_);
    }

private:
    void after(Duration delay, std::function<void()> action) {
        stage_.timeline().after(delay, std::move(action));
    }
    bool is_over() const { return stage_.now() >= end_; }

    std::optional<Uuid> given_id() const {
        return setup_.one_id ? std::optional{Uuid{0x0ddba11, setup_.seed}} : std::nullopt;
    }

    // ---- regular users ----

    void ask() {
        if (is_over()) return;
        Request request;
        request.flavor = chance_.percent(50) ? "small" : "medium";
        request.servers = chance_.between(1, 2);
        boot(std::move(request));
    }

    void boot(Request request) {
        request.ids.clear();
        request.at = stage_.now();
        request.id =
            stage_.boot(regular_project, request.flavor, request.servers, request.ids, given_id());
        const Uuid first = request.ids.front();
        waiting_[first] = std::move(request);
        waiting_[first].possible = is_possible_now();
        settle(first);
    }

    std::int64_t vcpus_of(const Request& request) {
        return stage_.world().nova.find_flavor_name(request.flavor)->vcpus;
    }

    /// With all that wait.
    bool is_possible_now() {
        std::vector<std::int64_t> wanted;
        for (const auto& [id, request] : waiting_)
            for (const Uuid& server : request.ids)
                if (stage_.world().placement.find_consumer(server) == nullptr)
                    wanted.push_back(vcpus_of(request));
        return is_possible(stage_.world(), std::move(wanted));
    }

    void settle(const Uuid& id) {
        const Request& request = waiting_.at(id);
        int active = 0;
        int failed = 0;
        for (const Uuid& server : request.ids) {
            const Server* const found = stage_.find(server);
            const bool rests = found != nullptr && found->task == TaskState::none;
            active += rests && found->state == VmState::active;
            failed += found == nullptr || (rests && found->state == VmState::error);
        }
        const bool settled = active + failed == request.servers;
        if (!settled && stage_.now() - request.at < settles_within) {
            after(glance, [this, id] { settle(id); });
            return;
        }
        const bool possible = request.possible && (active == request.servers || is_possible_now());
        Request ended = request;
        ended.possible = possible;
        waiting_.erase(id);
        conclude(ended, active == ended.servers);
    }

    void conclude(const Request& request, bool served) {
        if (request.first) {
            ++figures_.asked;
            figures_.first += served;
            figures_.possible += request.possible || served;
            figures_.first_possible += served;
        }
        if (served) {
            figures_.waits.push_back(stage_.now() - request.at);
            if (died_for(request.id)) figures_.culls.push_back(figures_.waits.back());
            after(milliseconds{chance_.between(1'000, 4'000)},
                  [this, request] { give_back(request, false); });
            return;
        }
        ChurnFailure failure;
        failure.request = request.id;
        failure.asked = std::to_string(request.servers) + "x " + request.flavor;
        failure.first = request.first;
        failure.possible = request.possible;
        failure.told = words_.of(request.id);
        figures_.failures.push_back(std::move(failure));
        // Some come back, some do not.
        give_back(request, request.first && chance_.percent(50));
    }

    bool died_for(const std::string& request) const {
        const auto& records = stage_.journal().records;
        const auto record = records.find(RequestId{request});
        return record != records.end() && !victims_of(record->second).empty();
    }

    void give_back(const Request& request, bool comes_back) {
        for (const Uuid& id : request.ids) stage_.remove(regular_project, id);
        when_gone(request, comes_back);
    }

    /// Else there might be no way for the next one.
    void when_gone(const Request& request, bool comes_back) {
        const bool there = std::any_of(request.ids.begin(), request.ids.end(),
                                       [&](const Uuid& id) { return stage_.find(id) != nullptr; });
        if (there) {
            after(glance, [this, request, comes_back] { when_gone(request, comes_back); });
        } else if (comes_back) {
            Request again = request;
            again.first = false;
            after(milliseconds{chance_.between(1'000, 3'000)}, [this, again] { boot(again); });
        } else {
            after(milliseconds{chance_.between(100, 1'000)}, [this] { ask(); });
        }
    }

    // ---- revocable users ----

    /// One of them boots its next server, if not too many are under way.
    void boot_revocable() {
        if (stage_.now() >= end_ + aftermath / 2) return;
        if (under_way_ < setup_.under_way) {
            ++under_way_;
            std::vector<Uuid> ids;
            stage_.boot(revocable_project, "small", 1, ids, given_id());
            watch(ids.front());
        }
        after(milliseconds{chance_.between(500, 4'000)}, [this] { boot_revocable(); });
    }

    /// One that found no host is deleted; some that did are, too, or are locked for a while.
    void watch(const Uuid& id) {
        const Server* const server = stage_.find(id);
        if (server != nullptr && server->state == VmState::building) {
            after(glance, [this, id] { watch(id); });
            return;
        }
        --under_way_;
        if (server == nullptr) return;
        if (server->state == VmState::error) {
            stage_.remove(revocable_project, id);
            return;
        }
        ++figures_.revocable_boots;
        const int fate = chance_.between(0, 99);
        const Duration later = milliseconds{chance_.between(1'000, 60'000)};
        if (fate < 20) {
            after(later, [this, id] { stage_.remove(revocable_project, id); });
        } else if (fate < 25) {
            after(later, [this, id] { stage_.set_locked(revocable_project, id, true); });
            after(later + seconds{20},
                  [this, id] { stage_.set_locked(revocable_project, id, false); });
        }
    }

    // ---- in the end ----

    void count_victims() {
        std::set<Uuid> victims;
        for (const auto& [id, record] : stage_.journal().records) {
            int died = 0;
            for (const VictimEntry& victim : victims_of(record)) {
                const auto uuid = Uuid::parse(victim.server.str());
                if (!uuid || room_.gone_at(*uuid) == nullptr) continue;
                victims.insert(*uuid);
                ++died;
            }
            if (died == 0) continue;
            const auto& result = record.freed_room;
            figures_.room_went[result ? std::string{to_string(result->kind)} : "not known"] += died;
        }
        figures_.victims = static_cast<int>(victims.size());
        figures_.unused = static_cast<int>(room_.unused(victims, comes_within).size());
        for (const JournalEvent& event : stage_.journal().noted_marks)
            figures_.breakers += event.kind.ends_with("breaker-opened");
        for (ChurnFailure& failure : figures_.failures) {
            const auto& records = stage_.journal().records;
            const auto record = records.find(RequestId{failure.request});
            const bool ended = record != records.end() && record->second.outcome;
            failure.outcome = "nothing";
            if (ended)
                failure.outcome = std::string{to_string(record->second.outcome->kind)} + ": " +
                                  record->second.outcome->reason;
        }
    }

    const ChurnSetup setup_;
    LastWords words_;
    Stage stage_;
    VictimsRoom room_;
    Chance chance_;
    TimePoint end_{};
    std::map<Uuid, Request> waiting_;  ///< by their first server
    int under_way_ = 0;
    ChurnFigures figures_;
};

void append(std::vector<Duration>& all, const std::vector<Duration>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

void ChurnFigures::add(const ChurnFigures& other) {
    asked += other.asked;
    first += other.first;
    possible += other.possible;
    first_possible += other.first_possible;
    victims += other.victims;
    unused += other.unused;
    breakers += other.breakers;
    revocable_boots += other.revocable_boots;
    append(waits, other.waits);
    append(culls, other.culls);
    for (const auto& [kind, count] : other.room_went) room_went[kind] += count;
    failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

SchedulePlan lab_plan(std::uint64_t seed, int hosts, const cloudsim::Delays& delays) {
    SchedulePlan plan;
    plan.seed = seed;
    auto& cloud = plan.cloud;
    cloud.seed = seed;
    cloud.hosts = hosts;
    cloud.host.vcpus = 10;
    cloud.host.memory_mb = 8'192;
    cloud.host.disk_gb = 1'028;
    cloud.flavors = {{"small", {2, 1'024, 20, 0, 0, {}}},
                     {"medium", {5, 2'048, 20, 0, 0, {}}},
                     {"large", {10, 4'096, 40, 0, 0, {}}}};
    cloud.delays = delays;
    cloud.log_limit = 1'000;
    fill_defaults(cloud);
    config::Plugin project;
    project.name = "project";
    plan.policy.taggers.push_back(project);
    plan.policy.strategy.name = "cost";
    // Its users are gone within seconds, all the time: this is what these are against.
    plan.policy.safeguards.short_lived.allowance = 0;
    plan.policy.safeguards.limits.share_per_requester = 0;
    plan.cull.watch = seconds{100};  // known before a run ends
    plan.gateway.listen = "127.0.0.1:8780";
    return plan;
}

ChurnFigures churn(const ChurnSetup& setup) {
    return Churn{setup}.go();
}

}  // namespace reaper::faults
