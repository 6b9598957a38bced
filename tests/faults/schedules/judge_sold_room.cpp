// The judgement on oversubscribed room: it is published as what was measured allows, and who holds
// it goes only where more is held than is allowed, or where the host was loaded too much.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

namespace {

using std::chrono::seconds;

/// Between what the reaper decides and what it sends for that.
constexpr Duration decided_before = seconds{90};

/// From a measurement to the write that rests on it: an interval, and calls that are slow.
Duration may_take(const SchedulePlan& plan) {
    return plan.sold->publication.interval + plan.sold->publication.max_age + seconds{90};
}

}  // namespace

/// Of a provider below it, too.
std::string Checker::tree_of(const Uuid& provider) const {
    const auto* const found = site_.world().placement.find(provider);
    return found == nullptr ? "" : found->root->name;
}

bool Checker::sets_inventories(const cloudsim::Request& request) {
    const auto& path = request.path;
    return request.method == "PUT" && path.size() == 4 && path[0] == "placement" &&
           path[1] == "resource_providers" && path[3] == "inventories";
}

bool Checker::makes_provider(const cloudsim::Request& request) {
    const auto& path = request.path;
    return request.method == "POST" && path.size() == 2 && path[0] == "placement" &&
           path[1] == "resource_providers";
}

/// Before the cloud works on it.
void Checker::note_sold_room(const Exchange& call) {
    const auto id = Uuid::parse(call.request.path[2]);
    if (sold_ != nullptr && id) sold_before_ = sold_->published(tree_of(*id));
}

void Checker::judge_sold_room(const Exchange& call) {
    const auto id = Uuid::parse(call.request.path[2]);
    const std::string host = id ? tree_of(*id) : "";
    if (sold_ == nullptr || host.empty()) {
        blame("sold-room",
              "the reaper may not set inventories of provider " + call.request.path[2]);
        return;
    }
    const auto body = nlohmann::json::parse(call.request.body, nullptr, false);
    const auto inventories = body.value("inventories", nlohmann::json::object());
    for (const auto& [name, inventory] : inventories.items())
        if (name != sold_class.str())
            blame("sold-room", "inventory of " + name + " is set on " + host);
    if (call.response.status >= 300) return;
    const Amount after = sold_->published(host);
    trace_.line("sold room of " + host + ": " + std::to_string(sold_before_) + " -> " +
                std::to_string(after));
    const std::uint64_t epoch = broker_ == nullptr ? 0 : broker_->epoch();
    sold_writes_[call.number] = {host, sold_before_, after, epoch};
    if (after > sold_before_) judge_rise(call, host, after);
    if (after > sold_before_) judge_flaps(call, host);
    if (after < sold_before_) ++tally_.sold_falls;
}

void Checker::judge_rise(const Exchange& call, const std::string& host, Amount after) {
    ++tally_.sold_rises;
    const PublicationRules& rules = plan_.sold->publication;
    const auto cores = static_cast<double>(plan_.cloud.host.vcpus);
    const Amount step = std::max<Amount>(1, static_cast<Amount>(rules.rise_step * cores));
    const std::string what = "room of " + host + " rises from " + std::to_string(sold_before_) +
                             " to " + std::to_string(after);
    if (after - sold_before_ > step)
        blame("sold-room", what + ", and a step is " + std::to_string(step));
    if (call.sent_at - started_at_ < rules.rise_after)
        blame("sold-room", what + " right after the start");
    if (plan_.has(Kind::clock_step) || plan_.lies()) return;
    const TimePoint since = call.sent_at - may_take(plan_);
    const Amount most = sold_->most_allowed(host, since, call.sent_at);
    if (after > most)
        blame("sold-room", what + ", and at most " + std::to_string(most) + " were allowed");
    if (!plan_.sold->fixed && !sold_->told(since, call.sent_at))
        blame("sold-room", what + ", and its use was not reported");
}

/// A host that went up and down too often does not rise for a while.
void Checker::judge_flaps(const Exchange& call, const std::string& host) {
    const auto flaps = sold_flaps_.find(host);
    if (flaps == sold_flaps_.end() || sold_writes_.at(call.number).epoch != sold_epoch_) return;
    if (call.sent_at < flaps->second.left_alone_until && !plan_.has(Kind::clock_step) &&
        !plan_.lies())
        blame("sold-room", "room of " + host + " rises, which is to be left alone");
}

/// The reaper knows that it is written.
void Checker::on_sold_room_answer(const Exchange& call) {
    auto write = sold_writes_.extract(call.number);
    if (write.empty()) return;
    const auto& [host, before, after, epoch] = write.mapped();
    if (broker_ == nullptr || epoch != broker_->epoch()) return;
    if (epoch != sold_epoch_) sold_flaps_.clear();
    sold_epoch_ = epoch;
    SoldFlaps& flaps = sold_flaps_[host];
    if (after > before) flaps.rose = true;
    if (after >= before || !std::exchange(flaps.rose, false)) return;
    const PublicationRules& rules = plan_.sold->publication;
    std::erase_if(flaps.at, [&](TimePoint at) {
        return call.sent_at - at > rules.flap_window - decided_before;
    });
    flaps.at.push_back(call.sent_at);
    if (rules.flaps == 0 || flaps.at.size() < static_cast<std::size_t>(rules.flaps)) return;
    flaps.at.clear();
    flaps.left_alone_until = call.sent_at + rules.quiet.retry_after - decided_before;
    ++tally_.sold_left_alone;
}

void Checker::judge_correction(const Exchange& call, const Basis& basis,
                               const Correction& correction, PlanRecord& plan) {
    ++tally_.corrected;
    const std::string what = basis.server.text() + " goes from " + correction.host_name;
    if (sold_ == nullptr) {
        blame("correction", what + ", and nothing is sold");
        return;
    }
    if (plan_.has(Kind::clock_step) || plan_.lies()) return;
    // It is planned when it is found, and may wait for its turn.
    const TimePoint since = std::min(plan.at, call.sent_at) - may_take(plan_);
    const std::string& host = correction.host_name;
    if (plan.request.starts_with("qos-")) {
        judge_shed(basis, correction, plan, sold_->most_over(host, since, call.sent_at));
        return;
    }
    const Amount excess = plan_.sold->drain ? 0 : sold_->most_excess(host, since, call.sent_at);
    if (excess == 0) blame("correction", what + ", where no more is held than is allowed");
    // Without the last of them, enough would go.
    Amount others = 0;
    const HostState* const state = truth_.state_at(host, plan.at);
    for (const HostPlan& part : plan.plan->hosts)
        for (const Victim& victim : part.victims) {
            const auto id = Uuid::parse(victim.server.str());
            const Holder* const holder = state != nullptr && id ? state->holder(*id) : nullptr;
            if (holder != nullptr && *id != basis.server) others += holder->held.get(sold_class);
        }
    if (others >= excess)
        blame("correction", what + ", and " + std::to_string(others) +
                                " come free without it, of " + std::to_string(excess));
}

/// Those on sold room go first, and of each kind no more than it is too much.
void Checker::judge_shed(const Basis& basis, const Correction& correction, const PlanRecord& plan,
                         double over) {
    ++tally_.corrected_for_load;
    const std::string what =
        basis.server.text() + " goes from " + correction.host_name + " for its load";
    if (over <= 0) {
        blame("correction", what + ", which was not above what it may be");
        return;
    }
    if (plan_.sold->evict_all) return;
    static const ResourceClass vcpu{"VCPU"};
    Amount of_sold = 0, of_ordinary = 0;
    bool sold = true;
    const HostState* const state = truth_.state_at(correction.host_name, plan.at);
    for (const HostPlan& part : plan.plan->hosts)
        for (const Victim& victim : part.victims) {
            const auto id = Uuid::parse(victim.server.str());
            const Holder* const holder = state != nullptr && id ? state->holder(*id) : nullptr;
            if (holder == nullptr) continue;
            const bool on_sold = holder->held.get(sold_class) > 0;
            if (*id == basis.server)
                sold = on_sold;
            else
                (on_sold ? of_sold : of_ordinary) +=
                    holder->held.get(sold_class) + holder->held.get(vcpu);
        }
    const Amount others = of_sold + (sold ? 0 : of_ordinary);
    const auto needed = std::max<Amount>(1, static_cast<Amount>(std::ceil(over)));
    if (others >= needed)
        blame("correction", what + ", and " + std::to_string(others) +
                                " come free without it, of " + std::to_string(needed));
}

bool Checker::awaits_sold_room() const {
    return !wrong_sold_room().empty();
}

/// More for sale than was allowed for a while.
std::vector<std::string> Checker::wrong_sold_room() const {
    std::vector<std::string> wrong;
    if (sold_ == nullptr || plan_.dry_run || plan_.has(Kind::clock_step)) return wrong;
    const TimePoint now = timeline_.true_now();
    const TimePoint since = now - may_take(plan_);
    for (const auto& host : site_.world().nova.hosts) {
        const Amount published = sold_->published(host->name);
        const Amount most = std::max(sold_->most_allowed(host->name, since, now),
                                     sold_->most_held(host->name, since, now));
        if (published > most)
            wrong.push_back(std::to_string(published) + " are sold on " + host->name + ", and " +
                            std::to_string(most) + " are allowed");
    }
    return wrong;
}

}  // namespace reaper::faults
