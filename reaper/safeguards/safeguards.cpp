#include "reaper/safeguards/safeguards.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/safeguards/request_shape.hpp"

namespace reaper {
namespace {

/// A request may take more than one round, and be resumed after a restart.
constexpr Duration least_memory = std::chrono::hours{24};

std::string shape_key(const Request& request) {
    const std::string& project = request.project.str();
    return std::to_string(project.size()) + ':' + project + request_shape(request);
}

std::string name_of(const Request& request) {
    return "project " + project_text(request.project, request.project_name);
}

std::string when(const std::optional<TimePoint>& until) {
    return until ? "until " + iso_time(*until) : "until `reaper resume`";
}

}  // namespace

Safeguards::Safeguards(SafeguardSettings settings) {
    reload(std::move(settings));
}

void Safeguards::reload(SafeguardSettings settings) {
    settings_ = std::move(settings);
    protection_ = Protection{settings_.protect};
    breaker_.reload(settings_.breaker);
    projects_.reload(settings_.project_breaker.wasted, settings_.project_breaker.retry);
    shapes_.reload(settings_.shape_cooldown.wasted, settings_.shape_cooldown.retry);
}

void Safeguards::note_victim(PastVictim victim) {
    history_.note(std::move(victim));
}

void Safeguards::note_refused_deletion(const ServerId& server) {
    history_.forget(server);
}

// ---- culls and what became of them ----

void Safeguards::note_cull(const Request& request) {
    UnprovenCulls::Cull cull{request.project, shape_key(request), std::nullopt};
    if (is_move(request.operation)) cull.moves_from = request.from_host;
    unproven_.add(request.id, std::move(cull));
}

std::vector<Safeguards::Change> Safeguards::note_freed_room(const Request& request, CullWorth worth,
                                                            const std::vector<HostId>& untaken,
                                                            TimePoint at) {
    std::vector<Change> changes;
    unproven_.erase(request.id);
    note_cooldown(request.id, untaken, at);
    note_shape(request, worth, at, changes);
    // While the breaker tries, one try that goes wrong is enough against its project: the next try
    // is another one's.
    note_project(request, worth, breaker_.state(at) == CircuitState::half_open, at, changes);
    if (auto change = breaker_.note_freed_room(request.id, request.project, worth, at))
        changes.push_back(
            {change->opened ? "breaker-opened" : "breaker-closed", std::move(change->reason)});
    return changes;
}

/// What new revocable servers took says nothing against the shape.
void Safeguards::note_shape(const Request& request, CullWorth worth, TimePoint at,
                            std::vector<Change>& changes) {
    if (worth != CullWorth::helped && worth != CullWorth::wasted) return;
    const std::string key = shape_key(request);
    const auto change = worth == CullWorth::helped ? shapes_.helped(key) : shapes_.wasted(key, at);
    if (worth == CullWorth::helped) shape_names_.erase(key);
    if (!change || !change->opened) return;
    shape_names_[key] = {request.project, shape_text(request)};
    note_name(request);
    changes.push_back({safeguard::shape_cooldown,
                       "room freed for " + name_of(request) + " (" + shape_text(request) +
                           ") went unused, the last for " + printable(request.id.str(), 64) +
                           "; no servers are deleted for that shape of it " + when(change->until)});
}

void Safeguards::note_project(const Request& request, CullWorth worth, bool at_once, TimePoint at,
                              std::vector<Change>& changes) {
    if (worth == CullWorth::needless) return;
    const std::string& key = request.project.str();
    const auto change = worth == CullWorth::helped ? projects_.helped(key)
                        : at_once                  ? projects_.wasted_at_once(key, at)
                                                   : projects_.wasted(key, at);
    if (!change) return;
    note_name(request);
    if (!change->opened) {
        changes.push_back(
            {"project-breaker-closed", "the room of a cull of " + name_of(request) + " was taken"});
        return;
    }
    changes.push_back({"project-breaker-opened",
                       counted(change->wasted, "cull") + " in a row of " + name_of(request) +
                           " went unused, the last for " + printable(request.id.str(), 64) +
                           "; no servers are deleted for it " + when(change->until) +
                           ", then one cull is tried"});
}

void Safeguards::note_name(const Request& request) {
    if (!request.project_name.empty()) project_names_[request.project] = request.project_name;
}

void Safeguards::note_move(const Request& request, std::optional<bool> taken, TimePoint at) {
    if (!is_move(request.operation) || !taken) return;
    if (*taken)
        cell_cooldowns_.note_helped(request.from_host);
    else
        cell_cooldowns_.note_wasted(request.from_host, request.id, at);
}

std::optional<std::string> Safeguards::why_no_move(const Request& request) const {
    // What was begun is brought to its end.
    if (unproven_.contains(request.id)) return std::nullopt;
    const auto& moves = unproven_.moves();
    const auto unproven = std::find_if(moves.begin(), moves.end(), [&](const auto& each) {
        return several_cells_ || each.second == request.from_host;
    });
    if (unproven == moves.end()) return cell_cooldowns_.why(request.from_host, several_cells_);
    return "room was freed for another move (" + printable(unproven->first.str(), 64) +
           "), and it is not known yet whether it was in the right cell. " +
           (several_cells_ ? "Nova has several cells, and" : "If Nova has several cells,") +
           " scheduler.cells has to tell which host is in which";
}

void Safeguards::note_cooldown(const RequestId& request, const std::vector<HostId>& hosts,
                               TimePoint at) {
    if (settings_.host_cooldown <= Duration::zero()) return;
    for (const auto& host : hosts) cooldowns_.note(host, request, at);
}

std::map<HostId, std::string> Safeguards::passed_over(TimePoint now) const {
    auto hosts = deletions_.reasons(now);
    hosts.merge(cooldowns_.reasons());
    return hosts;
}

std::vector<Safeguards::Change> Safeguards::note_deletion(bool succeeded, const RequestId& request,
                                                          TimePoint at) {
    std::vector<Change> changes;
    if (auto change = breaker_.note_deletion(succeeded, request, at))
        changes.push_back({"breaker-opened", std::move(change->reason)});
    return changes;
}

void Safeguards::reset_circuits() {
    breaker_.reset();
    projects_.clear();
    shapes_.clear();
    shape_names_.clear();
    project_names_.clear();
}

// ---- may a plan begin? ----

std::optional<Safeguards::Held> Safeguards::why_not_now(const Request& request,
                                                        TimePoint now) const {
    // What was begun is brought to its end: half of it would have been for nothing.
    if (unproven_.contains(request.id)) return std::nullopt;
    const std::string wait = ", and what became of the last one is not known yet";
    const CircuitState cloud = breaker_.state(now);
    if (cloud == CircuitState::open)
        return Held{safeguard::breaker, "the circuit breaker is open: " + breaker_.reason()};
    if (cloud == CircuitState::half_open && !unproven_.empty())
        return Held{safeguard::breaker, "the circuit breaker tries one cull at a time" + wait};
    // It is never looked at whether its room is used.
    if (!somebody_waits(request.source)) return std::nullopt;

    const std::string& project = request.project.str();
    const std::string who = name_of(request);
    const CircuitState of_project = projects_.state(project, now);
    const int unproven = unproven_.of_project(request.project);
    if (of_project == CircuitState::open)
        return Held{safeguard::project_breaker,
                    counted(projects_.wasted_in_a_row(project), "cull") + " in a row of " + who +
                        " went unused; no servers are deleted for it " +
                        when(projects_.until(project))};
    if (of_project == CircuitState::half_open && unproven > 0)
        return Held{safeguard::project_breaker, "one cull at a time is tried for " + who + wait};
    const int most = settings_.project_breaker.unproven;
    if (most > 0 && unproven >= most)
        return Held{safeguard::project_breaker,
                    "of " + counted(unproven, "cull") + " of " + who +
                        " it is not known yet whether they helped; " + std::to_string(most) +
                        " at a time are allowed (project_breaker.unproven)"};

    const std::string shape = shape_key(request);
    const CircuitState of_shape = shapes_.state(shape, now);
    if (of_shape == CircuitState::open)
        return Held{safeguard::shape_cooldown,
                    "room freed for " + who + " (" + shape_text(request) +
                        ") went unused; no servers are deleted for that shape of it " +
                        when(shapes_.until(shape))};
    if (of_shape == CircuitState::half_open && unproven_.any_of_shape(shape))
        return Held{safeguard::shape_cooldown,
                    "one cull at a time is tried for this shape of " + who + wait};
    return std::nullopt;
}

std::vector<Safeguards::LeftAlone> Safeguards::left_alone(TimePoint now) const {
    std::vector<LeftAlone> all;
    for (auto& open : projects_.open(now))
        all.push_back({safeguard::project_breaker, ProjectId{open.key}, "", open.state, open.wasted,
                       open.until});
    for (auto& open : shapes_.open(now)) {
        const auto name = shape_names_.find(open.key);
        if (name == shape_names_.end()) continue;
        all.push_back({safeguard::shape_cooldown, name->second.project, name->second.what,
                       open.state, open.wasted, open.until});
    }
    add_names(project_names_, all);
    return all;
}

void add_names(const ProjectNames& known, std::vector<Safeguards::LeftAlone>& all) {
    for (Safeguards::LeftAlone& each : all)
        if (each.project_name.empty()) each.project_name = name_of_project(known, each.project);
}

// ---- time ----

void Safeguards::shift(Duration by) {
    history_.shift(by);
    cooldowns_.shift(by);
    deletions_.shift(by);
    breaker_.shift(by);
    projects_.shift(by);
    shapes_.shift(by);
    cell_cooldowns_.shift(by);
}

Duration Safeguards::memory() const {
    // The last pause in a row, and those before it.
    const auto pauses = [](const RetrySettings& retry) -> Duration {
        return 2 * std::max(retry.max_retry_after, retry.retry_after);
    };
    return std::max<Duration>({least_memory, settings_.limits.window, settings_.thrash.window,
                               settings_.host_cooldown, pauses(settings_.breaker.retry),
                               pauses(settings_.project_breaker.retry),
                               pauses(settings_.shape_cooldown.retry)});
}

void Safeguards::prune(TimePoint now) {
    history_.prune(now, memory());
    cooldowns_.prune(now, settings_.host_cooldown);
    deletions_.prune(now);
    projects_.prune(now);
    shapes_.prune(now);
    std::erase_if(shape_names_, [&](const auto& each) {
        return shapes_.state(each.first, now) == CircuitState::closed;
    });
    prune_names(now);
    cell_cooldowns_.prune(now, settings_.host_cooldown);
}

void Safeguards::prune_names(TimePoint now) {
    if (project_names_.empty()) return;
    std::set<ProjectId> left;
    for (const LeftAlone& each : left_alone(now)) left.insert(each.project);
    std::erase_if(project_names_, [&](const auto& each) { return !left.contains(each.first); });
}

std::vector<Thrashing> Safeguards::thrashing(TimePoint now) const {
    const auto& settings = settings_.thrash;
    std::vector<Thrashing> often;
    if (settings.after <= 0 || history_.empty()) return often;
    for (auto& [workload, evictions] :
         history_.evictions_since(now - settings.window, settings.after))
        often.push_back({workload, evictions, grace_for(settings, evictions)});
    return often;
}

}  // namespace reaper
