// The gateway's waits: for an outcome, for what Nova says of who asks, and for one's turn to claim.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/gateway/placement_gateway.hpp"

namespace reaper {
namespace {

/// So many calls in a row whose request had no outcome in time: something is wrong.
constexpr int most_late = 3;
/// A call that came so late to a look is not late for it.
constexpr Duration fair_wait{2'000};
constexpr Duration pass_for{30'000};
/// While Nova does not tell who asks, nobody waits for that.
constexpr Duration until_nova_is_asked_again{10'000};
/// Of an answer that told of kept room, the claim comes within.
constexpr Duration claimed_within{5'000};
/// Another claim of the same host may take so long; then Placement decides between the two.
constexpr Duration longest_turn{3'000};
constexpr Duration turn_glance{5};

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
    CallLease(std::shared_ptr<const Waiting> waiting, const MessageSource& messages)
        : waiting_(std::move(waiting)), messages_(messages) {}
    bool held() const override { return waiting_->open && messages_.serving() != 0; }
    std::string why_not() const override {
        return waiting_->open ? Lease::why_not() : "nova-scheduler waits for the answer no more";
    }

private:
    std::shared_ptr<const Waiting> waiting_;
    const MessageSource& messages_;
};

/// Is with the request that is served: where it ends without an outcome, as when the reaper stops
/// before anything was done for it, that is known at once.
class PlacementGateway::Teller {
public:
    explicit Teller(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) {}
    ~Teller() { waiting_->given_up = true; }
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;
    void tell(const Outcome& outcome) { waiting_->outcome = outcome; }

private:
    std::shared_ptr<Waiting> waiting_;
};

std::optional<std::string> PlacementGateway::passes_through() const {
    const Duration now = dependencies_.cloud.clock.steady();
    if (dependencies_.stopping) return "stopping";
    if (now < passes_until_)
        return "requests had no outcome in time, " + std::to_string(most_late) + " in a row";
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
    call.on_client_gone([waiting] { waiting->open = false; });
    TriggeredRequest triggered;
    wanted.source = RequestSource::gateway;
    wanted.sent_at = clock.now();
    wanted.deadline = clock.now() + left;
    triggered.request = std::move(wanted);
    triggered.event_id = "gateway/" + id.str() + "/" + std::to_string(++calls_);
    triggered.event_type = "allocation_candidates";
    triggered.had_hosts = had_hosts;
    triggered.lease = std::make_shared<CallLease>(waiting, dependencies_.messages);
    triggered.done = [teller = std::make_shared<Teller>(waiting)](const Outcome& outcome) {
        teller->tell(outcome);
    };
    dependencies_.sink.submit(std::move(triggered));
    while (!waiting->outcome && !waiting->given_up && waiting->open && clock.steady() < until)
        co_await dependencies_.cloud.clock.sleep(glance);
    call.on_client_gone({});
    waiting->open = false;
    const bool late = !waiting->outcome && clock.steady() >= until;
    if (waiting->outcome || late) note_lateness(late && !call.client_gone());
    co_return waiting->outcome;
}

void PlacementGateway::note_lateness(bool late) {
    late_in_a_row_ = late ? late_in_a_row_ + 1 : 0;
    if (late_in_a_row_ < most_late) return;
    late_in_a_row_ = 0;
    passes_until_ = dependencies_.cloud.clock.steady() + pass_for;
    spdlog::error(
        "gateway: {} requests in a row had no outcome in time: everything passes through for {} s",
        most_late, pass_for.count() / 1000);
}

/// Whoever holds the turn too long has it no more, and Placement decides between the two.
Task<std::unique_ptr<ClaimTurn>> PlacementGateway::turn_for(std::set<ProviderId> providers) {
    const Clock& clock = dependencies_.cloud.clock;
    const Duration until = clock.steady() + longest_turn;
    const auto taken = [&] {
        return std::any_of(providers.begin(), providers.end(),
                           [&](const ProviderId& id) { return claiming_.contains(id); });
    };
    while (taken() && clock.steady() < until) co_await dependencies_.cloud.clock.sleep(turn_glance);
    co_return std::make_unique<ClaimTurn>(claiming_, std::move(providers));
}

/// Nova was asked, and did not say in time.
void PlacementGateway::note_unanswered(const GatewayCall& call, Duration waited) {
    const bool over = dependencies_.cloud.clock.steady() >= call.until();
    if (!over || waited < fair_wait || call.client_gone()) return;
    note_lateness(true);
    note_nova(Error{Errc::timeout, "not in time"});
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
