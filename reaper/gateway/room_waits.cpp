#include "reaper/gateway/room_waits.hpp"

#include <algorithm>
#include <set>

#include "reaper/gateway/claim_text.hpp"

namespace reaper {
namespace {

WaitingCall waiting_call(const Request& wanted, const CloudCache& cache) {
    WaitingCall waiting;
    waiting.project = wanted.project;
    waiting.project_name = name_of_project(cache.project_names(), wanted.project);
    return waiting;
}

/// Where room is promised to the request.
std::map<HostId, std::string> named_hosts(const GatewayPorts& ports, const RequestId& id) {
    std::map<HostId, std::string> hosts;
    for (const auto* const promise : ports.ledger().promises_of(id)) {
        const Host* const host = ports.cache().find(promise->host);
        hosts.emplace(promise->host, host == nullptr ? std::string{} : host->name);
    }
    return hosts;
}

/// Is room for the claim being freed on its hosts?
bool is_on_its_way(const GatewayPorts& ports, const RequestId& id, const Allocations& asked) {
    const Ledger& ledger = ports.ledger();
    const auto claimed = [&](const HostId& on) {
        const Host* const host = ports.cache().find(on);
        return host != nullptr && takes_room_of(*host, asked);
    };
    const auto promises = ledger.promises_of(id);
    const auto evictions = ledger.evictions_of(id);
    return std::any_of(promises.begin(), promises.end(),
                       [&](const auto* const promise) {
                           return promise->open() > 0 && claimed(promise->host);
                       }) &&
           std::any_of(evictions.begin(), evictions.end(), [&](const auto* const eviction) {
               return !eviction->ended && claimed(eviction->host);
           });
}

}  // namespace

/// Nova-scheduler waits, or is about to claim what it was offered.
struct RoomWaits::Waiting {
    int calls = 0;
    Duration claims_until{};  ///< on the steady clock: its claim comes by then
    std::set<ServerId> unclaimed{};
    bool left = false;      ///< the client of its last call is gone
    bool given_up = false;  ///< no outcome will come
    std::optional<Outcome> outcome{};
};

/// The right to act: nova-scheduler waits, and the broker serves the queue to us.
class RoomWaits::CallLease final : public Lease {
public:
    CallLease(WaitingPointer waiting, const MessageSource& messages, const Clock& clock)
        : waiting_(std::move(waiting)), messages_(messages), clock_(clock) {}
    bool held() const override { return !given_up() && messages_.serving() != 0; }
    bool given_up() const override {
        return waiting_->left ||
               (waiting_->calls == 0 && clock_.steady() >= waiting_->claims_until);
    }
    std::string why_not() const override {
        return given_up() ? "nova-scheduler waits for the answer no more" : Lease::why_not();
    }

private:
    WaitingPointer waiting_;
    const MessageSource& messages_;
    const Clock& clock_;
};

/// Is with the request that is served: where it ends without an outcome, as when the reaper stops
/// before anything was done for it, that is known at once.
class RoomWaits::Teller {
public:
    explicit Teller(WaitingPointer waiting) : waiting_(std::move(waiting)) {}
    ~Teller() { waiting_->given_up = true; }
    Teller& operator=(Teller&&) = delete;
    void tell(const Outcome& outcome) { waiting_->outcome = outcome; }

private:
    WaitingPointer waiting_;
};

RoomWaits::WaitingPointer RoomWaits::find(const RequestId& id) const {
    const auto known = waits_.find(id);
    return known == waits_.end() ? nullptr : known->second.lock();
}

RoomWaits::Claim::Claim(const RoomWaits& waits, const RequestId& id, const GatewayCall& call)
    : waits_(waits), call_(call), waiting_(waits.find(id)) {
    if (waiting_) ++waiting_->calls;
}

RoomWaits::Claim::~Claim() {
    if (!waiting_) return;
    --waiting_->calls;
    if (call_.client_gone() || waiting_->unclaimed.empty()) return;
    waiting_->claims_until = waits_.ports_.steady() + claimed_within;
}

void RoomWaits::expect_claim(const RequestId& id) {
    if (const auto its = find(id)) its->claims_until = ports_.steady() + claimed_within;
}

void RoomWaits::claimed(const RequestId& id, const ServerId& server) {
    const auto its = find(id);
    if (its && its->unclaimed.erase(server) > 0 && its->unclaimed.empty()) its->claims_until = {};
}

std::optional<std::string> RoomWaits::why_no_place(const Request& wanted) const {
    const WaitingCall waiting = waiting_call(wanted, ports_.cache());
    auto why = waiting_room_.why_paused(waiting, ports_.steady());
    if (!why) why = waiting_room_.why_full(waiting, ports_.settings().max_held);
    return why;
}

Task<std::optional<Outcome>> RoomWaits::wait_for(Request wanted, GatewayCall& call,
                                                 bool had_hosts) {
    const Clock& clock = ports_.cloud.clock;
    const auto waiting = std::make_shared<Waiting>();
    const RequestId id = wanted.id;
    const Duration until = call.until();
    const Duration left = std::max(until - clock.steady(), Duration{0});
    WaitingRoom::Place place{waiting_room_, waiting_call(wanted, ports_.cache())};
    waiting->calls = 1;
    waiting->unclaimed.insert(wanted.requesters.begin(), wanted.requesters.end());
    std::erase_if(waits_, [](const auto& each) { return each.second.expired(); });
    waits_[id] = waiting;
    call.on_client_gone([waiting] { waiting->left = true; });
    TriggeredRequest triggered;
    wanted.source = RequestSource::gateway;
    wanted.sent_at = clock.now();
    wanted.deadline = clock.now() + left;
    pass_over_paused_hosts(wanted);
    triggered.request = std::move(wanted);
    triggered.event_id = "gateway/" + id.str() + "/" + std::to_string(++calls_);
    triggered.event_type = "allocation_candidates";
    triggered.had_hosts = had_hosts;
    triggered.lease = std::make_shared<CallLease>(waiting, ports_.messages, clock);
    triggered.done = [teller = std::make_shared<Teller>(waiting)](const Outcome& outcome) {
        teller->tell(outcome);
    };
    ports_.sink.submit(std::move(triggered));
    while (!waiting->outcome && !waiting->given_up && !waiting->left && clock.steady() < until) {
        co_await ports_.cloud.clock.sleep(GatewayCall::poll_interval);
        place.waits_for(named_hosts(ports_, id));
    }
    call.on_client_gone({});
    --waiting->calls;
    if (waiting->outcome)
        place.served();
    else if (clock.steady() >= until && !call.client_gone())
        log_.pause(place.late(clock.steady()));
    co_return waiting->outcome;
}

void RoomWaits::pass_over_paused_hosts(Request& wanted) const {
    for (const auto& [id, why] : waiting_room_.paused_hosts(ports_.steady()))
        if (const Host* const host = ports_.cache().find(id))
            wanted.placement.without_slow_hosts |=
                wanted.excluded_hosts.emplace(host->service_host, why).second;
}

bool RoomWaits::is_kept(const RequestId& id, const Allocations& asked) const {
    Resources kept;
    for (const EscrowedRoom& room : ports_.escrow.kept_for(id))
        for (const auto& [provider, amounts] : room.holds)
            if (asked.contains(provider)) kept += amounts;
    return sum_of(asked).fits_in(kept);
}

Task<bool> RoomWaits::wait_for_its_room(RequestId id, Allocations asked, GatewayCall& call) {
    const Clock& clock = ports_.cloud.clock;
    const Duration until = call.until() + ports_.settings().deadline;
    if (!is_on_its_way(ports_, id, asked) || clock.steady() >= until) co_return false;
    const Claim claiming{*this, id, call};
    WaitingRoom::Place place{waiting_room_, WaitingCall{}};
    place.waits_for(named_hosts(ports_, id));
    do {
        co_await ports_.cloud.clock.sleep(GatewayCall::poll_interval);
    } while (!call.client_gone() && clock.steady() < until && is_on_its_way(ports_, id, asked) &&
             !is_kept(id, asked));
    if (clock.steady() >= until && !call.client_gone())
        log_.pause(place.late(clock.steady()));
    else
        place.served();
    co_return true;
}

}  // namespace reaper
