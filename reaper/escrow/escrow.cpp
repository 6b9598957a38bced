#include "reaper/escrow/escrow.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/escrow_consumer.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper::escrow_consumers {

// Words and steps that all of Escrow uses.

/// Of one write.
inline constexpr Duration call_deadline{5'000};
inline constexpr const char* escrow_consumer_type = "RESERVATION";
/// The project of all escrow consumers, and the user of those that no server had: Placement takes
/// any text.
inline constexpr const char* own_name = "openstack-reaper";

inline std::string name_of(const ServerId& server) {
    return printable(server.str(), 64);
}

/// Has Nova let it go? It counts as gone from when Nova shows it as DELETED: its host gives its
/// CPUs and devices free next, before it takes another server.
inline bool is_gone(const std::optional<ServerRecord>& record) {
    return !record;
}

/// With nothing held by it.
inline ConsumerChange emptied(ServerId id, Consumer consumer) {
    consumer.holds.clear();
    return {std::move(id), std::move(consumer)};
}

}  // namespace reaper::escrow_consumers

namespace reaper {

// Placement as if each victim held its room until Nova lets it go.

/// Both must outlive it.
class EscrowView final : public Placement {
public:
    EscrowView(Escrow& rooms, Placement& placement) : rooms_(rooms), placement_(placement) {}

    ResultTask<std::vector<ProviderRecord>> providers() override { return placement_.providers(); }
    ResultTask<std::set<ResourceClass>> resource_classes() override {
        return placement_.resource_classes();
    }
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override {
        auto summaries = co_await placement_.summaries(std::move(resource_class));
        if (summaries && rooms_.size() > 0)
            for (ProviderSummary& each : *summaries) each.used -= rooms_.shown_free_on(each.id);
        co_return summaries;
    }
    ResultTask<ProviderState> room(ProviderId id) override {
        auto state = co_await placement_.room(id);
        if (!state) co_return state;
        co_await rooms_.adopt_from(std::move(id), state->allocations);
        rooms_.show(state->allocations);
        co_return state;
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        auto state = co_await placement_.provider(id);
        if (!state) co_return state;
        co_await rooms_.adopt_from(std::move(id), state->allocations);
        rooms_.show(state->allocations);
        co_return state;
    }
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override {
        return placement_.aggregates(std::move(id));
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        auto held = co_await rooms_.held_by(std::move(consumer));
        if (!held) co_return held.error();
        co_return std::move(held->holds);
    }
    ResultTask<Consumer> consumer(ServerId id) override { return rooms_.held_by(std::move(id)); }
    ResultTask<Resources> usage_of(std::string project) override {
        return placement_.usage_of(std::move(project));
    }
    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) override {
        return placement_.set_holdings(std::move(changes), deadline);
    }
    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) override {
        return placement_.change_reserved(std::move(change), deadline);
    }
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) override {
        return placement_.change_total(std::move(change), deadline);
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                           Duration deadline) override {
        return placement_.create_provider(std::move(name), std::move(parent), deadline);
    }

private:
    Escrow& rooms_;
    Placement& placement_;
};

using namespace escrow_consumers;

namespace {

constexpr Duration poll_while_busy{50};
/// A request to which the room of another one goes.
constexpr Duration decided_within{3'000};
/// Without the right to write, it is not tried again for this time.
constexpr Duration forbidden_for = std::chrono::minutes{10};

/// Takes of `holds` what is asked for; true if that is something.
bool take_from(Allocations& holds, Allocations& asked) {
    bool taken = false;
    for (auto& [provider, amounts] : holds) {
        const auto wanted = asked.find(provider);
        if (wanted == asked.end()) continue;
        const Resources before = amounts;
        for (const auto& [name, amount] : before) {
            const Amount part = std::min(amount, wanted->second.get(name));
            if (part <= 0) continue;
            amounts.set(name, amount - part);
            wanted->second.set(name, wanted->second.get(name) - part);
            taken = true;
        }
    }
    std::erase_if(holds, [](const auto& each) { return each.second.empty(); });
    return taken;
}

}  // namespace

Escrow::Escrow(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      view_(std::make_unique<EscrowView>(*this, dependencies_.cloud.placement)) {}

Escrow::~Escrow() = default;

Placement& Escrow::view() {
    return *view_;
}

/// What may be kept for a request of a previous process: it is read before it is used for an
/// answer.
void Escrow::expect(const RequestRecord& record) {
    const auto note = [&](const ServerId& server, const HostId& host, bool gone) {
        Entry& kept = kept_[server];
        kept.room = EscrowedRoom{record.request.id, host, {}, gone};
        kept.sure = false;
    };
    for (const PlanEntry& entry : record.plans) {
        for (const HostPlan& host : host_plans(entry.decision)) {
            if (const auto stand_in = stand_in_on(record.request.id, host.host))
                note(*stand_in, host.host, true);
            for (const Victim& victim : host.victims)
                if (escrow_consumer_of(victim.server)) note(victim.server, host.host, false);
        }
    }
}

ResultTask<void> Escrow::restore(JournalReader& journal, TimePoint since) {
    auto records = co_await journal.culls_since(since);
    if (!records) co_return records.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    records->insert(records->end(), unfinished->begin(), unfinished->end());
    for (const RequestRecord& record : *records)
        if (record.request.source == RequestSource::gateway) expect(record);
    co_return Result<void>{};
}

// ---- keeping ----

Task<bool> Escrow::take_free(RequestId request, HostId host, Resources amounts) {
    const auto stand_in = stand_in_on(request, host);
    if (!stand_in || amounts.empty() || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(*stand_in);
    if (at->second.busy) co_return true;
    at->second.busy = true;
    Consumer wanted;
    if (!is_new) {
        ServerId escrow_consumer = *escrow_consumer_of(*stand_in);
        auto found = co_await dependencies_.cloud.placement.consumer(std::move(escrow_consumer));
        const auto still = kept_.find(*stand_in);
        if (!found || still == kept_.end()) {
            if (still != kept_.end()) still->second.busy = false;
            co_return true;
        }
        wanted = std::move(*found);
    }
    wanted.holds.clear();
    wanted.holds.emplace(host, std::move(amounts));
    wanted.project = own_name;
    wanted.user = own_name;
    wanted.type = escrow_consumer_type;
    at->second.room.request = request;
    at->second.room.host = std::move(host);
    at->second.room.gone = true;
    Allocations holds = wanted.holds;
    std::vector<ConsumerChange> changes;
    changes.push_back({*escrow_consumer_of(*stand_in), std::move(wanted)});
    auto done =
        co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    const auto entry = kept_.find(*stand_in);
    if (entry != kept_.end()) {
        entry->second.busy = false;
        entry->second.sure = done.has_value();
        entry->second.room.holds = std::move(holds);
        entry->second.read.reset();
        if (!done && is_new && surely_not_done(done.error().code)) kept_.erase(entry);
    }
    if (done) co_return true;
    note_refusal(done.error());
    const bool taken = done.error().code == Errc::conflict;
    log_about({.request = request.str()}, spdlog::level::info,
              "{}: free room can't be kept for it{}: {}", request.str(),
              taken ? ", another consumer has it" : "", done.error().what);
    co_return !taken;
}

bool Escrow::allowed() const {
    return dependencies_.cloud.clock.steady() >= forbidden_until_;
}

void Escrow::note_refusal(const Error& error) {
    if (error.code == Errc::forbidden)
        forbidden_until_ = dependencies_.cloud.clock.steady() + forbidden_for;
}

Task<bool> Escrow::keep(RequestId request, HostId host, ServerId victim, Consumer held) {
    if (!escrow_consumer_of(victim) || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(victim);
    at->second.room.request = request;
    if (!is_new) co_return true;
    at->second.room.host = std::move(host);
    at->second.busy = true;
    const Taken taken = co_await take(victim, std::move(held));
    if (taken == Taken::yes)
        kept_.at(victim).busy = false;
    else
        kept_.erase(victim);
    co_return taken != Taken::differs;
}

/// `no`: it may not be kept, and comes free for all. Placement refuses (`conflict`) where the
/// victim's consumer changed since `held` was read: then it is read again, once.
Task<Escrow::Taken> Escrow::take(ServerId victim, Consumer held) {
    Entry& entry = kept_.at(victim);  // no other coroutine erases it while it is busy
    const std::string request = entry.room.request.str();
    const LogFields fields{.request = request, .server = victim.str()};
    entry.room.holds = held.holds;
    Result<void> done = Error{Errc::conflict, {}};
    if (held.generation) done = co_await move_to_escrow(victim, held);
    if (!done && done.error().code == Errc::conflict) {
        auto owner = co_await dependencies_.cloud.placement.consumer(victim);
        if (!owner) {
            log_about(fields, spdlog::level::warn,
                      "{}: the room of server {} is not kept for it: {}", request, name_of(victim),
                      owner.error().what);
            co_return Taken::no;
        }
        if (owner->holds != held.holds) co_return Taken::differs;
        done = co_await move_to_escrow(victim, std::move(*owner));
    }
    if (done) {
        log_about(fields, spdlog::level::debug, "{}: the room of server {} is kept for it", request,
                  name_of(victim));
        co_return Taken::yes;
    }
    log_about(fields, spdlog::level::warn,
              "{}: the room of server {} may not be kept for it, and come free for all: {}",
              request, name_of(victim), done.error().what);
    entry.sure = false;
    note_refusal(done.error());
    co_return surely_not_done(done.error().code) ? Taken::no : Taken::yes;
}

ResultTask<void> Escrow::move_to_escrow(ServerId victim, Consumer owner) {
    Consumer escrow_consumer = owner;
    escrow_consumer.generation.reset();
    escrow_consumer.project = own_name;
    escrow_consumer.type = escrow_consumer_type;
    std::vector<ConsumerChange> changes;
    changes.push_back(emptied(victim, std::move(owner)));
    changes.push_back({*escrow_consumer_of(victim), std::move(escrow_consumer)});
    co_return co_await dependencies_.cloud.placement.set_holdings(std::move(changes),
                                                                  call_deadline);
}

// ---- room in escrow in Placement ----

/// What Placement says of the escrow_consumer; it is forgotten if it holds nothing.
Task<void> Escrow::look(ServerId server) {
    ServerId escrow_consumer = *escrow_consumer_of(server);
    auto found = co_await dependencies_.cloud.placement.consumer(std::move(escrow_consumer));
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.busy) co_return;
    if (!found) {
        try_later(server, found.error().what);
    } else if (found->holds.empty()) {
        note_change(at->second.room.host, server);
        kept_.erase(at);
    } else {
        at->second.room.holds = found->holds;
        at->second.read = std::move(*found);
        at->second.sure = true;
    }
}

/// The host is shown otherwise from now on, and no cull waits for that.
void Escrow::note_change(const HostId& host, const ServerId& server) {
    if (!under_way(server)) changed_.insert(host);
}

/// Of a previous process, or whose last answer was lost.
Task<void> Escrow::look_if_unsure(ServerId server) {
    if (const auto at = kept_.find(server); at == kept_.end() || at->second.sure) co_return;
    co_await look(server);
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.room.gone) co_return;
    const auto gone = co_await released_by_nova(server);
    if (!gone) spdlog::debug("server {}: {}", name_of(server), gone.error().what);
}

/// Has Nova let the server go? Noted if so.
ResultTask<bool> Escrow::released_by_nova(ServerId server) {
    auto record = co_await dependencies_.cloud.compute.server(server);
    if (!record) co_return record.error();
    const bool gone = is_gone(*record);
    const auto at = kept_.find(server);
    if (gone && at != kept_.end() && !at->second.room.gone) {
        at->second.room.gone = true;
        note_change(at->second.room.host, server);
    }
    co_return gone;
}

ResultTask<Consumer> Escrow::held_by(ServerId server) {
    while (true) {
        const auto at = kept_.find(server);
        if (at == kept_.end()) co_return co_await dependencies_.cloud.placement.consumer(server);
        if (at->second.room.gone) co_return Consumer{};
        if (at->second.busy) {
            co_await dependencies_.cloud.clock.sleep(poll_while_busy);
            continue;
        }
        at->second.sure = false;  // a deletion may rest on it
        std::optional<Result<bool>> gone;
        std::vector<Task<void>> questions;
        questions.push_back(look(server));
        questions.push_back(reaper::keep(released_by_nova(server), gone));
        co_await run_all(std::move(questions));
        const auto still = kept_.find(server);
        if (still == kept_.end()) continue;
        if (!still->second.sure)
            co_return Error{Errc::unreachable,
                            "placement: who holds the room of a server is not known"};
        if (!*gone) co_return gone->error();
        Consumer shown;
        if (!**gone) shown.holds = still->second.room.holds;
        co_return shown;
    }
}

void Escrow::show(std::map<ServerId, Resources>& allocations) const {
    std::map<ServerId, Resources> victims;
    std::erase_if(allocations, [&](const auto& each) {
        const auto server = kept_of(each.first);
        if (!server) return false;
        const auto at = kept_.find(*server);
        if (at == kept_.end()) return false;
        if (!at->second.room.gone) victims[*server] = each.second;
        return true;
    });
    for (auto& [server, amounts] : victims) allocations[server] += amounts;
}

Resources Escrow::shown_free_on(const ProviderId& provider) const {
    Resources free;
    for (const auto& [server, entry] : kept_) {
        const auto here = entry.room.holds.find(provider);
        if (entry.room.gone && here != entry.room.holds.end()) free += here->second;
    }
    return free;
}

std::vector<EscrowedRoom> Escrow::kept_for(const RequestId& request) const {
    std::vector<EscrowedRoom> rooms;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && entry.room.gone) rooms.push_back(entry.room);
    return rooms;
}

bool Escrow::keeps_for(const RequestId& request) const {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const auto& each) { return each.second.room.request == request; });
}

Resources Escrow::kept_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request)
            sum += sum_of(entry.room.holds);
    return sum;
}

Resources Escrow::promised_for_others_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request != request && promised(entry.room))
            sum += sum_of(entry.room.holds);
    return sum;
}

// ---- handing over ----

ResultTask<std::vector<ConsumerChange>> Escrow::hand_over(RequestId request, Allocations asked) {
    std::vector<ServerId> servers;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && !entry.busy) servers.push_back(server);
    std::vector<Task<void>> looks;
    for (const ServerId& server : servers) {
        const Entry& entry = kept_.at(server);
        if (entry.room.gone && entry.sure && !entry.read)
            looks.push_back(look(server));
        else
            looks.push_back(look_if_unsure(server));
    }
    co_await run_all(std::move(looks));
    std::vector<ConsumerChange> changes;
    for (const ServerId& server : servers) {
        const auto at = kept_.find(server);
        if (at == kept_.end() || !at->second.room.gone || !at->second.sure) continue;
        if (!at->second.read)
            co_return Error{Errc::unreachable, "placement: the room in escrow can't be read"};
        // Where it changed since, Placement refuses the claim, and it is read again.
        Consumer wanted = *at->second.read;
        const bool claimed_there =
            std::any_of(wanted.holds.begin(), wanted.holds.end(),
                        [&](const auto& each) { return asked.contains(each.first); });
        const bool rest_goes = claimed_there && is_for_last_slot(at->second.room);
        const bool taken = take_from(wanted.holds, asked);
        if (rest_goes) wanted.holds.clear();
        if (!taken && !rest_goes) continue;
        changes.push_back({*escrow_consumer_of(server), std::move(wanted)});
    }
    co_return changes;
}

/// After the next claim, what is left of it is promised to no request, or to others.
bool Escrow::is_for_last_slot(const EscrowedRoom& room) const {
    int open = 0;
    for (const auto* const promise : dependencies_.ledger.promises_of(room.request))
        if (promise->host == room.host) open += promise->open();
    return open <= 1;
}

void Escrow::reassign(const RequestId& from, const RequestId& to) {
    const Duration until = dependencies_.cloud.clock.steady() + decided_within;
    for (auto& [server, entry] : kept_) {
        if (entry.room.request != from) continue;
        entry.room.request = to;
        entry.stays_until = until;
    }
}

void Escrow::take_over(const HostId& host, const RequestId& request) {
    const Duration now = dependencies_.cloud.clock.steady();
    for (auto& [server, entry] : kept_) {
        const bool idle = entry.room.gone && entry.sure && !entry.busy && entry.stays_until <= now;
        if (entry.room.host == host && idle && !promised(entry.room)) entry.room.request = request;
    }
}

void Escrow::handed_over(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes) {
        const auto at = kept_.find(*kept_of(change.id));
        if (at == kept_.end()) continue;
        at->second.read.reset();
        at->second.room.holds = change.wanted.holds;
        if (change.wanted.holds.empty()) kept_.erase(at);
    }
}

void Escrow::not_sure_of(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes)
        if (const auto at = kept_.find(*kept_of(change.id)); at != kept_.end())
            at->second.sure = false;
}

Resources Escrow::of_victims_on(const HostId& host, const RequestId& request) const {
    const auto stand_in = stand_in_on(request, host);
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request && server != stand_in)
            sum += sum_of(entry.room.holds);
    return sum;
}

// How room in escrow ends: released, given back, and what others have left.

using namespace escrow_consumers;

namespace {

constexpr Duration stop_deadline{5'000};
/// Providers, or rooms, that are looked at.
constexpr std::size_t at_a_time = 8;
constexpr std::size_t most_foreign = 1'000;
/// After so many failures in a row no decision waits for it.
constexpr int most_unsettled = 5;
constexpr Duration settled_valid_for = std::chrono::hours{1};
/// If the read failed.
constexpr Duration unsettled_valid_for = std::chrono::seconds{10};
constexpr Duration poll_interval{20};

Task<void> few_at_a_time(std::vector<Task<void>> tasks) {
    for (std::size_t from = 0; from < tasks.size(); from += at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + at_a_time, tasks.size()); ++i)
            some.push_back(std::move(tasks[i]));
        co_await run_all(std::move(some));
    }
}

}  // namespace

// ---- ending ----

bool Escrow::promised(const EscrowedRoom& room) const {
    const TimePoint now = dependencies_.cloud.clock.now();
    const auto promises = dependencies_.ledger.promises_on(room.host);
    return std::any_of(promises.begin(), promises.end(), [&](const Ledger::Promise* promise) {
        return promise->request == room.request && promise->kept() > 0 &&
               (!promise->until || now < *promise->until);
    });
}

bool Escrow::under_way(const ServerId& server) const {
    const Ledger::Eviction* const eviction = dependencies_.ledger.eviction(server);
    return eviction != nullptr && !eviction->ended;
}

void Escrow::try_later(const ServerId& server, const std::string& what) {
    Entry& entry = kept_.at(server);
    const Duration pause = entry.pause.next();
    entry.retry_at = dependencies_.cloud.clock.steady() + pause;
    log_about({.request = entry.room.request.str(), .server = server.str()}, spdlog::level::warn,
              "{}: the room of server {} is still kept, trying again in {}: {}",
              entry.room.request.str(), name_of(server), format_duration(pause), what);
}

ResultTask<void> Escrow::check() {
    std::vector<ServerId> due;
    // The reaper that serves now may have adopted them.
    if (dependencies_.serving() == 0) co_return Result<void>{};
    const Duration now = dependencies_.cloud.clock.steady();
    for (const auto& [server, entry] : kept_)
        if (!entry.busy && entry.retry_at <= now) due.push_back(server);
    std::vector<Task<void>> checks;
    for (const ServerId& server : due) checks.push_back(check_one(server));
    co_await few_at_a_time(std::move(checks));
    co_return Result<void>{};
}

Task<void> Escrow::check_one(ServerId server) {
    if (const auto at = kept_.find(server); at != kept_.end() && !at->second.sure)
        co_await look(server);
    auto at = kept_.find(server);
    if (at == kept_.end() || at->second.busy || !at->second.sure) co_return;
    if (!at->second.room.gone) {
        if (under_way(server)) co_return;  // its cull looks after it
        auto record = co_await dependencies_.cloud.compute.server(server);
        at = kept_.find(server);
        if (at == kept_.end() || at->second.busy || under_way(server)) co_return;
        if (!record) {
            try_later(server, record.error().what);
            co_return;
        }
        at->second.room.gone = is_gone(*record);
        if (at->second.room.gone) note_change(at->second.room.host, server);
        // Deleted softly, or going and not gone in time: it holds its own again, as Nova expects.
        if (!at->second.room.gone) {
            co_await give_back(server, (*record)->server.project);
            co_return;
        }
    }
    const bool stays = dependencies_.cloud.clock.steady() < at->second.stays_until;
    if (!stays && !promised(at->second.room)) co_await release(server);
}

Task<void> Escrow::release_for(RequestId request) {
    std::vector<ServerId> servers;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && entry.room.gone && !entry.busy)
            servers.push_back(server);
    for (const ServerId& server : servers) co_await release(server);
}

void Escrow::changes_known(const std::vector<HostId>& hosts) {
    for (const HostId& host : hosts) changed_.erase(host);
}

Task<void> Escrow::release(ServerId server) {
    const auto known = kept_.find(server);
    if (known == kept_.end() || known->second.busy) co_return;
    known->second.busy = true;
    ServerId escrow_consumer = *escrow_consumer_of(server);
    auto found = co_await dependencies_.cloud.placement.consumer(escrow_consumer);
    Result<void> done;
    if (found && !found->holds.empty()) {
        std::vector<ConsumerChange> changes;
        changes.push_back(emptied(std::move(escrow_consumer), std::move(*found)));
        done =
            co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    } else if (!found) {
        done = found.error();
    }
    const auto at = kept_.find(server);
    if (at == kept_.end()) co_return;
    at->second.busy = false;
    if (done) {
        log_about({.request = at->second.room.request.str(), .server = server.str()},
                  spdlog::level::debug, "{}: the room of server {} is released",
                  at->second.room.request.str(), name_of(server));
        kept_.erase(at);
        co_return;
    }
    at->second.sure = false;
    try_later(server, done.error().what);
}

/// Its server is still there: it gets back what it held.
Task<void> Escrow::give_back(ServerId server, ProjectId project) {
    kept_.at(server).busy = true;
    ServerId escrow_consumer = *escrow_consumer_of(server);
    auto kept = co_await dependencies_.cloud.placement.consumer(escrow_consumer);
    auto owner = co_await dependencies_.cloud.placement.consumer(server);
    Result<void> done;
    if (!kept || !owner) {
        done = kept ? owner.error() : kept.error();
    } else if (!kept->holds.empty()) {
        std::vector<ConsumerChange> changes;
        if (owner->holds.empty()) {
            Consumer restored = *kept;
            restored.generation.reset();
            restored.project = project.str();
            restored.type.clear();
            changes.push_back({server, std::move(restored)});
        }
        changes.push_back(emptied(std::move(escrow_consumer), std::move(*kept)));
        done =
            co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    }
    Entry& entry = kept_.at(server);  // not handed over: its server is there
    entry.busy = false;
    if (!done) {
        entry.sure = false;
        try_later(server, done.error().what);
        co_return;
    }
    log_about({.request = entry.room.request.str(), .server = server.str()}, spdlog::level::info,
              "{}: server {} is there and has its room back", entry.room.request.str(),
              name_of(server));
    // Nova may have let it go meanwhile, and would never take this away.
    auto gone = co_await released_by_nova(server);
    if (gone && *gone) co_await take_away(server);
    kept_.erase(server);
}

/// Of a server that is no more.
Task<void> Escrow::take_away(ServerId server) {
    auto owner = co_await dependencies_.cloud.placement.consumer(server);
    Result<void> done;
    if (owner && !owner->holds.empty()) {
        std::vector<ConsumerChange> changes;
        changes.push_back(emptied(server, std::move(*owner)));
        done =
            co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    } else if (!owner) {
        done = owner.error();
    }
    if (!done)
        spdlog::error(
            "server {} is gone, but holds room in Placement: {}; by hand: openstack resource "
            "provider allocation delete {}",
            name_of(server), done.error().what, name_of(server));
}

Task<void> Escrow::release_all() {
    const Duration until = dependencies_.cloud.clock.steady() + stop_deadline;
    std::vector<ServerId> servers;
    for (const auto& [server, entry] : kept_) servers.push_back(server);
    for (const ServerId& server : servers) {
        if (dependencies_.cloud.clock.steady() >= until) break;
        co_await check_one(server);
        const auto at = kept_.find(server);
        if (at != kept_.end() && at->second.room.gone) co_await release(server);
    }
    for (const auto& [server, entry] : kept_)
        spdlog::warn(
            "the room of server {} stays kept in Placement: the next start of a reaper ends that; "
            "by hand, if the server is gone: openstack resource provider allocation delete {}",
            name_of(server), escrow_consumer_of(server)->str());
}

// ---- what others have left ----

ResultTask<void> Escrow::settle_others() {
    // A caller that comes during the search waits for its end.
    while (settling_) co_await dependencies_.cloud.clock.sleep(poll_interval);
    const std::uint64_t serving = dependencies_.serving();
    const Duration now = dependencies_.cloud.clock.steady();
    if (serving == 0) co_return Result<void>{};
    const bool due = serving != settled_for_ || now >= settled_until_;
    const bool unsure = std::any_of(kept_.begin(), kept_.end(), [](const auto& each) {
        return !each.second.sure && !each.second.busy;
    });
    if (!due && !unsure) co_return Result<void>{};
    settling_ = true;
    auto done = co_await look_at_unsure();
    if (done && due) done = co_await look_for_others();
    settling_ = false;
    const bool refused = !done && surely_not_done(done.error().code);
    if (done) unsettled_ = 0;
    if (!done && !refused && ++unsettled_ < most_unsettled) co_return done;
    if (!due) co_return Result<void>{};
    if (!done && !told_unsettled_)
        spdlog::warn("whether another reaper keeps room is not known: {}{}", done.error().what,
                     refused ? "; this needs Placement's policy placement:usages" : "");
    told_unsettled_ = !done;
    settled_for_ = serving;
    settled_until_ = now + (done ? settled_valid_for : unsettled_valid_for);
    co_return Result<void>{};
}

/// What a previous process may have kept, or whose last answer was lost: until it is known, room
/// that comes free looks used.
ResultTask<void> Escrow::look_at_unsure() {
    std::vector<ServerId> unsure;
    for (const auto& [server, entry] : kept_)
        if (!entry.sure && !entry.busy) unsure.push_back(server);
    std::vector<Task<void>> looks;
    for (const ServerId& server : unsure) looks.push_back(look_if_unsure(server));
    co_await few_at_a_time(std::move(looks));
    const auto still = std::count_if(unsure.begin(), unsure.end(), [&](const ServerId& server) {
        const auto at = kept_.find(server);
        return at != kept_.end() && !at->second.sure;
    });
    if (still == 0) co_return Result<void>{};
    co_return Error{Errc::unreachable, "placement: what is kept of " + std::to_string(still) +
                                           " servers' room is not known"};
}

/// Placement reports in one answer what all escrow consumers hold.
ResultTask<void> Escrow::look_for_others() {
    std::string project = own_name;
    const auto usage = co_await dependencies_.cloud.placement.usage_of(std::move(project));
    if (!usage) co_return usage.error();
    Resources known;
    for (const auto& [server, entry] : kept_) known += sum_of(entry.room.holds);
    if (usage->fits_in(known)) co_return Result<void>{};
    auto providers = co_await dependencies_.cloud.placement.providers();
    if (!providers) co_return providers.error();
    spdlog::info("room is kept that is not ours: looking for it on {} providers",
                 providers->size());
    std::size_t failed = 0;
    std::vector<Task<void>> looks;
    for (const ProviderRecord& provider : *providers) looks.push_back(look_at(provider.id, failed));
    co_await few_at_a_time(std::move(looks));
    if (failed == 0) co_return Result<void>{};
    co_return Error{Errc::unreachable,
                    "placement: " + std::to_string(failed) +
                        " providers can't be read: what another reaper kept on them is not known"};
}

Task<void> Escrow::look_at(ProviderId provider, std::size_t& failed) {
    auto state = co_await dependencies_.cloud.placement.room(provider);
    if (!state && state.error().code != Errc::not_found) ++failed;
    if (state) co_await adopt_from(std::move(provider), state->allocations);
}

Task<void> Escrow::adopt_from(ProviderId provider,
                              const std::map<ServerId, Resources>& allocations) {
    if (dependencies_.serving() == 0) co_return;
    std::vector<ServerId> strangers;
    for (const auto& [consumer, amounts] : allocations)
        if (const auto server = kept_of(consumer);
            server && !kept_.contains(*server) && !foreign_.contains(consumer))
            strangers.push_back(consumer);
    for (const ServerId& consumer : strangers) co_await adopt(consumer, provider);
}

Task<void> Escrow::adopt(ServerId consumer, HostId host) {
    auto found = co_await dependencies_.cloud.placement.consumer(consumer);
    const ServerId server = *kept_of(consumer);
    if (!found || found->holds.empty() || kept_.contains(server)) co_return;
    if (found->project != own_name) {
        if (foreign_.size() < most_foreign) foreign_.insert(consumer);
        co_return;
    }
    EscrowedRoom& room = kept_[server].room;
    room.host = std::move(host);
    room.holds = std::move(found->holds);
    spdlog::info("the room of server {} was kept by another process: that is ended",
                 name_of(server));
    const auto gone = co_await released_by_nova(server);
    if (!gone) spdlog::debug("server {}: {}", name_of(server), gone.error().what);
}

}  // namespace reaper
