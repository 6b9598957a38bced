#include "reaper/cloud_reader/cache_refresher.hpp"

#include <algorithm>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/cloud_reader/bulk_reader.hpp"

namespace reaper {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// How long the first reading waits for events to flow.
constexpr Duration patience = duration_cast<Duration>(seconds{5});
constexpr int hosts_at_a_time = 16;

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

}  // namespace reaper
