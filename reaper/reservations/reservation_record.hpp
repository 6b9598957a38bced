// A reservation as Placement keeps it: the consumer's project and user have all of it, so that
// nothing is lost with a reaper's disk. Placement takes any text of up to 255 characters as project
// and user: the project names the role (its use is what the role has reserved), the user has the
// rest.
//
// A consumer that holds nothing is none in Placement. So each reservation holds one unit of a class
// of ours on a provider of ours that is no host, besides what it holds on its host; that provider's
// allocations are the list of all reservations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/reservations/reservation.hpp"

namespace reaper {

// Fields of one character each: `name=value;name=value`, as records and orders are written.

/// What separates fields, and what does not show, as %XX.
std::string escaped(std::string_view text);
/// The inverse; nothing: it was not written by it.
std::optional<std::string> unescaped(std::string_view text);
/// The value as it is.
void append_field(std::string& text, char name, std::string_view value);

/// Calls `read(name, value)` for each field until it returns false; false then, or where the text
/// is none of fields.
template <class Read>
bool each_field(std::string_view text, Read read) {
    while (!text.empty()) {
        const std::string_view field = text.substr(0, text.find(';'));
        text.remove_prefix(field.size());
        if (!text.empty()) text.remove_prefix(1);
        if (field.size() < 2 || field[1] != '=' || !read(field[0], field.substr(2))) return false;
    }
    return true;
}

namespace reservation_register {

/// The provider, and the class of which each reservation holds one unit there.
inline constexpr const char* provider_name = "openstack-reaper-reservations";
inline constexpr const char* resource_class = "CUSTOM_REAPER_RESERVATION";
/// The provider's UUID: the same for all reapers.
inline constexpr const char* provider_id = "4c1b7d2e-58aa-5f0e-8a63-1c70f25c9d11";

}  // namespace reservation_register

inline constexpr std::size_t max_record_text = 255;

/// The consumer's id.
inline ServerId consumer_id_of(const ReservationId& id) {
    return ServerId{id.str()};
}

/// The consumer that holds `on_host` for it, with its unit in the register; without a generation.
/// `bad_input`: its labels, principal and amounts are too long for Placement.
Result<Consumer> record_of(const Reservation& reservation, Allocations on_host);

/// The inverse. `bad_answer`: it is none of ours, or its id is another one than its identity's.
Result<Reservation> reservation_of(const ServerId& consumer, const Consumer& record);

/// What it holds on its host.
Allocations held_on_host(const Consumer& record);

}  // namespace reaper
