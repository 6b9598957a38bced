#include "reaper/service/picture_keeper.hpp"

#include <algorithm>
#include <cmath>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/planner/planner.hpp"
#include "reaper/service/bulk_reader.hpp"
#include "reaper/service/decision.hpp"

namespace reaper {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration tick = duration_cast<Duration>(milliseconds{500});
/// A host is read again in the background only when nothing happened to it for so long.
constexpr Duration settling = duration_cast<Duration>(seconds{3});
/// Between two bulk readings that nobody waits for.
constexpr Duration between_builds = duration_cast<Duration>(seconds{30});
/// How long the first reading waits for events to flow.
constexpr Duration patience = duration_cast<Duration>(seconds{5});
constexpr Duration longest_pause = duration_cast<Duration>(std::chrono::minutes{2});
/// Readings of different hosts for one decision, one after the other, before it is given up.
constexpr int most_rounds = 24;
/// Hosts that are read again before a request is refused for want of room.
constexpr std::size_t second_looks = 16;
constexpr int hosts_at_a_time = 16;
/// Shapes of requests that the planner searches for in advance, and hosts that it searches for all
/// of them at each tick: some milliseconds of work.
constexpr std::size_t most_expected = 8;
constexpr std::size_t warm_hosts = 200;
/// While a bulk reading goes on. More than that, and it is done again.
constexpr std::size_t most_recorded = 200'000;

}  // namespace

PictureKeeper::PictureKeeper(boost::asio::any_io_executor executor, CloudPorts ports,
                             config::LivePicture settings,
                             std::shared_ptr<const CompiledPolicy> policy, const bool& stopping,
                             std::function<void()> on_change)
    : ports_(ports),
      settings_(settings),
      policy_(std::move(policy)),
      stopping_(stopping),
      on_change_(std::move(on_change)),
      building_(executor, 1),
      started_at_(ports.clock.now()) {}

// ---- bulk ----

/// Is the picture good enough for a decision before which so many bulk readings had begun?
bool PictureKeeper::usable(std::uint64_t builds_before) const {
    if (build_ > builds_before) return true;
    // What was missed can't be known.
    if (!flowing_ || build_ <= builds_before_flow_) return false;
    return ports_.clock.now() - built_at_ <= settings_.max_age;
}

/// Is a bulk reading due that nobody waits for?
bool PictureKeeper::rebuild_due(TimePoint now) const {
    if (tried_build_at_ != TimePoint{} && now - tried_build_at_ < between_builds) return false;
    // What is read before events flow must be read again.
    const bool await_events = settings_.events && !flowing_ && now - started_at_ < patience;
    if (!built()) return !await_events;
    if (!flowing_) return false;  // each decision reads for itself
    return build_ <= builds_before_flow_ || picture_.structure_doubtful() ||
           now - built_at_ > settings_.max_age / 2;
}

ResultTask<void> PictureKeeper::ensure_usable(std::uint64_t builds_before) {
    if (usable(builds_before)) co_return Result<void>{};
    const auto permit = co_await building_.acquire();
    if (usable(builds_before)) co_return Result<void>{};  // while we waited
    co_return co_await rebuild();
}

ResultTask<void> PictureKeeper::rebuild() {
    const auto policy = policy_;
    const std::uint64_t number = ++builds_begun_;
    tried_build_at_ = ports_.clock.now();
    recording_ = true;
    overflowed_ = false;
    recorded_.clear();
    Tell tell = [this](const std::string& what) {
        doing_ = what;
        on_change_();
    };
    auto read = co_await read_bulk_picture(ports_, policy->taggers, std::move(tell));
    recording_ = false;
    doing_.clear();
    if (!read) {
        recorded_.clear();
        co_return read.error();
    }

    const bool first = !built();
    built_at_ = services_at_ = read->snapshot.taken_at;
    build_ = number;
    cold_ = true;
    picture_.protect(policy->protection);
    picture_.replace(std::move(read->snapshot), taggers_of(policy), std::move(read->facts));
    for (const auto& [event, arrived] : recorded_) picture_.apply(event, arrived);
    recorded_.clear();
    recorded_.shrink_to_fit();
    // The lists were many times what is kept of them.
    ::malloc_trim(0);
    if (overflowed_) builds_before_flow_ = number;
    const auto took = duration_cast<milliseconds>(ports_.clock.now() - built_at_);
    const PictureAges ages = picture_.ages();
    spdlog::log(first ? spdlog::level::info : spdlog::level::debug,
                "picture of the cloud: {} hosts with {} servers, read in {} ms", ages.hosts,
                ages.servers, took.count());
    if (first)
        for (auto& shape : picture_.common_shapes(most_expected)) {
            Request likely;
            likely.resources = std::move(shape);
            expected_.push_back(std::move(likely));
        }
    on_change_();
    if (first)
        for (const auto& remark : picture_.remarks()) spdlog::warn("picture: {}", remark);
    co_return Result<void>{};
}

// ---- parts ----

ResultTask<void> PictureKeeper::refresh_facts(std::shared_ptr<const CompiledPolicy> policy) {
    TagQuestions questions = policy->questions();
    auto facts = co_await read_tag_facts(ports_, std::move(questions));
    if (!facts) co_return facts.error();
    picture_.retag(taggers_of(policy), std::move(*facts));
    picture_.protect(policy->protection);
    co_return Result<void>{};
}

ResultTask<void> PictureKeeper::refresh_services() {
    const TimePoint began = ports_.clock.now();
    auto services = co_await ports_.compute.compute_services();
    if (!services) co_return services.error();
    picture_.set_services(*services);
    services_at_ = began;
    co_return Result<void>{};
}

ResultTask<void> PictureKeeper::refresh_aggregates() {
    auto aggregates = co_await ports_.compute.aggregates();
    if (!aggregates) co_return aggregates.error();
    picture_.set_aggregates(*aggregates);
    co_return co_await refresh_services();  // they tell the zone
}

// ---- hosts ----

/// Hosts that the decision rests on and that were not read for it yet. Of a refusal: those that
/// came nearest, once.
std::vector<HostId> PictureKeeper::unread_hosts(const Decision& decision,
                                                const std::set<HostId>& fresh,
                                                bool second_look) const {
    std::vector<HostId> ids;
    const auto look = [&](const HostId& id) {
        if (!fresh.contains(id)) ids.push_back(id);
    };
    if (const auto* plan = std::get_if<Plan>(&decision))
        for (const auto& host : plan->hosts) look(host.host);
    if (const auto* nothing = std::get_if<NothingToDo>(&decision))
        for (const auto& host : nothing->hosts) look(host.host);
    if (const auto* not_enough = std::get_if<NotEnough>(&decision); not_enough && second_look)
        for (const auto& rejection : not_enough->rejected) {
            const bool near = rejection.code == RejectionCode::not_enough_revocable;
            if (near && ids.size() < second_looks) look(rejection.host);
        }
    return ids;
}

ResultTask<void> PictureKeeper::read_hosts(std::vector<HostId> ids, HostDepth depth) {
    std::optional<Error> error;
    for (std::size_t from = 0; from < ids.size() && !error; from += hosts_at_a_time) {
        std::vector<Task<void>> reads;
        const std::size_t to = std::min(ids.size(), from + hosts_at_a_time);
        for (std::size_t i = from; i < to; ++i) reads.push_back(read_one(ids[i], depth, error));
        co_await run_all(std::move(reads));
    }
    if (error) co_return *error;
    co_return Result<void>{};
}

Task<void> PictureKeeper::read_one(HostId id, HostDepth depth, std::optional<Error>& error) {
    const Host* const host = picture_.find(id);
    if (host == nullptr) co_return;
    std::string service_host = host->service_host;
    std::vector<ProviderId> providers;
    for (const auto& provider : host->providers) providers.push_back(provider.id);
    auto reading =
        co_await read_host(ports_, id, std::move(service_host), std::move(providers), depth);
    if (reading) {
        picture_.apply(*reading);
        cold_ = true;
    } else if (reading.error().code == Errc::not_found) {
        picture_.erase(id);
    } else if (!error) {
        error = reading.error();
    }
}

// ---- decisions ----

ResultTask<Decision> PictureKeeper::decide(std::shared_ptr<const CompiledPolicy> policy,
                                           const Request& request, Ledger& ledger,
                                           std::map<ServerId, std::string> spared) {
    const std::uint64_t builds_before = builds_begun_;
    auto usable_now = co_await ensure_usable(builds_before);
    if (!usable_now) co_return usable_now.error();
    auto facts = co_await refresh_facts(policy);
    if (!facts) co_return facts.error();

    expect(request);
    bool second_look = true;
    bool third_look = true;
    std::set<HostId> fresh;
    std::uint64_t build = build_;
    for (int round = 0; round < most_rounds; ++round) {
        if (build != build_) {
            // A bulk reading in the background took the place of what was read for this decision.
            fresh.clear();
            build = build_;
            facts = co_await refresh_facts(policy);
            if (!facts) co_return facts.error();
        }
        expire(ledger);
        Decision decision = reaper::decide(*policy, request, picture_.index(), picture_.facts(),
                                           ledger, ports_.clock.now(), spared);
        auto unread = unread_hosts(decision, fresh, second_look);
        const bool refused = std::holds_alternative<NotEnough>(decision);
        const bool read_for_it = build_ > builds_before;
        if (unread.empty() && !(refused && !read_for_it && (second_look || third_look)))
            co_return decision;
        if (refused && second_look) {
            // A host that was down or disabled may be back.
            second_look = false;
            auto services = co_await refresh_aggregates();
            if (!services) co_return services.error();
        } else if (refused) {
            // Nobody is refused for a picture that missed something; but not for every one a
            // reading of the whole cloud.
            third_look = false;
            if (ports_.clock.now() - tried_build_at_ >= between_builds) {
                const auto permit = co_await building_.acquire();
                auto again = co_await rebuild();
                if (!again) co_return again.error();
            }
        }
        fresh.insert(unread.begin(), unread.end());
        auto read = co_await read_hosts(std::move(unread), HostDepth::state);
        if (!read) co_return read.error();
    }
    co_return Error{Errc::conflict, "the cloud changes faster than it can be read: after " +
                                        std::to_string(most_rounds) +
                                        " readings the decision still rests on other hosts"};
}

void PictureKeeper::expire(Ledger& ledger) {
    const auto lookup = [this](const HostId& id) { return picture_.find(id); };
    auto settled = ledger.expire(lookup, ports_.clock.now());
    settled_.insert(settled_.end(), std::make_move_iterator(settled.begin()),
                    std::make_move_iterator(settled.end()));
}

std::vector<Ledger::Settled> PictureKeeper::settled(Ledger& ledger) {
    if (built()) expire(ledger);
    return std::exchange(settled_, {});
}

ResultTask<void> PictureKeeper::look_at(std::vector<HostId> hosts) {
    if (!built()) co_return Error{Errc::unreachable, "there is no picture of the cloud yet"};
    co_return co_await read_hosts(std::move(hosts), HostDepth::all);
}

void PictureKeeper::on_clock_step(Duration by) {
    // What was read stays as old as it is; what the hosts' own times mean now, a new reading tells.
    for (TimePoint* time : {&built_at_, &tried_build_at_, &started_at_, &services_at_})
        if (*time != TimePoint{}) *time += by;
    quiet_until_ = {};
    builds_before_flow_ = builds_begun_;
}

/// Who asks for a shape is likely to ask for it again.
void PictureKeeper::expect(const Request& request) {
    const auto like = [&](const Request& other) { return other.resources == request.resources; };
    cold_ = true;
    std::erase_if(expected_, like);
    expected_.push_front(request);
    if (expected_.size() > most_expected) expected_.pop_back();
}

void PictureKeeper::warm_planner() {
    if (!cold_) return;
    PlanOptions options;
    options.alternatives = policy_->alternatives;
    options.now = ports_.clock.now();
    const Ledger nothing;
    std::size_t left = warm_hosts;
    for (const Request& request : expected_) {
        if (left == 0) break;
        options.seed = seed_of(request.id);
        left -= std::min(
            left, warm_up(request, picture_.index(), nothing, *policy_->strategy, options, left));
    }
    cold_ = left < warm_hosts;
}

// ---- background ----

Task<void> PictureKeeper::run() {
    while (!stopping_) {
        co_await tend();
        co_await ports_.clock.sleep(tick);
    }
}

void PictureKeeper::on_feed(const EventFeedState& state) {
    if (state.flowing == flowing_) return;
    flowing_ = state.flowing;
    if (flowing_) {
        builds_before_flow_ = builds_begun_;
        spdlog::info("picture: Nova's events flow");
    } else {
        spdlog::warn("picture: no events, so the cloud is read for each decision: {}",
                     state.detail);
    }
    on_change_();
}

void PictureKeeper::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.clock.now();
    for (auto& event : events) {
        if (built()) picture_.apply(event, now);
        cold_ = true;
        if (!recording_) continue;
        if (recorded_.size() < most_recorded)
            recorded_.emplace_back(std::move(event), now);
        else
            overflowed_ = true;
    }
}

Task<void> PictureKeeper::tend() {
    const TimePoint now = ports_.clock.now();
    if (now < quiet_until_) co_return;
    const bool good = co_await tend_parts();
    if (good) {
        pause_ = Duration::zero();
        co_return;
    }
    pause_ = std::clamp(pause_ * 2, duration_cast<Duration>(seconds{1}), longest_pause);
    quiet_until_ = ports_.clock.now() + pause_;
}

/// False if something could not be read: the next try is later.
Task<bool> PictureKeeper::tend_parts() {
    const TimePoint now = ports_.clock.now();
    Result<void> done;
    if (rebuild_due(now)) {
        const auto permit = co_await building_.acquire();
        if (rebuild_due(ports_.clock.now())) done = co_await rebuild();
    } else if (!built() || !flowing_) {
        co_return true;
    } else if (picture_.aggregates_doubtful()) {
        done = co_await refresh_aggregates();
    } else if (now - services_at_ >= settings_.services_interval) {
        done = co_await refresh_services();
    }
    if (!done) {
        spdlog::warn("picture: not refreshed, trying again: {}", done.error().what);
        co_return false;
    }
    const double per_tick =
        settings_.hosts_per_second * duration_cast<milliseconds>(tick).count() / 1000.0;
    allowance_ = std::min(allowance_ + per_tick, std::max(1.0, per_tick * 2));
    co_await reconcile();
    warm_planner();
    co_return true;
}

Task<void> PictureKeeper::reconcile() {
    const auto count = static_cast<std::size_t>(std::floor(allowance_));
    if (count == 0 || !built()) co_return;
    const TimePoint now = ports_.clock.now();
    auto due = picture_.due(count, now - settling, now - settings_.host_max_age);
    if (due.empty()) co_return;
    allowance_ -= static_cast<double>(due.size());
    auto read = co_await read_hosts(std::move(due), HostDepth::all);
    if (!read) spdlog::debug("picture: a host was not read: {}", read.error().what);
}

std::string PictureKeeper::status() const {
    if (!built()) return doing_.empty() ? "no picture yet" : "reading the cloud: " + doing_;
    const PictureAges ages = picture_.ages();
    const auto age = duration_cast<seconds>(ports_.clock.now() - ages.oldest_read_at);
    return std::to_string(ages.hosts) + " hosts, " + std::to_string(ages.servers) +
           " servers, read within " + std::to_string(age.count()) + " s" +
           (flowing_ ? "" : ", no events");
}

}  // namespace reaper
