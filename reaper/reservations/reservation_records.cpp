#include "reaper/reservations/reservation_records.hpp"

#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// With the mark of the order that changes it.
Reservation marked(Reservation reservation, const ReservationId& id, const HostReservations& before,
                   const std::string& mark) {
    const auto known = before.find(id);
    const bool same = known != before.end() && known->second == reservation;
    if (!same) add_mark(reservation, mark);
    return reservation;
}

std::string why_short(const Host& host, const Allocations& holds, const Resources& wanted) {
    const Resources sum = sum_of(holds);
    std::string why;
    for (const auto& [name, amount] : wanted)
        if (sum.get(name) < amount)
            why = "one consumer can hold " + std::to_string(sum.get(name)) + " " + name.str() +
                  " on " + printable(host.name, 64) + ", not " + std::to_string(amount) +
                  " (units of its inventories)";
    return why;
}

Consumer without_room(Consumer consumer) {
    consumer.holds.clear();
    return consumer;
}

}  // namespace

ReservedAllocations held_by(const ReservationRecords& records) {
    ReservedAllocations held;
    for (const auto& [id, record] : records) held[id] = held_on_host(record);
    return held;
}

Result<RecordChanges> changes_on(const Host& host, const ReservationRecords& records,
                                 const HostReservations& before, const HostReservations& after,
                                 const std::map<ReservationId, Resources>& next,
                                 const std::string& mark) {
    RecordChanges wanted;
    auto holds = allot(host, held_by(records), next);
    for (const auto& [id, amounts] : next)
        if (auto why = why_short(host, holds[id], amounts); !why.empty())
            wanted.short_of = std::move(why);
    for (const auto& [id, reservation] : after) {
        auto record = record_of(marked(reservation, id, before, mark), std::move(holds[id]));
        if (!record) return record.error();
        if (const auto at = records.find(id); at != records.end()) {
            record->generation = at->second.generation;
            if (*record == at->second) continue;
        }
        wanted.changes.push_back({consumer_id_of(id), std::move(*record)});
    }
    for (const auto& [id, record] : records)
        if (!after.contains(id))
            wanted.changes.push_back({consumer_id_of(id), without_room(record)});
    return wanted;
}

Result<RecordChanges> changes_on_gone(const ReservationRecords& records,
                                      const HostReservations& before, const HostReservations& after,
                                      OnGone held, const std::string& mark) {
    RecordChanges wanted;
    for (const auto& [id, reservation] : after) {
        const auto at = records.find(id);
        Allocations holds;
        if (at != records.end() && held == OnGone::stays) holds = held_on_host(at->second);
        auto next = record_of(marked(reservation, id, before, mark), std::move(holds));
        if (!next) return next.error();
        if (at != records.end()) next->generation = at->second.generation;
        if (at == records.end() || *next != at->second)
            wanted.changes.push_back({consumer_id_of(id), std::move(*next)});
    }
    for (const auto& [id, record] : records)
        if (!after.contains(id))
            wanted.changes.push_back({consumer_id_of(id), without_room(record)});
    return wanted;
}

bool shows_otherwise(const Host& host, const ReservationRecords& records) {
    if (host.estimated) return false;  // the consumers are not read yet
    for (const auto& [id, held] : held_by(records))
        for (const Provider& provider : host.providers) {
            const auto here = provider.other_consumers.find(consumer_id_of(id));
            const auto recorded = held.find(provider.id);
            const Resources shown =
                here == provider.other_consumers.end() ? Resources{} : here->second;
            if (shown != (recorded == held.end() ? Resources{} : recorded->second)) return true;
        }
    return false;
}

}  // namespace reaper
