// What must be known before any server may be deleted:
//
//   * the projects that the configuration protects are projects of this cloud (an unknown name
//     protects no project), and those that its priorities prefer are looked up;
//   * our user sees servers of other projects both ways, in the list and one by one (to a user who
//   is
//     no administrator "gone" and "may not see" look alike).
//
// Both are checked at the start, and the first one whenever the configuration was read again. While
// the result is not known, no server is deleted, and requests wait. If a precondition does not
// hold, no server is deleted, and it is checked again at intervals: a project may be created, a
// policy fixed. All other unknown names of the configuration are logged, and change nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/decision/cloud_names.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

class CullPreconditions {
public:
    /// Gets the policy with its names looked up.
    using Apply = std::function<void(std::shared_ptr<const CompiledPolicy>)>;

    /// `refresher` and the ports must outlive it. `on_change`: what holds changed.
    CullPreconditions(CloudPorts cloud, const CacheRefresher& refresher,
                      std::shared_ptr<const CompiledPolicy> policy, Apply apply,
                      std::function<void()> on_change);

    /// Another policy from now on, as it is written.
    void reload(std::shared_ptr<const CompiledPolicy> policy);

    /// Why it is not known yet which servers the configuration protects; none if it is.
    std::optional<std::string> not_known_yet() const;
    /// Why no server may be deleted; none if they may, as far as it is known.
    std::optional<std::string> unmet() const;

    /// Checks what is due. An error: the result is not known.
    ResultTask<void> check();
    /// Between two calls of `check`.
    static constexpr Duration step{500};
    /// Before a request is refused: what does not hold may do so by now. An error: as `check`.
    ResultTask<void> look_again();
    /// For a decision to delete: what the servers of others look like is known when it returns. The
    /// cloud was read before.
    ResultTask<void> ensure_sight();

private:
    /// Between two looks at what does not hold.
    static constexpr Duration again_after{10'000};
    /// The same where requests ask for it.
    static constexpr Duration at_once_after{1'000};
    /// Between two looks at the names: another project may have one of them by now.
    static constexpr Duration names_hold_for{300'000};

    /// One of the preconditions.
    struct State {
        bool known = false;
        std::optional<std::string> unmet{};
        std::optional<Duration> looked_at{};  ///< steady
    };

    bool due(const State& state, Duration after = again_after) const;
    ResultTask<void> look_up_names();
    ResultTask<void> look_at_a_server();
    void settle(State& state, std::optional<std::string> unmet);
    void tell(const ResolvedPolicy& resolved);

    CloudPorts cloud_;
    const CacheRefresher& refresher_;
    std::shared_ptr<const CompiledPolicy> written_;
    bool spares_by_name_;  ///< its names have to be known before any server is deleted
    Apply apply_;
    std::function<void()> on_change_;
    State names_;
    State sight_;
    config::Policy resolved_{};  ///< with the ids that the names had last
    std::string told_;           ///< of the names, last: said once
    std::string last_error_;     ///< why they could not be looked up
};

}  // namespace reaper
