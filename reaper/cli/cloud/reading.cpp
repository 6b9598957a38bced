#include "reaper/cli/cloud/reading.hpp"

#include <utility>

#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {

ExactReading::ExactReading(boost::asio::io_context& io, const config::Settings& settings,
                           const CloudToLookAt& reached, std::unique_ptr<Journal> without_records,
                           const Terminal& terminal)
    : safeguards(known_safeguards(io, settings, reached.cloud.clock->now(), "answered")),
      journal(std::move(without_records)),
      reading(
          io.get_executor(),
          CloudReading::Inputs{reached.cloud.ports(), reached.policy,
                               known_ledger(io, settings, reached.cloud.clock->now(), "answered"),
                               safeguards, settings.reservations, *journal,
                               [&terminal](const std::string& what) { terminal.progress(what); }}) {
}

std::variant<std::unique_ptr<ExactReading>, ExitCode> read_exactly(boost::asio::io_context& io,
                                                                   const config::Settings& settings,
                                                                   const CloudToLookAt& reached,
                                                                   const Terminal& terminal) {
    auto journal = no_journal();
    if (!journal) return terminal.fail(ExitCode::failed, journal.error());
    auto exact =
        std::make_unique<ExactReading>(io, settings, reached, std::move(*journal), terminal);
    const auto read = run_task(io, exact->reading.read(CloudReading::Depth::exact));
    terminal.end_progress();
    if (!read) return terminal.fail(read.error());
    return exact;
}

namespace {

/// Nothing tells of changes while a command runs.
config::Cache without_events() {
    config::Cache settings;
    settings.events = false;
    return settings;
}

constexpr std::uint64_t any_build = 0;
/// A reader keeps no room for any client.
constexpr Duration no_promise{};

}  // namespace

CloudReading::CloudReading(const boost::asio::any_io_executor& executor, Inputs inputs)
    : inputs_(std::move(inputs)),
      refresher_(executor, inputs_.cloud, without_events(), inputs_.policy,
                 [this] {
                     if (inputs_.progress)
                         inputs_.progress("reading the cloud: " + refresher_.status());
                 }),
      reservations_(executor, {inputs_.cloud,
                               refresher_,
                               rooms_,
                               inputs_.journal,
                               inputs_.reservations,
                               no_promise,
                               [] { return std::uint64_t{1}; },
                               [] { return true; },
                               [](const EndedLoan&) {},
                               {},
                               stopping_,
                               true}),
      decisions_(refresher_, inputs_.cloud.clock, rooms_, inputs_.safeguards, &reservations_) {
    rooms_.restore(std::move(inputs_.ledger));
}

ResultTask<void> CloudReading::read(Depth depth) {
    auto usable = co_await refresher_.ensure_usable(any_build);
    if (!usable) co_return usable.error();
    if (depth == Depth::exact) {
        auto each = co_await read_each();
        if (!each) co_return each.error();
    }
    const CloudCache& now = refresher_.cache();
    rooms_.observe([&now](const HostId& id) { return now.find(id); }, now.index().changes(),
                   inputs_.cloud.clock.now());
    if (!inputs_.reservations.enabled) co_return Result<void>{};
    if (inputs_.progress) inputs_.progress("reading the reservations ...");
    co_return co_await reservations_.read_now();
}

ResultTask<void> CloudReading::read_each() {
    std::vector<HostId> hosts;
    for (const Host* const host : refresher_.cache().hosts()) hosts.push_back(host->id);
    co_return co_await refresher_.read_hosts(std::move(hosts), HostDepth::placement);
}

std::vector<std::string> CloudReading::remarks() const {
    std::vector<std::string> all = reservations_.remarks();
    const auto& of_cloud = refresher_.cache().remarks();
    all.insert(all.end(), of_cloud.begin(), of_cloud.end());
    return all;
}

}  // namespace reaper::cli
