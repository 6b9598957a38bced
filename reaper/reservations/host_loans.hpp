// What is known of a host's loans beyond what Placement shows: the borrowers and since when, and
// which loans and debts are in the journal. It is read from there after a restart, so the journal's
// lines are written and read here. Times are steady: a step of the wall clock ends no loan. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/reservations/reservation_allotment.hpp"

namespace reaper {

/// Kinds of the journal's events.
inline constexpr const char* lent_kind = "lent";
inline constexpr const char* debt_kind = "debt";

/// Of these kinds, newest first, by host or by reservation.
using LoanEvents = std::map<std::string, std::vector<JournalEvent>>;
LoanEvents loan_events(const std::vector<JournalEvent>& newest_first);

class HostLoans {
public:
    /// Revocable servers that were not `there` when room was lent are the borrowers.
    void note_arrivals(const Host& host, const std::set<ServerId>& there, Duration now);
    /// Did the server borrow, and by then? One that is in the way of a reservation without having
    /// borrowed did not.
    bool had_by(const ServerId& server, Duration then) const;

    /// How much is lent, and to which servers: for the journal, if that is news. `lacks`: its
    /// reservations lack something, which may be on its way to a server. Servers that are gone, or
    /// no longer borrow, are forgotten.
    std::optional<std::string> news_of_loans(const Host& host, const Resources& lent, bool lacks);
    /// What others hold of a reservation's room, and who: for the journal, if that is news. More of
    /// it is news when it was there the last time too, as between two readings much seems taken.
    std::optional<std::string> news_of_debt(const Host& host, const Reservation& reservation,
                                            const Resources& taken, const RoleOfProject& role_of);

    /// What the journal has of the host's loans, and of what is owed to its reservations. `now` is
    /// of the wall, as the journal's times are.
    void recall(const HostId& host, const HostReservations& reservations, const LoanEvents& events,
                TimePoint now, Duration steady);

    bool empty() const { return since_.empty() && told_.empty() && debts_.empty(); }

private:
    struct Debt {
        bool looked = false;  ///< since this process began
        Resources seen;       ///< the last time
        std::string told;     ///< as the journal has it
    };
    std::map<ServerId, Duration> since_;  ///< the borrowers
    std::string told_;                    ///< the journal's last line of loans; empty: none
    std::map<ReservationId, Debt> debts_;
};

}  // namespace reaper
