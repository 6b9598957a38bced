#include "reaper/cloud/reader/cache_refresher.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// Servers of one host that vanish at once, and are asked for.
constexpr std::size_t most_unlisted = 16;

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// How long the first reading waits for events to flow.
constexpr Duration patience = duration_cast<Duration>(seconds{5});
constexpr int hosts_at_a_time = 16;
/// A host is read again in the background only when nothing happened to it for this long.
constexpr Duration settling = duration_cast<Duration>(seconds{3});
/// While a bulk reading goes on. More than that, and it is done again.
constexpr std::size_t max_recorded = 200'000;
/// From a refusal for want of a right until it is asked again.
constexpr Duration right_asked_again = std::chrono::hours{1};

}  // namespace

CacheRefresher::CacheRefresher(boost::asio::any_io_executor executor, CloudPorts ports,
                               config::Cache settings, std::shared_ptr<const CompiledPolicy> policy,
                               std::function<void()> on_change)
    : ports_(ports),
      settings_(settings),
      policy_(std::move(policy)),
      on_change_(std::move(on_change)),
      building_(executor, 1),
      tagging_(executor, 1),
      unfinished_(ports),
      lock_holders_(ports),
      started_at_(ports.clock.now()) {}

// ---- bulk ----

/// Is the cache good enough for a decision before which so many bulk readings had begun?
bool CacheRefresher::usable(std::uint64_t builds_before) const {
    if (build_ > builds_before) return true;
    // What was missed can't be known.
    if (!flowing_ || build_ <= builds_before_flow_) return false;
    return ports_.clock.now() - built_at_ <= settings_.max_age;
}

/// Is a bulk reading due that no request waits for?
bool CacheRefresher::rebuild_due(TimePoint now) const {
    // Refused credentials cost no call: they are tried again as soon as it is asked for.
    const bool refused = not_built_ && not_built_->code == Errc::unauthorized;
    if (tried_build_at_ != TimePoint{} && now - tried_build_at_ < between_builds && !refused)
        return false;
    // What is read before events flow must be read again.
    const bool await_events = settings_.events && !flowing_ && now - started_at_ < patience;
    if (!built()) return !await_events;
    if (!flowing_) return false;  // each decision reads for itself
    return build_ <= builds_before_flow_ || cache_.structure_stale() ||
           now - built_at_ > settings_.max_age / 2;
}

ResultTask<void> CacheRefresher::ensure_usable(std::uint64_t builds_before) {
    if (usable(builds_before)) co_return Result<void>{};
    const auto permit = co_await building_.acquire();
    if (usable(builds_before)) co_return Result<void>{};  // while we waited
    co_return co_await rebuild();
}

ResultTask<void> CacheRefresher::rebuild_unless_recent() {
    if (ports_.clock.now() - tried_build_at_ < between_builds) co_return Result<void>{};
    const auto permit = co_await building_.acquire();
    co_return co_await rebuild();
}

ResultTask<void> CacheRefresher::rebuild() {
    const auto policy = policy_;
    const std::uint64_t number = ++builds_begun_;
    const std::uint64_t clock_steps = clock_steps_;
    tried_build_at_ = ports_.clock.now();
    recording_ = true;
    overflowed_ = false;
    recorded_.clear();
    ProgressCallback tell = [this](const std::string& what) {
        doing_ = what;
        on_change_();
    };
    auto read = co_await read_cloud(ports_, unfinished_, policy->taggers, CloudDepth::bulk,
                                    std::move(tell));
    recording_ = false;
    doing_.clear();
    if (!read) {
        recorded_.clear();
        not_built_ = read.error();
        co_return read.error();
    }
    // Its times are not those of what comes next.
    if (clock_steps != clock_steps_) co_return co_await rebuild();
    not_built_.reset();

    const bool first = !built();
    built_at_ = services_at_ = read->snapshot.taken_at;
    build_ = number;
    ++changes_;
    see_cells(std::move(read->several_cells), *policy);
    cache_.protect(policy->protection);
    cache_.replace(std::move(read->snapshot), taggers_of(policy), std::move(read->tag_data));
    remember_soft_deletions();
    for (const auto& [event, arrived] : recorded_) cache_.apply(event, arrived);
    recorded_.clear();
    recorded_.shrink_to_fit();
    if (overflowed_) builds_before_flow_ = number;
    const auto took = duration_cast<milliseconds>(ports_.clock.now() - built_at_);
    const CacheAges ages = cache_.ages();
    spdlog::log(first ? spdlog::level::info : spdlog::level::debug,
                "cloud cache: {} hosts with {} servers, read in {} ms", ages.hosts, ages.servers,
                took.count());
    on_change_();
    if (first)
        for (const auto& remark : cache_.remarks()) spdlog::info("cloud cache: {}", remark);
    co_return Result<void>{};
}

void CacheRefresher::see_cells(std::string why, const CompiledPolicy& policy) {
    if (!why.empty() && several_cells_.empty() && policy.scheduler.cells.empty())
        spdlog::warn(
            "Nova has several cells ({}), and scheduler.cells does not say which host is in which: "
            "moved servers stay in their cell, so room may be freed for them in the wrong one (at "
            "most once in a while)",
            why);
    several_cells_ = std::move(why);
}

// ---- parts ----

ResultTask<void> CacheRefresher::refresh_tag_data(std::shared_ptr<const CompiledPolicy> policy) {
    TaggerInputs tagger_inputs = policy->tagger_inputs();
    auto tag_data = co_await read_tag_data(ports_, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    cache_.retag(taggers_of(policy), std::move(*tag_data));
    cache_.protect(policy->protection);
    co_return Result<void>{};
}

ResultTask<std::shared_ptr<const TagData>> CacheRefresher::recent_tag_data(
    std::shared_ptr<const CompiledPolicy> policy, Duration age) {
    const Duration asked = ports_.clock.steady();
    const auto turn = co_await tagging_.acquire();
    if (tags_by_ == policy && tags_read_at_ >= asked - age) co_return tags_;
    TaggerInputs tagger_inputs = policy->tagger_inputs();
    tags_by_ = std::move(policy);
    tags_read_at_ = ports_.clock.steady();
    auto tag_data = co_await read_tag_data(ports_, std::move(tagger_inputs));
    if (tag_data)
        tags_ = std::make_shared<const TagData>(std::move(*tag_data));
    else
        tags_ = tag_data.error();
    co_return tags_;
}

Task<void> CacheRefresher::read_project_names() {
    names_build_ = build_;
    names_asked_ = ports_.clock.steady();
    auto names = co_await ports_.identity.names_of_projects();
    if (names) {
        if (std::exchange(names_refused_, false)) spdlog::info("names of projects are known now");
        cache_.set_project_names(std::move(*names));
        co_return;
    }
    const bool forbidden = names.error().code == Errc::forbidden;
    const bool news = forbidden && !names_refused_;
    // What fails otherwise says nothing of the right.
    names_refused_ = names_refused_ || forbidden;
    spdlog::log(news ? spdlog::level::info : spdlog::level::debug,
                "names of projects are not known, only their ids are shown: {}",
                names.error().what);
}

ResultTask<void> CacheRefresher::refresh_project_names() {
    if (names_due()) co_await read_project_names();
    co_return Result<void>{};
}

bool CacheRefresher::names_due() const {
    if (!built()) return false;
    if (!names_asked_) return true;
    const Duration since = ports_.clock.steady() - *names_asked_;
    if (names_refused_) return since >= right_asked_again;
    return names_build_ != build_ && since >= between_builds;
}

void CacheRefresher::ask_refused_again() {
    if (names_refused_) names_asked_.reset();
}

ResultTask<bool> CacheRefresher::refresh_unfinished() {
    const TimePoint began = ports_.clock.now();
    auto soft_deleted = co_await unfinished_.list(false);
    if (!soft_deleted) co_return soft_deleted.error();
    const auto policy = policy_;
    auto going = cache_.soft_deleted();
    auto found = co_await find_unfinished(unfinished_, policy->taggers, cache_.tag_data(),
                                          std::move(*soft_deleted), going);
    if (!found) co_return found.error();
    const bool changed = cache_.set_unfinished(*found, began);
    if (changed) ++changes_;
    remember_soft_deletions();
    co_return changed;
}

ResultTask<bool> CacheRefresher::refresh_resizes() {
    if (!cache_.has_unconfirmed()) co_return false;
    auto resizes = co_await ports_.compute.unconfirmed_resizes();
    if (!resizes) co_return resizes.error();
    cache_.set_resizes(std::move(*resizes));
    const bool news = cache_.link_resizes();
    if (news) ++changes_;
    co_return news;
}

void CacheRefresher::link_resizes() {
    if (cache_.link_resizes()) ++changes_;
}

ResultTask<std::map<ServerId, std::string>> CacheRefresher::ask_lock_holders(
    std::vector<Server> locked) {
    co_return co_await lock_holders_.ask(std::move(locked));
}

Task<void> CacheRefresher::learn_lock_holders() {
    std::vector<Server> locked;
    for (const Host* const host : cache_.hosts())
        for (const Server& server : host->servers)
            if (needs_actions(server) && server.revocable() && !lock_holders_.knows(server.id) &&
                locked.size() < most_locks_learnt)
                locked.push_back(server);
    if (locked.empty()) co_return;
    const auto asked = co_await lock_holders_.ask(std::move(locked));
    if (!asked) spdlog::debug("who locked servers is not known: {}", asked.error().what);
}

std::map<ServerId, std::string> CacheRefresher::kept_by_locks() const {
    auto kept = lock_holders_.known();
    std::erase_if(kept, [this](const auto& each) {
        const Server* const server = cache_.find(each.first);
        return server == nullptr || !needs_actions(*server);
    });
    return kept;
}

std::map<ServerId, std::string> CacheRefresher::kept_by_nova() const {
    auto kept = kept_by_locks();
    kept.merge(cache_.unconfirmable());
    return kept;
}

void CacheRefresher::remember_soft_deletions() {
    soft_deleted_.clear();
    for (const auto& record : cache_.soft_deleted()) soft_deleted_.insert(record.server.id);
}

bool CacheRefresher::saw_soft_deletion() const {
    const auto now = cache_.soft_deleted();
    return std::ranges::any_of(
        now, [&](const ServerRecord& record) { return !soft_deleted_.contains(record.server.id); });
}

ResultTask<void> CacheRefresher::refresh_services() {
    const TimePoint began = ports_.clock.now();
    const std::uint64_t clock_steps = clock_steps_;
    auto services = co_await ports_.compute.compute_services();
    if (!services) co_return services.error();
    cache_.set_services(*services);
    services_at_ = clock_steps == clock_steps_ ? began : TimePoint{};
    co_return Result<void>{};
}

ResultTask<void> CacheRefresher::refresh_aggregates() {
    auto aggregates = co_await ports_.compute.aggregates();
    if (!aggregates) co_return aggregates.error();
    cache_.set_aggregates(*aggregates);
    co_return co_await refresh_services();  // they contain the zone
}

// ---- hosts ----

ResultTask<void> CacheRefresher::read_hosts(std::vector<HostId> ids, HostDepth depth) {
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

Task<void> CacheRefresher::read_one(HostId id, HostDepth depth, std::optional<Error>& error) {
    const Host* const host = cache_.find(id);
    if (host == nullptr) co_return;
    const std::uint64_t clock_steps = clock_steps_;
    if (depth == HostDepth::room && !flowing_) depth = HostDepth::state;
    std::string service_host = host->service_host;
    std::vector<ProviderId> providers;
    for (const auto& provider : host->providers) providers.push_back(provider.id);
    auto reading =
        co_await read_host(ports_, id, std::move(service_host), std::move(providers), depth);
    if (reading) {
        co_await ask_for_unlisted(*reading);
        if (clock_steps != clock_steps_) {
            co_await read_one(std::move(id), depth, error);
            co_return;
        }
        cache_.apply(*reading);
        ++changes_;
    } else if (reading.error().code == Errc::not_found) {
        cache_.erase(id);
    } else if (!error) {
        error = reading.error();
    }
}

/// What Nova can't report now stays unknown: some server holds their room.
Task<void> CacheRefresher::ask_for_unlisted(HostReading& reading) {
    std::vector<ServerId> unlisted = cache_.unlisted(reading);
    if (unlisted.size() > most_unlisted) unlisted.resize(most_unlisted);
    std::vector<std::optional<Result<std::optional<ServerRecord>>>> answers(unlisted.size());
    std::vector<Task<void>> asked;
    for (std::size_t i = 0; i < unlisted.size(); ++i)
        asked.push_back(keep(ports_.compute.server(unlisted[i]), answers[i]));
    co_await run_all(std::move(asked));
    for (std::size_t i = 0; i < unlisted.size(); ++i)
        if (*answers[i] && !**answers[i]) reading.gone.insert(unlisted[i]);
}

ResultTask<void> CacheRefresher::locate(std::set<ServerId> servers) {
    if (!built()) co_return Result<void>{};  // a decision reads all of it first
    std::set<HostId> stale;
    for (const auto& id : servers) {
        auto record = co_await ports_.compute.server(id);
        if (!record) co_return record.error();
        const std::string host = *record ? (*record)->server.host.str() : std::string{};
        const auto hosts = cache_.stale_hosts_of(id, host);
        stale.insert(hosts.begin(), hosts.end());
    }
    std::vector<HostId> to_read(stale.begin(), stale.end());
    co_return co_await read_hosts(std::move(to_read), HostDepth::state);
}

void CacheRefresher::on_clock_step(Duration by) {
    // What was read stays as old as it is; a new reading shows what the hosts' own times mean now.
    for (TimePoint* time : {&built_at_, &tried_build_at_, &started_at_, &services_at_})
        if (*time != TimePoint{}) *time += by;
    ++clock_steps_;
    cache_.shift(by);
    unfinished_.on_clock_step();
    builds_before_flow_ = builds_begun_;
}

// ---- in the background ----

void CacheRefresher::on_feed(const EventFeedState& state) {
    if (state.flowing == flowing_) return;
    flowing_ = state.flowing;
    if (flowing_) {
        builds_before_flow_ = builds_begun_;
        spdlog::info("cloud cache: Nova's events flow");
    } else {
        spdlog::warn("cloud cache: no events, so the cloud is read for each decision: {}",
                     state.detail);
    }
    on_change_();
}

void CacheRefresher::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.clock.now();
    for (auto& event : events) {
        if (built()) cache_.apply(event, now);
        ++changes_;
        if (!recording_) continue;
        if (recorded_.size() < max_recorded)
            recorded_.emplace_back(std::move(event), now);
        else
            overflowed_ = true;
    }
}

ResultTask<void> CacheRefresher::refresh() {
    auto done = co_await refresh_parts();
    if (!done) co_return done.error();
    if (!flowing_ && built()) co_return Result<void>{};
    const double per_step =
        settings_.hosts_per_second * std::chrono::duration<double>(step).count();
    readable_ = std::min(readable_ + per_step, std::max(1.0, per_step * 2));
    co_await reconcile();
    co_return Result<void>{};
}

ResultTask<void> CacheRefresher::refresh_parts() {
    const TimePoint now = ports_.clock.now();
    if (rebuild_due(now)) {
        const auto permit = co_await building_.acquire();
        if (rebuild_due(ports_.clock.now())) co_return co_await rebuild();
    } else if (!built() && not_built_) {
        co_return *not_built_;  // nothing is better yet, and the next try is due later
    } else if (!built() || !flowing_) {
        co_return Result<void>{};
    } else if (cache_.aggregates_stale()) {
        co_return co_await refresh_aggregates();
    } else if (now - services_at_ >= settings_.services_interval) {
        auto services = co_await refresh_services();
        if (!services || may_miss_unfinished()) co_return services;
        // The first soft deletion, if its event was lost.
        auto unfinished = co_await refresh_unfinished();
        if (!unfinished) co_return unfinished.error();
    }
    co_return Result<void>{};
}

Task<void> CacheRefresher::reconcile() {
    const auto count = static_cast<std::size_t>(std::floor(readable_));
    if (count == 0 || !built()) co_return;
    const TimePoint now = ports_.clock.now();
    auto due = cache_.due(count, now - settling, now - settings_.host_max_age);
    if (due.empty()) co_return;
    readable_ -= static_cast<double>(due.size());
    auto read = co_await read_hosts(std::move(due), HostDepth::all);
    if (!read) spdlog::debug("cloud cache: a host was not read: {}", read.error().what);
}

std::string CacheRefresher::status() const {
    if (!built()) return doing_.empty() ? "not read yet" : "reading the cloud: " + doing_;
    const CacheAges ages = cache_.ages();
    const Duration age = ports_.clock.now() - ages.oldest_read_at;
    return std::to_string(ages.hosts) + " hosts, " + std::to_string(ages.servers) +
           " servers, read within " + format_duration(age) + (flowing_ ? "" : ", no events");
}

}  // namespace reaper
