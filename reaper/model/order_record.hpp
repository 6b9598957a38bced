// Orders of reservations, and the reservations that they made, as the journal has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// How far an order came.
enum class OrderProgress {
    begun,     ///< Placement may have received it; the outcome is unknown
    waiting,   ///< for tenants to go
    applied,   ///< it is done
    failed,    ///< it waited, and is not done
    not_done,  ///< begun, but not done: if given again, it is tried again
};
std::string_view to_string(OrderProgress progress);
/// The inverse; what is not known is `begun`.
OrderProgress order_progress_of(std::string_view word);

/// Orders that were given together.
struct OrderRecord {
    std::int64_t number = 0;  ///< the journal's; 0: it has none yet
    std::string key;          ///< may be empty
    std::string principal;
    std::string content;  ///< what is ordered, to be read again
    std::string mark;     ///< in the records that it changes
    std::string removes;  ///< the ids of reservations that end with it, separated by commas
    OrderProgress progress{};
    std::string reason;  ///< one line for people; may be empty
    TimePoint given_at{};
    TimePoint changed_at{};

    friend bool operator==(const OrderRecord&, const OrderRecord&) = default;
};

/// A dynamic reservation as this reaper saw it in Placement last.
struct KnownReservation {
    ReservationId id;
    std::string project, user;  ///< of its consumer: all of what it is
    TimePoint at{};

    friend bool operator==(const KnownReservation&, const KnownReservation&) = default;
};

}  // namespace reaper
