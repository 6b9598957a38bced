#include "reaper/controllers/safeguards/cull_preconditions.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reaper/cloud/reader/cloud_directory.hpp"
#include "reaper/cloud/reader/sight.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// Of so many projects, so many servers each: enough to find some that are still there.
constexpr std::size_t projects_looked_at = 10;
constexpr std::size_t servers_looked_at = 3;

std::vector<ListedServer> some_servers(const CloudCache& cache) {
    std::map<ProjectId, std::size_t> counts;
    std::vector<ListedServer> some;
    for (const Host* const host : cache.hosts())
        for (const Server& server : host->servers) {
            if (!counts.contains(server.project) && counts.size() == projects_looked_at) continue;
            if (++counts[server.project] > servers_looked_at) continue;
            some.push_back({server.id, server.project});
        }
    return some;
}

/// Does it protect, or prefer, projects or flavors?
bool spares_by_name(const config::Policy& policy) {
    const auto names = names_in(policy);
    return std::any_of(names.begin(), names.end(), [](const CloudName& name) {
        return name.kind == CloudName::Kind::protected_project ||
               name.kind == CloudName::Kind::project_or_flavor;
    });
}

/// Why the names have to be looked up again; none if the answer was as complete as it can be.
std::optional<Error> why_incomplete(const CloudDirectory& directory) {
    for (const auto& [kind, why] : directory.not_asked) {
        const bool passing = why.code == Errc::unauthorized || why.code == Errc::bad_token ||
                             why.code == Errc::unreachable || why.code == Errc::timeout ||
                             why.code == Errc::server_error;
        // Without them, servers that are worth more would go first.
        if (passing || kind == CloudName::Kind::project_or_flavor) return why;
    }
    return std::nullopt;
}

}  // namespace

CullPreconditions::CullPreconditions(CloudPorts cloud, const CacheRefresher& refresher,
                                     std::shared_ptr<const CompiledPolicy> policy, Apply apply,
                                     std::function<void()> on_change)
    : cloud_(cloud),
      refresher_(refresher),
      written_(std::move(policy)),
      spares_by_name_(spares_by_name(written_->configured)),
      apply_(std::move(apply)),
      on_change_(std::move(on_change)) {}

void CullPreconditions::reload(std::shared_ptr<const CompiledPolicy> policy) {
    written_ = std::move(policy);
    spares_by_name_ = spares_by_name(written_->configured);
    names_ = {};
    on_change_();
}

std::optional<std::string> CullPreconditions::not_known_yet() const {
    if (names_.known || !spares_by_name_) return std::nullopt;
    return "the projects that the configuration names are not looked up yet" +
           (last_error_.empty() ? "" : ": " + last_error_);
}

std::optional<std::string> CullPreconditions::unmet() const {
    if (names_.unmet) return names_.unmet;
    return sight_.unmet;
}

bool CullPreconditions::due(const State& state, Duration after) const {
    if (state.known && !state.unmet) {
        if (&state != &names_ || !spares_by_name_) return false;
        after = names_hold_for;
    }
    return !state.looked_at || cloud_.clock.steady() - *state.looked_at >= after;
}

ResultTask<void> CullPreconditions::check() {
    if (due(names_)) {
        auto done = co_await look_up_names();
        if (!done) co_return done.error();
    }
    if (due(sight_) && refresher_.built()) co_return co_await look_at_a_server();
    co_return Result<void>{};
}

ResultTask<void> CullPreconditions::look_again() {
    for (State* const state : {&names_, &sight_})
        if (state->unmet && due(*state, at_once_after)) state->looked_at.reset();
    co_return co_await check();
}

ResultTask<void> CullPreconditions::ensure_sight() {
    if (sight_.known) co_return Result<void>{};
    co_return co_await look_at_a_server();
}

ResultTask<void> CullPreconditions::look_up_names() {
    const auto written = written_;
    auto names = names_in(written->configured);
    auto directory = co_await read_directory(cloud_, std::move(names));
    if (written != written_) co_return Result<void>{};  // another one came meanwhile
    std::optional<Error> trouble;
    if (directory)
        trouble = why_incomplete(*directory);
    else
        trouble = directory.error();
    last_error_ = trouble ? trouble->what : std::string{};
    if (trouble) co_return *trouble;
    ResolvedPolicy resolved = resolve(written->configured, *directory);
    auto compiled = compile_policy(resolved.policy, written->configured);
    if (!compiled) co_return compiled.error();
    tell(resolved);
    // Plans are stopped by another policy.
    if (!names_.known || resolved_ != resolved.policy) apply_(std::move(*compiled));
    resolved_ = resolved.policy;
    settle(names_, resolved.obstacle());
    co_return Result<void>{};
}

ResultTask<void> CullPreconditions::look_at_a_server() {
    auto servers = some_servers(refresher_.cache());
    ProjectId not_ours_to_know;
    auto sight =
        co_await try_sight(cloud_.compute, std::move(servers), std::move(not_ours_to_know));
    if (!sight) co_return sight.error();
    const bool blocked = sight->kind == Sight::Kind::blocked;
    if (!sight_.known || blocked != sight_.unmet.has_value())
        spdlog::info("servers of other projects: {}{}", printable(sight->detail, 1000),
                     sight->kind == Sight::Kind::clear ? " is seen as Nova's list has it" : "");
    std::optional<std::string> unmet;
    if (blocked) unmet = std::move(sight->detail);
    settle(sight_, std::move(unmet));
    co_return Result<void>{};
}

void CullPreconditions::settle(State& state, std::optional<std::string> unmet) {
    state.known = true;
    state.unmet = std::move(unmet);
    state.looked_at = cloud_.clock.steady();
    on_change_();
}

/// What leads nowhere, once.
void CullPreconditions::tell(const ResolvedPolicy& resolved) {
    std::string lines;
    std::vector<std::string> all;
    for (const auto& finding : resolved.findings) {
        if (finding.level == NameFinding::Level::found) continue;
        all.push_back(finding.what + ": " + finding.detail);
        lines += all.back() + "\n";
    }
    if (lines == std::exchange(told_, lines)) return;
    for (const auto& line : all) spdlog::warn("the configuration and the cloud differ: {}", line);
}

}  // namespace reaper
