// The gateway's waits: for an outcome, for what Nova says of who asks, and for one's turn to claim.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// A call that came so late to a look is not late for it.
constexpr Duration fair_wait{2'000};
/// While Nova does not tell who asks, nobody waits for that.
constexpr Duration until_nova_is_asked_again{10'000};
/// Another claim of the same host may take so long; then Placement decides between the two.
constexpr Duration longest_turn{3'000};
constexpr Duration turn_poll_interval{5};

/// Of a service that is away, or lets us in no more; not of one request.
bool is_of_the_service(Errc code) {
    switch (code) {
        case Errc::unreachable:
        case Errc::timeout:
        case Errc::unauthorized:
        case Errc::forbidden:
        case Errc::server_error:
        case Errc::tls: return true;
        default: return false;
    }
}

}  // namespace

/// The right to act: nova-scheduler waits, and the broker serves the queue to us.
class PlacementGateway::CallLease final : public Lease {
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
class PlacementGateway::Teller {
public:
    explicit Teller(WaitingPointer waiting) : waiting_(std::move(waiting)) {}
    ~Teller() { waiting_->given_up = true; }
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;
    void tell(const Outcome& outcome) { waiting_->outcome = outcome; }

private:
    WaitingPointer waiting_;
};

std::optional<std::string> PlacementGateway::passes_through() const {
    const Duration now = dependencies_.cloud.clock.steady();
    if (dependencies_.stopping) return "stopping";
    if (auto late = waiting_room_.why_all_paused(now)) return late;
    if (auto why = dependencies_.unable()) return why;
    if (now < nova_silent_until_) return "Nova does not tell who asks: " + nova_trouble_;
    return std::nullopt;
}

bool PlacementGateway::awaits_claims() const {
    const Duration now = dependencies_.cloud.clock.steady();
    return std::any_of(told_kept_.begin(), told_kept_.end(), [&](const auto& each) {
        return now - each.second < claimed_within && dependencies_.kept_rooms.keeps_for(each.first);
    });
}

void PlacementGateway::note_told_of_kept_room(const RequestId& id) {
    if (dependencies_.kept_rooms.kept_for(id).empty()) return;
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(told_kept_,
                  [&](const auto& each) { return now - each.second >= claimed_within; });
    told_kept_[id] = now;
}

/// None: not before the deadline, the client left, or the reaper stops and does nothing for it. A
/// stop alone ends no wait: what was begun is finished, and gets its answer.
Task<std::optional<Outcome>> PlacementGateway::wait_for(Request wanted, GatewayCall& call,
                                                        bool had_hosts) {
    const Clock& clock = dependencies_.cloud.clock;
    const auto waiting = std::make_shared<Waiting>();
    const RequestId id = wanted.id;
    const Duration until = call.until();
    const Duration left = std::max(until - clock.steady(), Duration{0});
    WaitingRoom::Place place{waiting_room_, waiting_call(wanted)};
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
    triggered.lease = std::make_shared<CallLease>(waiting, dependencies_.messages, clock);
    triggered.done = [teller = std::make_shared<Teller>(waiting)](const Outcome& outcome) {
        teller->tell(outcome);
    };
    dependencies_.sink.submit(std::move(triggered));
    while (!waiting->outcome && !waiting->given_up && !waiting->left && clock.steady() < until) {
        co_await dependencies_.cloud.clock.sleep(poll_interval);
        place.waits_for(named_hosts(id));
    }
    call.on_client_gone({});
    waiting->calls = 0;
    if (waiting->outcome)
        place.served();
    else if (clock.steady() >= until && !call.client_gone())
        note_late(place.late(clock.steady()));
    co_return waiting->outcome;
}

/// Where room is promised to the request.
std::map<HostId, std::string> PlacementGateway::named_hosts(const RequestId& id) const {
    std::map<HostId, std::string> hosts;
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(id)) {
        const Host* const host = dependencies_.refresher.cache().find(promise->host);
        hosts.emplace(promise->host, host == nullptr ? std::string{} : host->name);
    }
    return hosts;
}

void PlacementGateway::note_late(const std::optional<std::string>& pause) const {
    if (pause) spdlog::error("gateway: {}", printable(*pause));
}

/// Is room for the claim being freed on its hosts?
bool PlacementGateway::is_on_its_way(const RequestId& id, const Allocations& asked) const {
    const Ledger& ledger = dependencies_.rooms.ledger();
    const auto claimed = [&](const HostId& on) {
        const Host* const host = dependencies_.refresher.cache().find(on);
        return host != nullptr &&
               std::any_of(host->providers.begin(), host->providers.end(),
                           [&](const Provider& provider) { return asked.contains(provider.id); });
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

/// Until its own room is there or can't come, for one deadline more than the call has: refused,
/// nova-scheduler would not come back to this host. False: none is on its way.
Task<bool> PlacementGateway::wait_for_its_room(RequestId id, Allocations asked, GatewayCall& call) {
    const Clock& clock = dependencies_.cloud.clock;
    const Duration until = call.until() + dependencies_.settings.deadline;
    if (!is_on_its_way(id, asked) || clock.steady() >= until) co_return false;
    const auto waiting = waits_.contains(id) ? waits_.at(id).lock() : nullptr;
    if (waiting) ++waiting->calls;
    WaitingRoom::Place place{waiting_room_, WaitingCall{}};
    place.waits_for(named_hosts(id));
    const auto fits = [&] {
        Resources all, kept;
        for (const auto& [provider, amounts] : asked) all += amounts;
        for (const KeptRoom& room : dependencies_.kept_rooms.kept_for(id))
            for (const auto& [provider, amounts] : room.holds)
                if (asked.contains(provider)) kept += amounts;
        return all.fits_in(kept);
    };
    while (!call.client_gone() && clock.steady() < until && is_on_its_way(id, asked) && !fits())
        co_await dependencies_.cloud.clock.sleep(poll_interval);
    if (waiting) --waiting->calls;
    if (clock.steady() >= until && !call.client_gone())
        note_late(place.late(clock.steady()));
    else
        place.served();
    co_return true;
}

/// Whoever holds the turn too long has it no more, and Placement decides between the two.
Task<std::unique_ptr<Turn<ProviderId>>> PlacementGateway::turn_for(std::set<ProviderId> providers) {
    const Clock& clock = dependencies_.cloud.clock;
    const Duration until = clock.steady() + longest_turn;
    const auto taken = [&] {
        return std::any_of(providers.begin(), providers.end(),
                           [&](const ProviderId& id) { return claiming_.contains(id); });
    };
    while (taken() && clock.steady() < until)
        co_await dependencies_.cloud.clock.sleep(turn_poll_interval);
    co_return std::make_unique<Turn<ProviderId>>(claiming_, std::move(providers));
}

/// Nova was asked, and did not say in time.
void PlacementGateway::note_unanswered(const GatewayCall& call, Duration waited) {
    const bool over = dependencies_.cloud.clock.steady() >= call.until();
    if (!over || waited < fair_wait || call.client_gone()) return;
    note_late(waiting_room_.late(WaitingCall{}, dependencies_.cloud.clock.steady()));
}

void PlacementGateway::note_nova(const std::optional<Error>& trouble) {
    const Duration now = dependencies_.cloud.clock.steady();
    if (!trouble) nova_silent_until_ = {};
    if (!trouble || !is_of_the_service(trouble->code)) return;
    if (now >= nova_silent_until_)
        spdlog::error(
            "gateway: Nova does not tell who asks: everything passes through for {} s: {}",
            until_nova_is_asked_again.count() / 1000, trouble->what);
    nova_silent_until_ = now + until_nova_is_asked_again;
    nova_trouble_ = trouble->what;
}

}  // namespace reaper
