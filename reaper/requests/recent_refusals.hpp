// Refusals of the last second: when many similar requests come at once, one answer serves them all.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// A refusal deletes nothing, so a slightly older answer does no harm; a plan is always made
/// afresh.
class RecentRefusals {
public:
    static constexpr Duration fresh_for{1000};
    static constexpr std::size_t most = 64;

    using Policy = std::shared_ptr<const CompiledPolicy>;

    /// `now`: steady.
    void note(const Request& request, const NotEnough& answer, Policy policy, Duration now);
    /// The answer to a request of the same project, shape, number of slots (or fewer) and
    /// constraints, given under this policy less than `fresh_for` ago; without the list of hosts,
    /// and naming it.
    std::optional<NotEnough> find(const Request& request, const Policy& policy, Duration now) const;

private:
    struct Refusal {
        Request request;
        NotEnough answer;
        Policy policy;
        Duration at{};
    };
    std::deque<Refusal> refusals_;  ///< newest first
};

}  // namespace reaper
