#include "reaper/planner/correction_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/rooms/room.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {
namespace {

/// Servers that do not go, in full.
constexpr std::size_t most_listed = 20;

const Server* server_on(const Host& host, const ServerId& id) {
    const auto at = std::find_if(host.servers.begin(), host.servers.end(),
                                 [&](const Server& server) { return server.id == id; });
    return at == host.servers.end() ? nullptr : &*at;
}

/// Why a server does not go.
struct Stays {
    std::string why;
    std::string safeguard{};  ///< its word; empty: none keeps it
};

class CorrectionPlan {
public:
    CorrectionPlan(const Request& request, const Host& host, const Ledger& ledger,
                   const PlanOptions& options)
        : request_{request}, host_{host}, ledger_{ledger}, options_{options} {
        if (options.budgets != nullptr) used_.emplace(*options.budgets);
    }

    Decision decide() {
        for (const CorrectedServer& each : request_.correction->servers) judge(each);
        if (victims_.empty() && may_not_.empty())
            return NothingToDo{
                "none of its servers is left on " + host_name() + ": " + listed(gone_), {}};
        if (victims_.empty()) {
            NotEnough answer;
            answer.reason = listed(may_not_);
            answer.safeguard = safeguard_;
            return answer;
        }
        Plan plan;
        plan.request = request_.id;
        HostPlan there;
        there.host = host_.id;
        there.host_name = host_.name;
        there.victims = std::move(victims_);
        plan.hosts.push_back(std::move(there));
        auto others = std::move(may_not_);
        others.insert(others.end(), gone_.begin(), gone_.end());
        plan.note = listed(others);
        return plan;
    }

private:
    std::string host_name() const { return printable(host_.name, 64); }

    void judge(const CorrectedServer& each) {
        const Server* const server = server_on(host_, each.server);
        if (auto gone = why_gone(server, each.server)) {
            gone_.push_back(name_of(server, each.server) + ": " + *gone);
        } else if (auto stays = why_stays(*server)) {
            may_not_.push_back(name_of(server, each.server) + " stays: " + stays->why);
            if (safeguard_.empty()) safeguard_ = std::move(stays->safeguard);
        } else {
            if (used_) used_->add(*server, host_);
            victims_.push_back(victim_of(*server, each.reason));
        }
    }

    static std::string name_of(const Server* server, const ServerId& id) {
        const std::string text = printable(id.str(), 64);
        return server == nullptr ? text : printable(server->name, 64) + " (" + text + ")";
    }

    std::optional<std::string> why_gone(const Server* server, const ServerId& id) const {
        if (const auto* const eviction = ledger_.eviction(id))
            return "it is evicted already, for " + printable(eviction->request.str(), 64);
        if (server == nullptr) return "it is no longer on " + host_name();
        if (comes_free(*server, ledger_)) return "it is being deleted already";
        return std::nullopt;
    }

    std::optional<Stays> why_stays(const Server& server) const {
        if (const auto at = options_.skipped.find(server.id); at != options_.skipped.end())
            return Stays{at->second};
        if (!server.revocable()) return Stays{"it is not revocable"};
        if (auto why = why_no_victim(server)) return Stays{std::move(*why)};
        if (options_.protection != nullptr)
            if (auto why = options_.protection->why(server, host_.member_of))
                return Stays{std::move(*why), std::string{safeguard::is_protected}};
        if (options_.victim_filter != nullptr)
            if (auto why = options_.victim_filter->why_kept(server, host_))
                return Stays{std::move(*why), std::string{safeguard::min_run_time}};
        return why_over_budget(server);
    }

    std::optional<Stays> why_over_budget(const Server& server) const {
        if (!used_) return std::nullopt;
        BudgetCounter with = *used_;
        with.add(server, host_);
        const auto exceeded = with.exceeded();
        if (exceeded.empty()) return std::nullopt;
        return Stays{with.text(exceeded.front()), with.budget(exceeded.front()).safeguard};
    }

    Victim victim_of(const Server& server, const std::string& reason) const {
        const std::string why =
            server.revocable_because->str() +
            (server.revocable_by.empty() ? "" : " (tagger " + server.revocable_by.str() + ")");
        Victim told{
            server.id,      server.name,        server.project, server.host, held_on(server, host_),
            server.created, why + "; " + reason};
        told.flavor = server.flavor_name;
        told.launched = server.launched;
        return told;
    }

    static std::string listed(const std::vector<std::string>& servers) {
        std::string text;
        for (std::size_t i = 0; i < servers.size() && i < most_listed; ++i)
            text += (i == 0 ? "" : "; ") + servers[i];
        if (servers.size() > most_listed)
            text += "; and " + std::to_string(servers.size() - most_listed) + " more";
        return text;
    }

    const Request& request_;
    const Host& host_;
    const Ledger& ledger_;
    const PlanOptions& options_;
    std::optional<BudgetCounter> used_;
    std::vector<Victim> victims_;
    std::vector<std::string> may_not_;
    std::vector<std::string> gone_;
    std::string safeguard_;
};

}  // namespace

Decision plan_correction(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                         const PlanOptions& options) {
    const Host* const host = cloud.find(request.correction->host);
    if (host == nullptr)
        return NothingToDo{
            "host " + printable(request.correction->host_name, 64) + " no longer exists", {}};
    return CorrectionPlan{request, *host, ledger, options}.decide();
}

}  // namespace reaper
