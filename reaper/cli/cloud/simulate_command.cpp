// `reaper simulate`: a notice without the end.
#include "reaper/cli/cloud/simulate_command.hpp"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/safeguards/notices.hpp"

namespace reaper::cli {

/// Where nothing is configured for the server.
static constexpr Duration simulated_period{120'000};

/// An error: it is one for a request, or that is not known.
static ResultTask<void> no_real_notice(JournalReader& journal, ServerId server) {
    const auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    Notices notices;
    for (const RequestRecord& each : *unfinished) notices.read_back(each);
    const Notice* const notice = notices.find(server);
    if (notice == nullptr || !notice->told) co_return Result<void>{};
    co_return Error{Errc::conflict, "its notice is real: it ends at " + iso_time(notice->until) +
                                        " for request " + printable(notice->request.str())};
}

ResultTask<Simulation> simulate(CloudPorts cloud, const NoticeRules& rules, SimulateCommand command,
                                JournalReader* journal) {
    const ServerId id{command.server};
    const auto record = co_await cloud.compute.server(id);
    if (!record) co_return record.error();
    if (!*record) co_return Error{Errc::not_found, "Nova knows no server " + command.server};
    const Server& server = (*record)->server;
    Simulation done{server.name, {}};
    const auto there = server.metadata.find(evict_at_key);
    if (command.remove) {
        if (journal != nullptr) {
            const auto simulated = co_await no_real_notice(*journal, id);
            if (!simulated) co_return simulated.error();
        }
        const auto removed = co_await cloud.compute.remove_metadata(id, evict_at_key);
        if (!removed) co_return removed.error();
        done.may_be_real = journal == nullptr;
        co_return done;
    }
    if (there != server.metadata.end())
        co_return Error{Errc::conflict, "it has notice until " + there->second +
                                            " already; --remove takes back one that was simulated"};
    const Duration configured = rules.of(server);
    const Duration period =
        command.span.value_or(configured > Duration::zero() ? configured : simulated_period);
    done.until = cloud.clock.now() + period;
    std::string time = iso_time(*done.until);
    const auto told = co_await cloud.compute.set_metadata(id, evict_at_key, std::move(time));
    if (!told) co_return told.error();
    co_return done;
}

ExitCode carry_out(const GlobalOptions& global, const SimulateCommand& command,
                   const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    std::unique_ptr<JournalReader> journal;
    std::string no_journal;
    if (command.remove) {
        const auto local = local_settings(global, terminal);
        if (!local) return ExitCode::usage;
        auto opened = journal_to_read(acting_journal(*local));
        if (!opened && opened.error().code != Errc::not_found)
            return terminal.fail(ExitCode::failed, opened.error());
        if (opened)
            journal = std::move(*opened);
        else
            no_journal = opened.error().what;
    }
    const NoticeRules rules{settings->policy.notice};
    const auto done = run_task(io, simulate(cloud->ports(), rules, command, journal.get()));
    if (!done) return terminal.fail(done.error());
    if (done->may_be_real)
        terminal.warn("whether that notice was real is not known: " + no_journal);
    const std::string name = report::safe(done->name);
    if (terminal.json())
        terminal.answer(report::dump({{"version", report::json_version},
                                      {"server", command.server},
                                      {"until", done->until ? nlohmann::json(iso_time(*done->until))
                                                            : nlohmann::json(nullptr)}}) +
                        "\n");
    else if (done->until)
        terminal.answer(name + " has notice until " + iso_time(*done->until) +
                        ", and stays; 'reaper simulate --remove " + report::safe(command.server) +
                        "' takes it back\n");
    else
        terminal.answer(name + " has no notice\n");
    return ExitCode::ok;
}

}  // namespace reaper::cli
