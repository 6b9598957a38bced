// The safeguards on culls, as one thing: what happened lately (victims, hosts in cooldown, failures
// in a row), and what the operator has set. The decision under them is
// reaper/decision/decide.hpp.
//
// Pure, one thread. To be fed from the journal at the start (`memory` says how far back), and with
// everything that happens then; the caller passes all times.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/breaker.hpp"
#include "reaper/safeguards/cooldowns.hpp"
#include "reaper/safeguards/hanging_deletions.hpp"
#include "reaper/safeguards/notices.hpp"
#include "reaper/safeguards/protection.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/safeguards/short_lives.hpp"
#include "reaper/safeguards/unproven_culls.hpp"
#include "reaper/safeguards/victim_history.hpp"

namespace reaper {

/// The words of safeguards in `NotEnough::safeguard` (and `Outcome::safeguard`).
namespace safeguard {
inline constexpr std::string_view limit_request = "limit-request";
inline constexpr std::string_view limit_window = "limit-window";
inline constexpr std::string_view limit_requester = "limit-requester";
inline constexpr std::string_view limit_project = "limit-project";
inline constexpr std::string_view limit_aggregate = "limit-aggregate";
inline constexpr std::string_view is_protected = "protected";
inline constexpr std::string_view min_run_time = "min-run-time";
inline constexpr std::string_view notice = "notice";
inline constexpr std::string_view thrash = "thrash";
inline constexpr std::string_view breaker = "breaker";
inline constexpr std::string_view project_breaker = "project-breaker";
inline constexpr std::string_view unproven = "unproven";
inline constexpr std::string_view shape_cooldown = "shape-cooldown";
inline constexpr std::string_view short_lived = "short-lived";
inline constexpr std::string_view cell_cooldown = "cell-cooldown";
inline constexpr std::string_view stale_plan = "stale-plan";
}  // namespace safeguard

class Safeguards {
public:
    /// Something began or ended that keeps culls from happening; as an event of the journal.
    struct Change {
        std::string_view
            kind;  ///< `breaker-opened`, `breaker-closed`, `project-breaker-opened`, ...
        std::string reason;
    };
    /// Why no server is deleted for a request now.
    struct Held {
        std::string_view safeguard;
        std::string reason;
    };
    /// What is left alone now, as text: a project, or a shape of its requests.
    struct LeftAlone {
        std::string_view safeguard;
        ProjectId project;
        std::string what;  ///< the shape; empty of a project
        CircuitState state{};
        int wasted = 0;  ///< slots in a row that went unused; of `short-lived`, culls whose room
                         ///< was given back
        std::optional<TimePoint> until;
        std::string project_name{};  ///< empty: not known
    };

    Safeguards() : Safeguards(SafeguardSettings{}) {}
    explicit Safeguards(SafeguardSettings settings);
    /// Other settings from now on (SIGHUP); what happened stays known.
    void reload(SafeguardSettings settings);
    const SafeguardSettings& settings() const { return settings_; }

    /// A deletion is sent. Repeating one has no effect.
    void note_victim(PastVictim victim);
    /// Its deletion was refused, or never happened: it counts for nothing.
    void note_refused_deletion(const ServerId& server, const RequestId& request);
    /// Servers are to be deleted for the request; until its freed-room result is noted, or that it
    /// came to nothing.
    void note_cull(const Request& request);
    void note_no_cull(const RequestId& request) { unproven_.erase(request); }
    /// What happened to the room of a request's cull, and the hosts on which it was not taken.
    /// `taken`: so many slots were; none: all if it helped, else none. Returns what that changes.
    std::vector<Change> note_freed_room(const Request& request, CullWorth worth,
                                        const std::vector<HostId>& untaken, TimePoint at,
                                        std::optional<int> taken = {});
    /// Room of the first request goes to the second, whose servers are to be worth it.
    void note_handed_over(const RequestId& from, const RequestId& to, TimePoint at);
    /// So many servers have the room of a cull since then.
    void note_taken(const Request& request, int takers, TimePoint at);
    /// One of them gave it back after this long; none: it has used it for long enough. Returns what
    /// that changes.
    std::vector<Change> note_use(const Request& request, std::optional<Duration> lived,
                                 TimePoint at);
    /// What happened to the room that was freed for a server that moves: did it take it? None: that
    /// says nothing.
    void note_move(const Request& request, std::optional<bool> taken, TimePoint at);
    /// Room on the hosts that the request could have taken and did not, though no servers were
    /// deleted for it.
    void note_cooldown(const RequestId& request, const std::vector<HostId>& hosts, TimePoint at);
    /// How the deletion of the server went. One that Nova refused is no victim. Returns
    /// what that changes.
    std::vector<Change> note_deletion(bool succeeded, const RequestId& request,
                                      const ServerId& server, TimePoint at);
    /// The wall clock was set forward by this duration (or back).
    void shift(Duration by);
    /// An operator has checked: earlier failures in a row no longer count.
    void reset_circuits();
    Breaker& breaker() { return breaker_; }
    const Breaker& breaker() const { return breaker_; }
    Notices& notices() { return notices_; }
    const Notices& notices() const { return notices_; }

    /// Why a plan for the request must not begin, whatever it is; none if it may, or did.
    std::optional<Held> why_not_now(const Request& request, TimePoint now) const;

    /// It waits for what becomes of room that was freed for its project: it may be served after
    /// that.
    bool waits_for_proof(const Request& request, TimePoint now) const;

    /// Why no server is deleted for a move that stays in its server's cell now, where Nova does not
    /// say which host is in which; none if some may be.
    std::optional<std::string> why_no_move(const Request& request) const;

    /// How far back victims and results of freed room still count.
    Duration memory() const;

    /// The workloads that are kept for a while, by project and name.
    std::vector<Thrashing> thrashing(TimePoint now) const;
    const Protection& protection() const { return protection_; }
    const HostCooldowns& cooldowns() const { return cooldowns_; }
    HangingDeletions& deletions() { return deletions_; }
    const HangingDeletions& deletions() const { return deletions_; }
    /// Hosts that are used only if nothing else is enough, each with its reason: those in cooldown,
    /// and those where deletions hang.
    std::map<HostId, std::string> passed_over(TimePoint now) const;
    const VictimHistory& history() const { return history_; }
    std::vector<LeftAlone> left_alone(TimePoint now) const;

    /// Nova's lists show more than one cell.
    void see_several_cells(bool several) { several_cells_ = several; }
    bool several_cells() const { return several_cells_; }

    /// Forgets what no longer counts.
    void prune(TimePoint now);

private:
    /// A cull of which it is not known yet whether it helped.
    struct NamedShape {
        ProjectId project;
        std::string what;
    };
    void note_project(const Request& request, CullWorth worth, int slots, TimePoint at,
                      std::vector<Change>& changes);
    void note_shape(const Request& request, CullWorth worth, int slots, TimePoint at,
                    std::vector<Change>& changes);
    double harm_of(const RequestId& request) const;
    std::optional<Held> why_unproven(const Request& request, TimePoint now) const;
    std::optional<Held> why_short_lived(const Request& request, TimePoint now) const;
    void note_name(const Request& request);
    void prune_names(TimePoint now);

    SafeguardSettings settings_;
    Protection protection_;
    VictimHistory history_;
    HostCooldowns cooldowns_;
    HangingDeletions deletions_;
    Breaker breaker_;
    Notices notices_;
    CullCircuits projects_;
    CullCircuits shapes_;  ///< by project and shape
    std::map<std::string, NamedShape> shape_names_;
    ProjectNames project_names_;  ///< as requests reported them; of those that are left alone
    UnprovenCulls unproven_;
    ProvenSlots proven_;
    ShortLives short_lives_;
    struct Heir {
        RequestId of;
        TimePoint at{};
    };
    std::multimap<RequestId, Heir> heirs_;  ///< by request: whose room it was
    CellCooldowns cell_cooldowns_;
    bool several_cells_ = false;
};

/// Names the projects that have no name yet.
void add_names(const ProjectNames& names, std::vector<Safeguards::LeftAlone>& all);

}  // namespace reaper
