// What is ordered of reservations, as a text: to know the same order again under its key, and to go
// on with it after a restart. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/reservations/reservation_change.hpp"

namespace reaper {

using ReservationOrder = std::variant<ReserveOrder, UnreserveOrder>;

const HostId& host_of(const ReservationOrder& order);
/// Is any of them to be done although room is lent, when the tenants are gone?
bool any_lent_too(const std::vector<ReservationOrder>& orders);
/// The same, of what is idle alone.
std::vector<ReservationOrder> without_lent(std::vector<ReservationOrder> orders);

/// One line for each. The principals are not in it: who orders is the same for all of them.
std::string text_of_orders(const std::vector<ReservationOrder>& orders);
/// The inverse. `bad_input`: it was not written by it.
Result<std::vector<ReservationOrder>> parse_orders(const std::string& text);

/// A short mark for an order under its key, for the records that it changes: as much of the key's
/// as of the content's digest. Empty without a key.
std::string mark_of_order(const std::string& principal, const std::string& key,
                          const std::string& content);
/// Of one key, maybe with another content.
bool same_key(const std::string& mark, const std::string& other);

}  // namespace reaper
