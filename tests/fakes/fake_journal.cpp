#include "fakes/fake_journal.hpp"

#include "fakes/breathe.hpp"

namespace reaper::test {

std::optional<Error> FakeJournal::note(const std::string& what) {
    if (fails && fails(what)) return Error{Errc::storage, "disk full"};
    written.push_back(what);
    return std::nullopt;
}

Task<std::optional<Error>> FakeJournal::begin(std::string what) {
    if (on_call) on_call(what);
    co_await breathe();
    if (queue) co_await queue();
    if (cut_off) co_return Error{Errc::storage, "no server of the journal can be reached"};
    if (number_ == 0 || (what.empty() && now_() < renewed_at_ + lease_lasts / 3))
        co_return std::nullopt;
    FakeLease& lease = rows_->lease;
    if (lease.number != number_)
        co_return Error{Errc::conflict, "another reaper (" + lease.holder +
                                            ") has taken its lease; this one writes nothing " +
                                            "more, and deletes nothing"};
    renewed_at_ = now_();
    lease.ends = std::max(lease.ends, renewed_at_ + lease_lasts);
    if (pause_ != nullptr &&
        (what.starts_with("delete-sent") || what.starts_with("force-delete-sent")))
        if (const auto why = pause_->paused()) co_return Error{Errc::storage, *why};
    co_return std::nullopt;
}

Task<std::optional<Error>> FakeJournal::write(std::string what) {
    const auto lost = co_await begin(what);
    if (lost) co_return lost;
    co_return note(what);
}

Result<void> FakeJournal::take_lease(std::string holder, std::function<TimePoint()> now,
                                     const Switch* pause) {
    FakeLease& lease = rows_->lease;
    const TimePoint at = now();
    if (lease.ends > at)
        return Error{Errc::conflict, "another reaper (" + lease.holder +
                                         ") writes to it; its lease ends in " +
                                         std::to_string((lease.ends - at).count() / 1000) + " s"};
    lease = {lease.number + 1, std::move(holder), at + lease_lasts};
    number_ = lease.number;
    now_ = std::move(now);
    renewed_at_ = at;
    pause_ = pause;
    return {};
}

void FakeJournal::give_back_lease() {
    if (rows_->lease.number == number_) rows_->lease.ends = {};
}

ResultTask<Admission> FakeJournal::admit(Request request, TimePoint now) {
    const std::string what = "admit " + request.id.str();
    const auto lost = co_await begin(what);
    if (lost) co_return *lost;
    Admission admission;
    if (const auto known = records.find(request.id); known != records.end()) {
        admission.outcome = known->second.outcome;
        auto& requesters = known->second.request.requesters;
        requesters.insert(requesters.end(), request.requesters.begin(), request.requesters.end());
        co_return admission;
    }
    if (auto error = note(what)) co_return *error;
    RequestRecord record;
    record.received_at = now;
    record.request = request;
    records[request.id] = record;
    admission.first = true;
    co_return admission;
}

ResultTask<void> FakeJournal::readmit(Request request, TimePoint now) {
    const auto error = co_await write("admit-again " + request.id.str());
    if (error) co_return *error;
    const auto known = records.find(request.id);
    if (known != records.end() && !known->second.plans.empty()) {
        known->second.request = std::move(request);
        known->second.outcome.reset();
        co_return Result<void>{};
    }
    RequestRecord record;
    record.received_at = now;
    record.request = request;
    records.insert_or_assign(request.id, std::move(record));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::admit_ended(Request request, Outcome outcome, TimePoint now) {
    const auto error = co_await write("admit-ended " + request.id.str());
    if (error) co_return *error;
    RequestRecord& record = records[request.id];
    if (!record.outcome && record.plans.empty()) {
        record.received_at = now;
        record.request = std::move(request);
    }
    if (!record.outcome) record.outcome = std::move(outcome);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::add_plan(RequestId id, PlanEntry plan) {
    const auto error = co_await write("plan " + id.str());
    if (error) co_return *error;
    records.at(id).plans.push_back(std::move(plan));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::add_step(RequestId id, StepEntry step) {
    const std::string what = std::string{to_string(step.step)} + " " + step.server.str();
    const auto others = [&](const auto& record) {
        const auto sent = victims_of(record.second);
        return std::count_if(sent.begin(), sent.end(), [&](const VictimEntry& victim) {
            return victim.server != step.server;
        });
    };
    std::ptrdiff_t deleted = 0;
    for (const auto& record : records) deleted += others(record);
    if (most_victims > 0 && begins_eviction(step.step) && deleted >= most_victims)
        co_return Error{Errc::rejected, "the limit is used up"};
    const auto error = co_await write(what);
    if (error) co_return *error;
    if (sends_eviction(step.step)) sent_for[step.server] = id;
    records.at(id).steps.push_back(std::move(step));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::finish(RequestId id, Outcome outcome) {
    const auto error = co_await write("finish " + id.str());
    if (error) co_return *error;
    records.at(id).outcome = std::move(outcome);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::note_message(MessageEntry message) {
    const auto error = co_await write("note " + message.verdict);
    if (error) co_return *error;
    notes.push_back(std::move(message));
    co_return Result<void>{};
}

ResultTask<std::vector<RequestRecord>> FakeJournal::unfinished() {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<RequestRecord> found;
    for (const auto& [id, record] : records)
        if (!record.outcome) found.push_back(record);
    if (on_read) on_read("unfinished");
    co_return found;
}

ResultTask<std::vector<RequestRecord>> FakeJournal::culls_between(TimePoint since,
                                                                  TimePoint until) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<RequestRecord> found;
    for (const auto& [id, record] : records)
        if (record.outcome && record.outcome->at >= since && record.outcome->at < until &&
            (record.outcome->kind == OutcomeKind::freed || !victims_of(record).empty()))
            found.push_back(record);
    if (on_read) on_read("culls");
    co_return found;
}

ResultTask<std::vector<RequestSummary>> FakeJournal::list(int limit) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<RequestSummary> lines;
    for (const auto& [id, record] : records) {
        const auto victims = static_cast<int>(victims_of(record).size());
        std::set<ServerId> chosen;
        for (const auto& entry : record.plans)
            if (const auto* const plan = std::get_if<Plan>(&entry.decision))
                for (const auto& victim : plan->victims()) chosen.insert(victim.server);
        const auto planned = static_cast<int>(chosen.size());
        lines.push_back({record.request, record.received_at, victims, record.outcome,
                         record.freed_room, planned});
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.received_at > b.received_at; });
    const auto most = static_cast<std::size_t>(std::max(limit, 0));
    if (lines.size() > most) lines.erase(lines.begin() + limit, lines.end());
    co_return lines;
}

ResultTask<std::optional<RequestRecord>> FakeJournal::record(RequestId id) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    const auto found = records.find(id);
    if (found == records.end()) co_return std::optional<RequestRecord>{};
    co_return std::optional<RequestRecord>{found->second};
}

ResultTask<void> FakeJournal::note_freed_room(RequestId id, FreedRoomResult freed_room) {
    const std::string what =
        "freed-room " + std::string{to_string(freed_room.kind)} + " " + id.str();
    const auto error = co_await write(what);
    if (error) co_return *error;
    auto& known = records.at(id).freed_room;
    const bool was_taken = known && (known->kind == FreedRoomResultKind::taken ||
                                     known->kind == FreedRoomResultKind::short_lived);
    if (!known || (was_taken && freed_room.kind == FreedRoomResultKind::short_lived))
        known = std::move(freed_room);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::note_event(JournalEvent mark) {
    const auto error = co_await write("event " + mark.kind);
    if (error) co_return *error;
    noted_marks.push_back(std::move(mark));
    co_return Result<void>{};
}

ResultTask<std::vector<VictimEntry>> FakeJournal::victims_since(TimePoint since) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<VictimEntry> victims;
    for (const auto& [id, record] : records)
        for (auto& victim : victims_of(record))
            if (victim.at >= since) victims.push_back(std::move(victim));
    std::stable_sort(victims.begin(), victims.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    co_return victims;
}

ResultTask<std::vector<RequestRecord>> FakeJournal::freed_rooms_since(TimePoint since) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<RequestRecord> found;
    for (const auto& [id, record] : records)
        if (record.freed_room && record.freed_room->at >= since) found.push_back(record);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.freed_room->at < b.freed_room->at;
    });
    co_return found;
}

ResultTask<std::vector<JournalEvent>> FakeJournal::events(int limit) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<JournalEvent> newest{noted_marks.rbegin(), noted_marks.rend()};
    if (newest.size() > static_cast<std::size_t>(limit))
        newest.resize(static_cast<std::size_t>(limit));
    co_return newest;
}

ResultTask<std::map<std::string, std::int64_t>> FakeJournal::victims_by_flavor(TimePoint since) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::map<std::string, std::int64_t> counted;
    for (const auto& [id, record] : records)
        for (const VictimEntry& each : victims_of(record)) {
            if (each.at < since) continue;
            std::string flavor;
            for (const auto& entry : record.plans)
                if (const auto* const plan = std::get_if<Plan>(&entry.decision))
                    for (const Victim& victim : plan->victims())
                        if (victim.server == each.server) flavor = victim.flavor;
            ++counted[flavor];
        }
    co_return counted;
}

ResultTask<JournalTotals> FakeJournal::totals(TimePoint since) {
    auto victims = co_await victims_since(since);
    if (!victims) co_return victims.error();
    JournalTotals totals;
    totals.victims = static_cast<std::int64_t>(victims->size());
    for (const auto& [id, record] : records) {
        if (!record.outcome) ++totals.under_way;
        if (record.outcome && record.outcome->at >= since) {
            ++totals.outcomes[record.outcome->kind];
            if (!record.outcome->safeguard.empty()) ++totals.safeguards[record.outcome->safeguard];
        }
        if (record.freed_room && record.freed_room->at >= since)
            ++totals.freed_rooms[record.freed_room->kind];
    }
    for (const auto& note : notes)
        if (note.at >= since) ++totals.messages[note.verdict];
    for (const auto& mark : noted_marks)
        if (mark.at >= since) ++totals.events[mark.kind];
    co_return totals;
}

ResultTask<Timeline> FakeJournal::timeline(TimePoint since, Duration slot) {
    auto victims = co_await victims_since(since);
    if (!victims) co_return victims.error();
    Timeline slots;
    for (const auto& victim : *victims) ++slots[(victim.at - since) / slot].victims;
    for (const auto& [id, record] : records) {
        if (record.outcome && record.outcome->at >= since)
            ++slots[(record.outcome->at - since) / slot].outcomes[record.outcome->kind];
        if (!record.freed_room || record.freed_room->at < since) continue;
        TimelineSlot& there = slots[(record.freed_room->at - since) / slot];
        ++there.freed_rooms[record.freed_room->kind];
        if (record.request.source != RequestSource::gateway) continue;
        ++there.waited_for;
        there.first_tries += record.freed_room->kind == FreedRoomResultKind::taken ? 1 : 0;
    }
    co_return slots;
}

ResultTask<void> FakeJournal::note_protection(ServerProtection protection) {
    const auto error = co_await write("protect " + protection.server.str());
    if (error) co_return *error;
    protected_servers.insert_or_assign(protection.server, protection);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::end_protection(ServerId server, TimePoint since) {
    const auto error = co_await write("unprotect " + server.str());
    if (error) co_return *error;
    std::erase_if(protected_servers, [&](const auto& each) {
        return each.first == server && each.second.since == since;
    });
    co_return Result<void>{};
}

ResultTask<std::vector<ServerProtection>> FakeJournal::protections() {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<ServerProtection> all;
    for (const auto& [server, protection] : protected_servers) all.push_back(protection);
    co_return all;
}

ResultTask<void> FakeJournal::add_hold(InventoryHold hold) {
    const auto error =
        co_await write("hold " + hold.provider.str() + " " + hold.resource_class.str());
    if (error) co_return *error;
    const bool open = std::any_of(open_holds.begin(), open_holds.end(), [&](const auto& known) {
        return known.provider == hold.provider && known.resource_class == hold.resource_class;
    });
    if (!open) open_holds.push_back(std::move(hold));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::end_hold(ProviderId provider, ResourceClass resource_class,
                                       InventoryHoldEnd end) {
    const std::string what = "hold " + std::string{to_string(end.kind)} + " " + provider.str() +
                             " " + resource_class.str();
    const auto error = co_await write(what);
    if (error) co_return *error;
    std::erase_if(open_holds, [&](const auto& hold) {
        if (hold.provider != provider || hold.resource_class != resource_class) return false;
        ended_holds.emplace_back(hold, end);
        return true;
    });
    co_return Result<void>{};
}

ResultTask<std::vector<InventoryHold>> FakeJournal::holds() {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    if (fails && fails("holds")) co_return Error{Errc::storage, "its file is gone"};
    co_return open_holds;
}

ResultTask<std::int64_t> FakeJournal::note_order(OrderRecord order) {
    const std::string what = "order " + std::string{to_string(order.progress)};
    const auto error = co_await write(what);
    if (error) co_return *error;
    if (order.number == 0) {
        order.number = static_cast<std::int64_t>(noted_orders.size()) + 1;
        noted_orders.push_back(order);
    } else {
        noted_orders.at(static_cast<std::size_t>(order.number) - 1) = order;
    }
    co_return order.number;
}

ResultTask<std::optional<OrderRecord>> FakeJournal::order(std::string principal, std::string key) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::optional<OrderRecord> found;
    for (const OrderRecord& each : noted_orders)
        if (!key.empty() && each.key == key && each.principal == principal) found = each;
    co_return found;
}

ResultTask<std::vector<OrderRecord>> FakeJournal::orders(int limit) {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<OrderRecord> found;
    int left = limit;
    for (auto each = noted_orders.rbegin(); each != noted_orders.rend(); ++each)
        if (left-- > 0 || each->progress == OrderProgress::begun ||
            each->progress == OrderProgress::waiting)
            found.push_back(*each);
    co_return found;
}

ResultTask<void> FakeJournal::note_reservations(std::vector<KnownReservation> there,
                                                std::vector<ReservationId> gone) {
    const auto error = co_await write("reservations");
    if (error) co_return *error;
    for (KnownReservation& each : there) known_reservations.insert_or_assign(each.id, each);
    for (const ReservationId& id : gone) known_reservations.erase(id);
    co_return Result<void>{};
}

ResultTask<std::vector<KnownReservation>> FakeJournal::reservations() {
    const auto lost = co_await begin();
    if (lost) co_return *lost;
    std::vector<KnownReservation> known;
    for (const auto& each : known_reservations) known.push_back(each.second);
    co_return known;
}

bool FakeJournal::has_step(const std::string& server, Step step) const {
    return std::any_of(records.begin(), records.end(), [&](const auto& entry) {
        return std::any_of(
            entry.second.steps.begin(), entry.second.steps.end(),
            [&](const StepEntry& at) { return at.server.str() == server && at.step == step; });
    });
}

}  // namespace reaper::test
