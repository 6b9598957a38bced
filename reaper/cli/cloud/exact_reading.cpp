#include "reaper/cli/cloud/exact_reading.hpp"

#include <utility>

#include "reaper/cli/cloud/known_ledger.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {

ExactReading::ExactReading(boost::asio::io_context& io, const config::Settings& settings,
                           const CloudToLookAt& reached, std::unique_ptr<Journal> nobodys,
                           const Terminal& terminal)
    : safeguards(known_safeguards(io, settings, reached.cloud.clock->now(), "answered")),
      journal(std::move(nobodys)),
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

}  // namespace reaper::cli
