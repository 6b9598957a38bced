// The brakes at work: fed with what happens, and thrown when it must be.
//
// The kill switch, thrown by an operator, and the circuit breaker, which throws it when culls keep
// helping nobody or deletions keep failing, are one: while it is thrown nobody dies, until
// `reaper resume`. A breaker whose file can't be written (a full disk) stops this process all the
// same, and the writing is tried again.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reaper/safeguards/safeguards.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/pause_switch.hpp"

namespace reaper {

class Braking {
public:
    /// What it works with; all of it must outlive it.
    struct Parts {
        Clock& clock;
        Journal& journal;
        Switch& pause;
        const bool& stopping;
    };
    using Spawn = std::function<void(Task<void>)>;

    /// `spawn` runs a coroutine of it; `on_change` is called when it is thrown, and when released.
    Braking(Parts parts, BrakeSettings settings, Spawn spawn, std::function<void()> on_change);

    /// Feeds the brakes with what the journal knows. An error if it can't be read.
    ResultTask<void> restore();
    void reload(BrakeSettings settings) { brakes_.reload(std::move(settings)); }
    Brakes& brakes() noexcept { return brakes_; }

    /// Why nobody may be killed now; none while it is allowed. Cheap.
    std::optional<std::string> thrown() const;

    /// A deletion is sent; it did not happen after all; and how it ended.
    void on_sent(const RequestId& request, const Victim& victim);
    void on_not_done(const Victim& victim) { brakes_.note_refused_deletion(victim.server); }
    void on_deletion(const RequestId& request, bool succeeded);
    void on_aftermath(const Request& request, const Aftermath& aftermath);
    /// Hosts whose room Nova refuses to use.
    void on_doubt(const std::vector<HostId>& hosts, const Request& request);

    /// Tells the journal when the switch is thrown and released, until `stopping`.
    Task<void> run();

private:
    void open_breaker(const std::string& why);
    Task<void> mark(std::string kind, std::string reason);
    void look();

    Parts parts_;
    Spawn spawn_;
    std::function<void()> on_change_;
    Brakes brakes_;
    std::optional<std::string> unwritten_;  ///< why the breaker is open, while no file says so
    bool was_thrown_ = false;
};

}  // namespace reaper
