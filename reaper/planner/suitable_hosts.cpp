#include "reaper/planner/suitable_hosts.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/server_state.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/host_filter.hpp"

namespace reaper {
namespace {

using Fate = ServerState::Fate;

std::string state_text(const Server& server) {
    const std::string task = printable(server.task_state, 64);
    return printable(server.status, 64) + (task.empty() ? "" : ", " + task);
}

bool promises_room(const Server& server) {
    return std::any_of(server.allocations.begin(), server.allocations.end(),
                       [](const auto& held) { return !held.second.empty(); });
}

}  // namespace

bool may_be_victim(const Server& server) {
    return state_of(server).fate == Fate::goes && !server.host.empty() && promises_room(server);
}

bool is_being_deleted(const Server& server) {
    return state_of(server).fate == Fate::going;
}

std::optional<std::string> why_no_victim(const Server& server) {
    const ServerState state = state_of(server);
    if (state.fate != Fate::goes)
        return std::string{state.reason} + " (" + state_text(server) + ")";
    if (server.host.empty()) return "it has no host";
    if (!promises_room(server)) return "it holds no room in Placement";
    return std::nullopt;
}

struct SuitableHosts::Way {
    Way(Request asked, const CloudIndex& cloud, const Ledger& ledger, const SchedulerRules* rules,
        const std::map<HostId, std::string>* in_cooldown)
        : request{std::move(asked)},
          shape{shape_of(request)},
          checker{request, rules, cloud, ledger},
          input{request, shape, ledger, skipped, nullptr, nullptr, in_cooldown, &checker},
          filter{cloud, input, 1} {}

    const Request request;
    const Shape shape;
    const std::map<ServerId, std::string> skipped;
    const ConstraintChecker checker;
    const FilterInput input;
    const HostFilter filter;
};

SuitableHosts::SuitableHosts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                             const SchedulerRules* rules, std::map<HostId, std::string> in_cooldown)
    : cloud_{cloud},
      in_cooldown_{std::move(in_cooldown)},
      first_{std::make_unique<Way>(request, cloud, ledger, rules, &in_cooldown_)},
      second_{request.fallback
                  ? std::make_unique<Way>(by_fallback(request), cloud, ledger, rules, &in_cooldown_)
                  : nullptr} {}

SuitableHosts::~SuitableHosts() = default;

bool SuitableHosts::contains(const HostId& host) const {
    const std::uint32_t row = cloud_.row_of(host);
    if (row == CloudIndex::no_row) return false;
    return first_->filter.suits(row) || (second_ != nullptr && second_->filter.suits(row));
}

}  // namespace reaper
