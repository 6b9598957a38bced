// Applies the safeguards: feeds them with what happens, and stops the reaper when they say so.
//
// An operator's pause and the circuit breaker are files of their own: while one of them is there,
// no server is deleted. `reaper resume` ends the pause. It also closes the breaker, which otherwise
// closes by itself: after a while it is half open, its file is removed, and one cull at a time is
// tried. A breaker whose file can't be written (a full disk) still stops this process, and the
// write is tried again. What the breakers of projects and the cooldowns of shapes know is in the
// journal.
//
// The preconditions of culls (cull_preconditions.hpp) stop them in the same way, and give way by
// themselves when they are met.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reaper/controllers/safeguards/cull_preconditions.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

class SafeguardController {
public:
    /// What it works with; all of it must outlive it.
    struct Dependencies {
        Clock& clock;
        Journal& journal;
        Switch& pause;
        Switch& breaker;
        const bool& stopping;
        /// May be null: then they are met.
        const CullPreconditions* preconditions = nullptr;
        bool shared_journal = false;  ///< what another machine wrote is in it, without its files
    };
    using Spawn = std::function<void(Task<void>)>;

    /// `spawn` runs a coroutine of it; `on_change` is called when the reaper is stopped, and when
    /// it goes on.
    SafeguardController(Dependencies dependencies, SafeguardSettings settings, Spawn spawn,
                        std::function<void()> on_change);

    /// Feeds the safeguards with what the journal knows. An error if it can't be read.
    ResultTask<void> restore();
    /// What other reapers deleted since counts too. An error if the journal can't be read.
    ResultTask<void> read_victims();
    void reload(SafeguardSettings settings) { safeguards_.reload(std::move(settings)); }
    Safeguards& safeguards() noexcept { return safeguards_; }
    const Safeguards& safeguards() const noexcept { return safeguards_; }

    /// Why no server may be deleted now: a pause, or what must hold does not; none if they may.
    /// Cheap.
    std::optional<std::string> paused_reason() const;
    /// Why it is not known yet; none if it is.
    std::optional<std::string> not_known_yet() const;

    /// Servers are to be deleted for the request; or none were after all.
    void on_cull(const Request& request) { safeguards_.note_cull(request); }
    void on_no_cull(const RequestId& request) { safeguards_.note_no_cull(request); }
    /// A deletion is sent; it did not happen after all; and how it ended. One that is left shelved
    /// on its host counts as a victim.
    void on_sent(const Request& request, const Victim& victim, const HostId& host);
    void on_not_done(const RequestId& request, const Victim& victim);
    void on_left_shelved(const Victim& victim);
    void on_deletion(const RequestId& request, const ServerId& server, bool succeeded);
    void on_freed_room(const Request& request, const FreedRoomResult& freed_room);
    void on_handed_over(const RequestId& from, const RequestId& to) {
        safeguards_.note_handed_over(from, to, dependencies_.clock.now());
    }
    /// A server that has freed room of a request gave it back after this time, or (none) has used
    /// it for long enough.
    void on_use(const Request& request, std::optional<Duration> lived);
    /// Hosts whose room Nova refuses to use.
    void on_cooldown(const std::vector<HostId>& hosts, const Request& request);

    /// Notices when an operator pauses or resumes, and when the breaker may try again, and journals
    /// it. To be called every `step`.
    void check();
    /// Between two calls of `check`.
    static constexpr Duration step{1000};

private:
    /// By an operator, or the circuit breaker.
    std::optional<std::string> switched_off() const;
    /// Why it can't be determined whether an operator paused; none if it can.
    std::optional<std::string> unknown_pause() const;
    /// By a precondition, or by a switch that can't be read.
    std::optional<std::string> held_back() const;
    void tell(const std::vector<Safeguards::Change>& changes);
    void open_breaker(const std::string& why);
    void check_resumed();
    void check_breaker();
    void check_pause();
    void check_preconditions();
    void check_deletions();
    void restore_breaker(std::optional<TimePoint> opened_at);
    Task<void> note_event(std::string kind, std::string reason);

    Dependencies dependencies_;
    Spawn spawn_;
    std::function<void()> on_change_;
    Safeguards safeguards_;
    std::optional<std::string> unwritten_;  ///< why the breaker is open, while no file says so
    bool breaker_open_ = false;             ///< as the file should say
    std::optional<TimePoint> resumed_at_;   ///< of the switch, as last seen
    bool was_paused_ = false;
    bool was_held_back_ = false;
    std::map<HostId, std::string> hung_;  ///< hosts where deletions hang, as last logged
};

}  // namespace reaper
