#include "reaper/daemon/oversubscription.hpp"

#include <utility>

namespace reaper {
namespace {

/// An interval that fails is not tried much later: what was measured grows old.
constexpr Duration longest_retry = std::chrono::seconds{15};

}  // namespace

OversubscriptionParts::OversubscriptionParts(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      trigger_({dependencies_.cloud.clock, dependencies_.messages, dependencies_.sink,
                dependencies_.stopping, dependencies_.settings.dry_run}),
      corrections_({dependencies_.cloud.clock, dependencies_.refresher, dependencies_.ledger,
                    dependencies_.settings,
                    [this](Correction correction, CorrectionSource source,
                           std::function<void(const Outcome&)> done) {
                        return trigger_.submit(std::move(correction), source, std::move(done));
                    }}),
      reader_(dependencies_.metrics == nullptr
                  ? nullptr
                  : std::make_unique<MetricsReader>(MetricsReader::Dependencies{
                        *dependencies_.metrics, dependencies_.cloud.clock, dependencies_.refresher,
                        dependencies_.settings,
                        [this] {
                            return !dependencies_.stopping && dependencies_.serving() == read_in_;
                        }})),
      publisher_({dependencies_.cloud, dependencies_.journal, dependencies_.refresher,
                  reader_.get(), corrections_, dependencies_.settings, dependencies_.serving,
                  dependencies_.journal_is_ours, dependencies_.paused, dependencies_.stopping,
                  [this](const HostId& host) { return qos_.too_busy(host); },
                  [this](const HostId& host) { return qos_.load_awaited(host); }}),
      qos_({dependencies_.cloud, dependencies_.journal, dependencies_.refresher, reader_.get(),
            corrections_, dependencies_.settings, dependencies_.serving, dependencies_.paused,
            [this](const HostId& host) { return publisher_.to_be_sold(host); }}) {}

Result<CorrectionNeed> OversubscriptionParts::needed(const Request& request) const {
    // Without its part a correction of a former process is as it was ordered.
    if (!dependencies_.settings.oversubscription || !request.correction) return CorrectionNeed{};
    if (is_from(CorrectionSource::qos, request.id)) return qos_.needed(request.correction->host);
    if (is_from(CorrectionSource::estimator, request.id))
        return publisher_.needed(*request.correction);
    return CorrectionNeed{};
}

/// A reaper that does not serve asks for nothing; one that begins to serve asks for the past, too.
ResultTask<void> OversubscriptionParts::read_metrics() {
    const std::uint64_t now = dependencies_.serving();
    if (!reader_) co_return Result<void>{};
    if (now != read_in_) reader_->forget();
    read_in_ = now;
    if (now == 0 || !dependencies_.refresher.built()) co_return Result<void>{};
    co_return co_await reader_->read_usage();
}

/// 0 while nothing is to be sold: the task is off.
std::function<Duration()> OversubscriptionParts::interval(
    Duration (*of)(const config::Oversubscription&)) const {
    return [this, of] {
        const auto& policy = dependencies_.settings.oversubscription;
        return policy ? of(policy->configured) : Duration{0};
    };
}

std::vector<PeriodicTask> OversubscriptionParts::tasks() {
    const auto published = [](const config::Oversubscription& settings) -> Duration {
        return settings.publication.interval;
    };
    const auto corrected = [](const config::Oversubscription& settings) -> Duration {
        return settings.qos_correction_interval_min;
    };
    std::vector<PeriodicTask> all;
    all.push_back({"measuring the use of hosts", interval(published),
                   [this] { return read_metrics(); }, longest_retry});
    all.push_back({"publishing oversubscribed room", interval(published),
                   [this] { return publisher_.publish(); }, longest_retry});
    all.push_back({"watching the load of hosts", interval(corrected),
                   [this] { return qos_.look(); }, longest_retry, true});
    return all;
}

void OversubscriptionParts::on_clock_step(Duration by) {
    if (reader_) reader_->forget();
    publisher_.on_clock_step(by);
    qos_.on_clock_step(by);
}

}  // namespace reaper
