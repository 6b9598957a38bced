#include "reaper/safeguards/safeguards.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reaper/model/text.hpp"

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
    short_lives_.reload(settings_.short_lived);
}

void Safeguards::note_victim(PastVictim victim) {
    history_.note(std::move(victim));
}

void Safeguards::note_refused_deletion(const ServerId& server, const RequestId& request) {
    history_.forget(server, request);
}

// ---- culls and what happened to them ----

void Safeguards::note_cull(const Request& request) {
    UnprovenCulls::Cull cull{request.project, shape_key(request), std::nullopt,
                             std::max(request.slots, 1)};
    if (is_move(request.operation)) cull.moves_from = request.from_host;
    unproven_.add(request.id, std::move(cull));
}

std::vector<Safeguards::Change> Safeguards::note_freed_room(const Request& request, CullWorth worth,
                                                            const std::vector<HostId>& untaken,
                                                            TimePoint at,
                                                            std::optional<int> taken) {
    std::vector<Change> changes;
    unproven_.erase(request.id);
    note_cooldown(request.id, untaken, at);
    const int all = std::max(request.slots, 1);
    const bool helped = worth == CullWorth::helped;
    const int slots = helped ? taken.value_or(all) : std::max(all - taken.value_or(0), 1);
    if (helped) proven_.add(request.project, slots, at);
    note_shape(request, worth, slots, at, changes);
    // That others took the room first may not be an error: of several slots it counts once.
    note_project(request, worth, worth == CullWorth::lost ? 1 : slots, at, changes);
    if (auto change = breaker_.note_freed_room(request.id, request.project, worth, slots, at))
        changes.push_back(
            {change->opened ? "breaker-opened" : "breaker-closed", std::move(change->reason)});
    return changes;
}

/// What new revocable servers took says nothing against the shape.
void Safeguards::note_shape(const Request& request, CullWorth worth, int slots, TimePoint at,
                            std::vector<Change>& changes) {
    if (worth != CullWorth::helped && worth != CullWorth::wasted) return;
    const std::string key = shape_key(request);
    const auto change =
        worth == CullWorth::helped ? shapes_.helped(key) : shapes_.wasted(key, slots, at);
    if (worth == CullWorth::helped) shape_names_.erase(key);
    if (!change || !change->opened) return;
    shape_names_[key] = {request.project, shape_text(request)};
    note_name(request);
    changes.push_back({safeguard::shape_cooldown,
                       "room freed for " + name_of(request) + " (" + shape_text(request) +
                           ") went unused, the last for " + printable(request.id.str(), 64) +
                           "; no servers are deleted for that shape of it " + when(change->until)});
}

void Safeguards::note_project(const Request& request, CullWorth worth, int slots, TimePoint at,
                              std::vector<Change>& changes) {
    if (worth == CullWorth::needless) return;
    // While the breaker tries, one try that goes wrong is enough against its project: the next try
    // is another one's.
    const bool at_once = breaker_.state(at) == CircuitState::half_open;
    const std::string& key = request.project.str();
    const auto change = worth == CullWorth::helped ? projects_.helped(key)
                        : at_once                  ? projects_.wasted_at_once(key, slots, at)
                                                   : projects_.wasted(key, slots, at);
    if (!change) return;
    if (change->opened) proven_.forget(request.project);
    note_name(request);
    if (!change->opened) {
        changes.push_back(
            {"project-breaker-closed", "the room of a cull of " + name_of(request) + " was taken"});
        return;
    }
    changes.push_back({"project-breaker-opened",
                       "the room of " + counted(change->wasted, "slot") + " in a row of " +
                           name_of(request) + " went unused, the last for " +
                           printable(request.id.str(), 64) + "; no servers are deleted for it " +
                           when(change->until) + ", then one cull is tried"});
}

// ---- what the room was used for ----

void Safeguards::note_handed_over(const RequestId& from, const RequestId& to, TimePoint at) {
    if (from != to) heirs_.emplace(to, Heir{from, at});
}

/// With that of the requests whose room it has.
double Safeguards::harm_of(const RequestId& request) const {
    double harm = 0;
    std::vector<RequestId> all{request};
    std::set<RequestId> seen{request};
    while (!all.empty()) {
        const RequestId id = std::move(all.back());
        all.pop_back();
        harm += history_.harm_of_request(id);
        const auto [first, last] = heirs_.equal_range(id);
        for (auto at = first; at != last; ++at)
            if (seen.insert(at->second.of).second) all.push_back(at->second.of);
    }
    return harm;
}

void Safeguards::note_taken(const Request& request, int takers, TimePoint at) {
    short_lives_.note_taken(request.id, request.project, harm_of(request.id), takers, at);
}

std::vector<Safeguards::Change> Safeguards::note_use(const Request& request,
                                                     std::optional<Duration> lived, TimePoint at) {
    const auto change = lived ? short_lives_.note_given_back(request.id, *lived, at)
                              : short_lives_.note_stayed(request.id, at);
    if (!change) return {};
    note_name(request);
    if (!change->opened)
        return {{"short-lived-over", "room that was freed for " + name_of(request) + " is in use"}};
    return {{safeguard::short_lived,
             name_of(request) +
                 " gave freed room back within minutes again and again, the last of " +
                 printable(request.id.str(), 64) + "; no servers are deleted for it " +
                 when(change->until) + ", then one cull is tried"}};
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
    const auto unproven = std::ranges::find_if(moves, [&](const auto& each) {
        return several_cells_ || each.second == request.from_host;
    });
    if (unproven == moves.end()) return cell_cooldowns_.why(request.from_host, several_cells_);
    return "room was freed for another move (" + printable(unproven->first.str(), 64) +
           "), and it is not known yet whether it was in the right cell. " +
           (several_cells_ ? "Nova has several cells, and" : "If Nova has several cells,") +
           " scheduler.cells has to say which host is in which";
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
                                                          const ServerId& server, TimePoint at) {
    std::vector<Change> changes;
    const auto hung = history_.project_of(server);
    if (auto change = breaker_.note_deletion(succeeded, request, hung, at))
        changes.push_back({"breaker-opened", std::move(change->reason)});
    return changes;
}

void Safeguards::reset_circuits() {
    breaker_.reset();
    projects_.clear();
    shapes_.clear();
    short_lives_.clear();
    shape_names_.clear();
    project_names_.clear();
}

// ---- may a plan begin? ----

std::optional<Safeguards::Held> Safeguards::why_not_now(const Request& request,
                                                        TimePoint now) const {
    // What was begun is brought to its end: half of it would have been for nothing.
    if (unproven_.contains(request.id)) return std::nullopt;
    const std::string wait = ", and the result of the last one is not known yet";
    const CircuitState cloud = breaker_.state(now);
    if (cloud == CircuitState::open)
        return Held{safeguard::breaker, "the circuit breaker is open: " + breaker_.reason()};
    if (cloud == CircuitState::half_open && !unproven_.empty())
        return Held{safeguard::breaker, "the circuit breaker tries one cull at a time" + wait};
    // It is never looked at whether its room is used.
    if (!is_awaited(request.source)) return std::nullopt;

    const std::string& project = request.project.str();
    const std::string who = name_of(request);
    const CircuitState of_project = projects_.state(project, now);
    const int unproven = unproven_.of_project(request.project);
    if (of_project == CircuitState::open)
        return Held{safeguard::project_breaker,
                    "the room of " + counted(projects_.wasted_in_a_row(project), "slot") +
                        " in a row of " + who + " went unused; no servers are deleted for it " +
                        when(projects_.until(project))};
    if (of_project == CircuitState::half_open && unproven > 0)
        return Held{safeguard::project_breaker, "one cull at a time is tried for " + who + wait};
    if (auto held = why_unproven(request, now)) return held;
    if (auto held = why_short_lived(request, now)) return held;

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

/// What is large is proven by a first part: a person's word, or room that the project took.
std::optional<Safeguards::Held> Safeguards::why_unproven(const Request& request,
                                                         TimePoint now) const {
    const int first = settings_.project_breaker.unproven;
    const bool by_a_person = request.approved || request.source == RequestSource::operator_;
    if (first <= 0 || by_a_person) return std::nullopt;
    const int taken = proven_.of(request.project, now);
    const int most = std::max(first, 2 * taken);
    const int unproven = unproven_.of_project(request.project);
    const int slots = std::max(request.slots, 1);
    if (unproven + slots <= most) return std::nullopt;
    const std::string proven =
        taken == 0 ? " has taken no freed room within a day"
                   : " took " + counted(taken, "slot") + " of freed room within a day";
    std::string reason = name_of(request) + proven + ", so that " + std::to_string(most) +
                         " at a time are freed for it (project_breaker.unproven)";
    reason += slots > most
                  ? "; this request asks for " + std::to_string(slots) +
                        " at once: a smaller one first, or a plan that an operator approves "
                        "(reaper plan --save, reaper apply)"
                  : "; of " + std::to_string(unproven) + " it is not known yet whether they help";
    return Held{safeguard::unproven, std::move(reason)};
}

bool Safeguards::waits_for_proof(const Request& request, TimePoint now) const {
    const int unproven = unproven_.of_project(request.project);
    const int most = std::max(settings_.project_breaker.unproven,
                              2 * (proven_.of(request.project, now) + unproven));
    return unproven > 0 && request.slots <= most && why_unproven(request, now).has_value();
}

std::optional<Safeguards::Held> Safeguards::why_short_lived(const Request& request,
                                                            TimePoint now) const {
    const std::string who = name_of(request);
    const CircuitState state = short_lives_.state(request.project, now);
    if (state == CircuitState::open)
        return Held{safeguard::short_lived,
                    who +
                        " gave freed room back within minutes again and again; it gets free room, "
                        "and no servers are deleted for it " +
                        when(short_lives_.until(request.project))};
    const bool tried =
        unproven_.of_project(request.project) > 0 || short_lives_.any_young(request.project);
    if (state == CircuitState::half_open && tried)
        return Held{
            safeguard::short_lived,
            "one cull at a time is tried for " + who +
                ", and it is not known yet whether the room of the last one is in use for " +
                format_duration(settings_.short_lived.lived)};
    return std::nullopt;
}

std::vector<Safeguards::LeftAlone> Safeguards::left_alone(TimePoint now) const {
    std::vector<LeftAlone> all;
    for (auto& open : projects_.open(now))
        all.push_back({safeguard::project_breaker, ProjectId{open.key}, "", open.state, open.wasted,
                       open.until});
    for (auto& open : short_lives_.open(now))
        all.push_back(
            {safeguard::short_lived, ProjectId{open.key}, "", open.state, open.wasted, open.until});
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
    proven_.shift(by);
    short_lives_.shift(by);
    for (auto& [to, heir] : heirs_) heir.at += by;
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
                               pauses(settings_.shape_cooldown.retry), settings_.short_lived.window,
                               pauses(settings_.short_lived.retry)});
}

void Safeguards::prune(TimePoint now) {
    history_.prune(now, memory());
    cooldowns_.prune(now, settings_.host_cooldown);
    deletions_.prune(now);
    projects_.prune(now);
    shapes_.prune(now);
    proven_.prune(now);
    short_lives_.prune(now);
    std::erase_if(heirs_, [&](const auto& each) { return now - each.second.at > least_memory; });
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
