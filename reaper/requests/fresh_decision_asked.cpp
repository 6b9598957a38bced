// What is answered to who only asks: by the cache as it is.
#include <utility>

#include "reaper/decision/decide.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/requests/fresh_decision.hpp"

namespace reaper {

std::optional<std::string> FreshDecision::why_without_reservations() const {
    if (reservations_ == nullptr) return std::nullopt;
    const auto why = reservations_->why_not_known();
    if (!why) return std::nullopt;
    return why->what;
}

/// The role is known then; no wait but Keystone's, and other callers are not blocked.
Task<void> FreshDecision::look_up_role(Request& request) {
    if (reservations_ == nullptr || reservations_->why_not_known()) co_return;
    ProjectId project = request.project;
    request.role = co_await reservations_->role_of(std::move(project), Giving::look);
}

Task<Decision> FreshDecision::would_decide(std::shared_ptr<const CompiledPolicy> policy,
                                           Request request) {
    Decision decision = co_await decide_on_cache(std::move(policy), std::move(request));
    add_names(refresher_.cache().project_names(), decision);
    co_return decision;
}

Task<RoomAnswer> FreshDecision::room_for(std::shared_ptr<const CompiledPolicy> policy,
                                         Request request) {
    RoomAnswer answer = co_await room_on_cache(std::move(policy), std::move(request));
    add_names(refresher_.cache().project_names(), answer.decision);
    co_return answer;
}

Task<Decision> FreshDecision::decide_on_cache(std::shared_ptr<const CompiledPolicy> policy,
                                              Request request) {
    co_await look_up_role(request);
    if (!policy->protection.by_owners()) co_await refresher_.learn_lock_holders();
    // No pause from here on: what the question may have is in the ledger only while it is asked.
    if (reservations_ != nullptr) reservations_->update_ledger();
    request.borrows = would_borrow(*policy, request);
    const RoomKeeper::Question question{rooms_, request};
    const auto skipped = refresher_.kept_by_locks();
    Decision decision = decide_now(*policy, request, skipped);
    ReservationController::Release given;
    if (request.borrows && std::holds_alternative<Refused>(decision)) {
        Request borrower = request;
        given = co_await borrow(std::move(policy), std::move(borrower), Giving::look);
    } else if (reservations_ != nullptr && !std::holds_alternative<NothingToDo>(decision)) {
        std::map<ServerId, std::string> no_servers;
        Request for_role = request;
        given = co_await release_reserved(std::move(policy), std::move(for_role), decision,
                                          std::move(no_servers), Giving::look);
    }
    if (given.would) co_return std::move(*given.would);
    co_return decision;
}

Task<RoomAnswer> FreshDecision::room_on_cache(std::shared_ptr<const CompiledPolicy> policy,
                                              Request request) {
    co_await look_up_role(request);
    if (!policy->protection.by_owners()) co_await refresher_.learn_lock_holders();
    if (reservations_ != nullptr) reservations_->update_ledger();
    request.borrows = would_borrow(*policy, request);
    const RoomKeeper::Question question{rooms_, request};
    const auto skipped = refresher_.kept_by_locks();
    const CloudCache& cache = refresher_.cache();
    const TimePoint now = clock_.now();
    std::vector<Host> given;
    if (reservations_ != nullptr) given = reservations_->as_if_given(request);
    if (given.empty())
        co_return reaper::room_for(*policy, request, cache.index(), cache.tag_data(),
                                   rooms_.ledger(), now, safeguards_, skipped);
    CloudIndex hosts;
    hosts.protect(policy->protection);
    for (const Host* const host : cache.hosts()) hosts.put(*host);
    for (const Host& host : given) hosts.put(host);
    co_return reaper::room_for(*policy, request, hosts, cache.tag_data(), rooms_.ledger(), now,
                               safeguards_, skipped);
}

}  // namespace reaper
