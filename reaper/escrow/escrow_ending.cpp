#include <algorithm>
#include <utility>

#include "reaper/escrow/escrow.hpp"
#include "reaper/model/escrow_consumer.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

// How room in escrow ends: released, given back, and what others have left.

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

}  // namespace

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
    co_await run_all(std::move(checks), at_a_time);
    co_return Result<void>{};
}

Task<void> Escrow::check_one(ServerId server) {
    if (const auto at = kept_.find(server); at != kept_.end() && !at->second.sure)
        co_await look(server);
    auto at = kept_.find(server);
    if (at == kept_.end() || at->second.busy || !at->second.sure) co_return;
    if (!at->second.room.gone) {
        if (under_way(server)) co_return;  // its cull looks after it
        auto record = co_await unreleased(server);
        at = kept_.find(server);
        if (at == kept_.end() || at->second.busy || under_way(server)) co_return;
        if (!record) {
            try_later(server, record.error().what);
            co_return;
        }
        if (*record && (*record)->server.status == "DELETED") co_return;  // it is gone soon
        // Deleted softly, or going and not gone in time: it holds its own again, as Nova expects.
        if (*record) {
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

Task<void> Escrow::release(ServerId server) {
    const auto known = kept_.find(server);
    if (known == kept_.end() || known->second.busy) co_return;
    known->second.busy = true;
    ServerId escrow_consumer = *escrow_consumer_of(server);
    const auto done = co_await empty(std::move(escrow_consumer));
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

/// Takes from the consumer all that it holds.
ResultTask<void> Escrow::empty(ServerId consumer) {
    auto found = co_await dependencies_.cloud.placement.consumer(consumer);
    if (!found) co_return found.error();
    if (found->holds.empty()) co_return Result<void>{};
    std::vector<ConsumerChange> changes;
    changes.push_back(emptied(std::move(consumer), std::move(*found)));
    co_return co_await dependencies_.cloud.placement.set_holdings(std::move(changes),
                                                                  call_deadline);
}

/// Its server is still there: it gets back what it held.
Task<void> Escrow::give_back(ServerId server, ProjectId project) {
    kept_.at(server).busy = true;
    ServerId escrow_consumer = *escrow_consumer_of(server);
    auto kept = co_await dependencies_.cloud.placement.consumer(escrow_consumer);
    auto owner = co_await dependencies_.cloud.placement.consumer(server);
    const bool given = kept && !kept->holds.empty();
    Result<void> done;
    if (!kept || !owner) {
        done = kept ? owner.error() : kept.error();
    } else if (given) {
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
    if (given)
        log_about({.request = entry.room.request.str(), .server = server.str()},
                  spdlog::level::info, "{}: server {} is there and has its room back",
                  entry.room.request.str(), name_of(server));
    const HostId host = entry.room.host;
    kept_.erase(server);  // from now on it may be kept for another request
    if (!given) co_await tell_if_lost(server);
    // Nova may have let it go meanwhile, and would never take this away.
    const auto record = co_await dependencies_.cloud.compute.server(server);
    if (!record || *record) co_return;
    co_await take_away(server);
    note_change(host, server);
}

/// Another client may have deleted what was kept of a server that stays.
Task<void> Escrow::tell_if_lost(ServerId server) {
    const auto owner = co_await dependencies_.cloud.placement.consumer(server);
    const auto record = co_await dependencies_.cloud.compute.server(server);
    if (!owner || !owner->holds.empty() || !record || !*record) co_return;
    if ((*record)->server.host.empty()) co_return;
    log_about({.server = server.str()}, spdlog::level::err,
              "server {} is there, but another client deleted the room in escrow that was its own; "
              "by hand: nova-manage placement heal_allocations --instance {}",
              name_of(server), name_of(server));
}

/// Of a server that is no more.
Task<void> Escrow::take_away(ServerId server) {
    const auto done = co_await empty(server);
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
    co_await run_all(std::move(looks), at_a_time);
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
    std::string project = escrow_project;
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
    co_await run_all(std::move(looks), at_a_time);
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

Task<bool> Escrow::adopt_from(ProviderId provider,
                              const std::map<ServerId, Resources>& allocations) {
    if (dependencies_.serving() == 0) co_return false;
    std::vector<ServerId> strangers;
    for (const auto& [consumer, amounts] : allocations)
        if (const auto server = kept_of(consumer);
            server && !kept_.contains(*server) && !foreign_.contains(consumer))
            strangers.push_back(consumer);
    bool ended = false;
    for (const ServerId& consumer : strangers) {
        const bool holds_none = co_await adopt(consumer, provider);
        ended = ended || holds_none;
    }
    co_return ended;
}

/// True: it holds nothing.
Task<bool> Escrow::adopt(ServerId consumer, HostId host) {
    auto found = co_await dependencies_.cloud.placement.consumer(consumer);
    const ServerId server = *kept_of(consumer);
    if (found && found->holds.empty()) co_return true;
    if (!found || kept_.contains(server)) co_return false;
    if (found->project != escrow_project) {
        if (foreign_.size() < most_foreign) foreign_.insert(consumer);
        co_return false;
    }
    EscrowedRoom& room = kept_[server].room;
    room.host = std::move(host);
    room.holds = std::move(found->holds);
    spdlog::info("the room of server {} was kept by another process: that is ended",
                 name_of(server));
    const auto still = co_await unreleased(server);
    if (!still) spdlog::debug("server {}: {}", name_of(server), still.error().what);
    co_return false;
}

}  // namespace reaper
