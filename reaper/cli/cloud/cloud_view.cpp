#include "reaper/cli/cloud/cloud_view.hpp"

#include <utility>

#include "reaper/cli/past/journals.hpp"
#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/cloud/reader/cloud_directory.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/controllers/freed_room/ledger_journal.hpp"
#include "reaper/controllers/safeguards/safeguards_journal.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::cli {

namespace {

/// None without a journal; warns of one that can't be read.
std::unique_ptr<JournalReader> known_journal(const config::Settings& settings, const char* doing) {
    auto journal = journal_to_read(settings.journal);
    if (journal) return std::move(*journal);
    if (journal.error().code != Errc::not_found)
        spdlog::warn("{} without the journal: {}", doing, journal.error().what);
    return nullptr;
}

}  // namespace

Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing) {
    const auto journal = known_journal(settings, doing);
    if (!journal) return {};
    auto ledger = run_task(io, read_ledger(*journal, now, settings.cull.promise));
    if (ledger) return std::move(*ledger);
    spdlog::warn("{} without the journal: {}", doing, ledger.error().what);
    return {};
}

Safeguards known_safeguards(boost::asio::io_context& io, const config::Settings& settings,
                            TimePoint now, const char* doing) {
    const SafeguardSettings& safeguards = settings.policy.safeguards;
    const auto journal = known_journal(settings, doing);
    if (!journal) return Safeguards{safeguards};
    auto known = run_task(io, read_safeguards(*journal, safeguards, now));
    if (known) return std::move(known->safeguards);
    spdlog::warn("{} without what the journal knows of the past: {}", doing, known.error().what);
    return Safeguards{safeguards};
}

std::map<std::string, std::string> known_protections(const config::Settings& settings,
                                                     TimePoint now) {
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    const auto journal = known_journal(settings, "looking");
    if (!journal) return {};
    auto known = run_task(io, read_protections(*journal, now));
    if (known) return reasons_of(*known);
    spdlog::warn("looking without the servers that operators protect: {}", known.error().what);
    return {};
}

std::optional<config::Settings> settings_for_looking(const GlobalOptions& global,
                                                     const Terminal& terminal) {
    auto settings = load_config(
        global.config_file, [&](const std::string& line) { terminal.complain(line); },
        [](const std::string& line) { spdlog::info("{}", line); });
    if (settings) settings->policy.safeguards.protect.servers = known_protections(*settings, now());
    return settings;
}

std::variant<CloudToLookAt, ExitCode> cloud_to_look_at(boost::asio::io_context& io,
                                                       const config::Settings& settings,
                                                       const Terminal& terminal, bool look_up) {
    auto policy = compile_policy(settings.policy);
    if (!policy) return terminal.fail(ExitCode::usage, policy.error());
    auto cloud = connect_cloud(io, settings);
    if (!cloud) return terminal.fail(ExitCode::usage, cloud.error());
    std::vector<std::string> remarks;
    if (look_up) {
        const auto directory =
            run_task(io, read_directory(cloud->ports(), names_in(settings.policy)));
        if (!directory) return terminal.fail(directory.error());
        const ResolvedPolicy resolved = resolve(settings.policy, *directory);
        for (const auto& finding : resolved.findings)
            if (finding.level != NameFinding::Level::found)
                remarks.push_back(finding.what + ": " + finding.detail);
        policy = compile_policy(resolved.policy);
        if (!policy) return terminal.fail(ExitCode::usage, policy.error());
    }
    return CloudToLookAt{std::move(*cloud), std::move(*policy), std::move(remarks)};
}

ProjectNames names_told(boost::asio::io_context& io, NamesOfProjects& names,
                        const Terminal& terminal) {
    auto told = run_task(io, names.take());
    if (told) return std::move(*told);
    if (const auto why = why_ids_alone(told.error())) terminal.warn(*why);
    return {};
}

namespace {

/// Those that an administrator's lock keeps; of very many, some are asked about.
void mark_locked(boost::asio::io_context& io, const Cloud& cloud, const CompiledPolicy& policy,
                 Snapshot& snapshot) {
    if (policy.protection.by_owners()) return;
    std::vector<Server> locked;
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers)
            if (server.locked && server.revocable() &&
                locked.size() < CacheRefresher::most_locks_learnt)
                locked.push_back(server);
    if (locked.empty()) return;
    LockHolders holders{cloud.ports()};
    const auto stay = run_task(io, holders.ask(std::move(locked)));
    if (!stay) return spdlog::warn("who locked servers is not known: {}", stay.error().what);
    for (Host& host : snapshot.hosts)
        for (Server& server : host.servers)
            if (const auto at = stay->find(server.id); at != stay->end())
                server.protected_because = at->second;
}

}  // namespace

Result<CloudView> cloud_view(boost::asio::io_context& io, const Cloud& cloud,
                             const CompiledPolicy& policy, const Terminal& terminal) {
    ProgressCallback progress = [&](const std::string& what) {
        terminal.progress("reading the cloud: " + what);
    };
    terminal.progress("reading the cloud ...");
    NamesOfProjects names{io.get_executor(), cloud.ports().identity, *cloud.clock};
    UnfinishedDeletions unfinished{cloud.ports()};
    auto cache = run_task(io, read_cloud(cloud.ports(), unfinished, policy.taggers,
                                         CloudDepth::exact, std::move(progress)));
    terminal.end_progress();
    if (!cache) return cache;
    mark_locked(io, cloud, policy, cache->snapshot);
    for (Host& host : cache->snapshot.hosts) note_protection(policy.protection, host);
    cache->snapshot.project_names = names_told(io, names, terminal);
    return cache;
}

std::variant<Request, ExitCode> of_named_flavor(boost::asio::io_context& io,
                                                const CloudToLookAt& look, Request request,
                                                const std::string& written,
                                                const Terminal& terminal) {
    auto made = run_task(io, with_flavor(look.cloud.ports().compute, std::move(request), written,
                                         look.policy->scheduler));
    if (!made) return terminal.fail(made.error());
    if (const auto* const unknown = std::get_if<UnknownFlavor>(&*made))
        return terminal.fail(ExitCode::unknown, Error{Errc::not_found, unknown->why});
    if (const auto* const refused = std::get_if<Refused>(&*made))
        return terminal.fail(ExitCode::usage, Error{Errc::bad_input, "--" + refused->reason});
    return std::get<Request>(std::move(*made));
}

std::optional<ExitCode> find_project(boost::asio::io_context& io, const Cloud& cloud,
                                     std::string& project, const Terminal& terminal) {
    if (project.empty()) return std::nullopt;
    const auto search = run_task(io, cloud.ports().identity.find_project(project));
    if (!search) return terminal.fail(search.error());
    if (!search->found)
        return terminal.fail(search->several ? ExitCode::usage : ExitCode::unknown,
                             Error{Errc::not_found, "--project: " + search->why_not});
    project = search->found->id.str();
    return std::nullopt;
}

}  // namespace reaper::cli
