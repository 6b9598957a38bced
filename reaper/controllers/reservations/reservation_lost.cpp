// The controller's reservations as the journal has them: what was there when this reaper served
// last, and is not any more.
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {

/// What of a change the journal is to have: the configuration's are made anew by themselves.
void ReservationController::remember(const Book& book, const ReservationId& id,
                                     const Consumer& wanted) {
    if (wanted.holds.empty()) {
        known_gone_.push_back(id);
        return;
    }
    const auto before = book.records.find(id);
    const auto at = book.reservations.find(id);
    if (at == book.reservations.end() || at->second.identity.from_config) return;
    if (before != book.records.end() && before->second.user == wanted.user) return;
    known_there_.push_back({id, wanted.project, wanted.user, dependencies_.cloud.clock.now()});
}

Task<void> ReservationController::journal_known() {
    if (known_there_.empty() && known_gone_.empty()) co_return;
    auto there = std::exchange(known_there_, {});
    auto gone = std::exchange(known_gone_, {});
    auto noted =
        co_await dependencies_.journal.note_reservations(std::move(there), std::move(gone));
    if (!noted) spdlog::error("reservations: not journaled: {}", noted.error().what);
}

/// Another reaper may have unreserved it meanwhile: it is told, and left to people.
Task<void> ReservationController::find_lost() {
    auto known = co_await dependencies_.journal.reservations();
    if (!known) {
        spdlog::warn("reservations: whether all are there can't be told: {}", known.error().what);
        co_return;
    }
    std::map<ReservationId, const KnownReservation*> journaled;
    for (const KnownReservation& each : *known) journaled.emplace(each.id, &each);
    for (const auto& [host, book] : books_)
        for (const auto& [id, record] : book.records) {
            const auto at = journaled.find(id);
            const bool same = at != journaled.end() && at->second->user == record.user;
            if (at != journaled.end()) journaled.erase(at);
            const auto reservation = book.reservations.find(id);
            if (same || reservation == book.reservations.end() ||
                reservation->second.identity.from_config)
                continue;
            known_there_.push_back(
                {id, record.project, record.user, dependencies_.cloud.clock.now()});
        }
    std::vector<std::string> lost;
    for (const auto& [id, each] : journaled) {
        known_gone_.push_back(id);
        Consumer record;
        record.project = each->project;
        record.user = each->user;
        const auto was = reservation_of(consumer_id_of(id), record);
        if (!was) continue;
        lost.push_back(amounts_text(was->asked) + " of " +
                       to_string(was->identity, name_of(was->identity.host)) +
                       " were reserved by principal " + in_quotes(was->identity.principal) +
                       " when this reaper knew of them last, at " + iso_time(each->at) +
                       ", and are not in Placement: if nobody unreserved them, reserve them again");
    }
    for (const std::string& each : lost) {
        remarks_.push_back(each);
        co_await note("reservation-lost", each);
    }
    co_await journal_known();
}

}  // namespace reaper
