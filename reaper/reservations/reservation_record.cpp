#include "reaper/reservations/reservation_record.hpp"

#include <charconv>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper {

/// What separates fields, and what does not show, as %XX.
std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7f && c != '%' && c != ';' && c != '=') {
            out += c;
        } else {
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto next = text.find('%');
        out += text.substr(0, next);
        if (next == text.npos) break;
        text.remove_prefix(next + 1);
        unsigned byte = 0;
        if (text.size() < 2) return std::nullopt;
        const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
        if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
        out += static_cast<char>(byte);
        text.remove_prefix(2);
    }
    return out;
}

void append_field(std::string& text, char name, std::string_view value) {
    if (!text.empty()) text += ';';
    text += name;
    text += '=';
    text += value;
}

namespace {

constexpr std::string_view project_prefix = "reservation:";
constexpr const char* consumer_type = "RESERVATION";

/// True if it is one of the fields, and could be read.
bool read_field(Reservation& into, char name, std::string_view value) {
    ReservationIdentity& identity = into.identity;
    const auto text = [&](auto store) {
        auto read = unescaped(value);
        if (read) store(std::move(*read));
        return read.has_value();
    };
    const auto resources = [&](Resources& to) {
        auto read = parse_resources(value);
        if (read) to = std::move(*read);
        return read.has_value();
    };
    switch (name) {
        case 'h': return text([&](std::string read) { identity.host = HostId{std::move(read)}; });
        case 'f':
            return text(
                [&](std::string read) { identity.refines = ReservationId{std::move(read)}; });
        case 'p': return text([&](std::string read) { identity.principal = std::move(read); });
        case 'k': return text([&](std::string read) { into.marks.push_back(std::move(read)); });
        case 's': return identity.from_config = true;
        case 'y': return into.lending.lend = true;
        case 'a': return resources(into.asked);
        case 'm': return resources(into.lending.floor);
        case 't': {
            Duration::rep longest = 0;
            const char* const last = value.data() + value.size();
            const auto [end, error] = std::from_chars(value.data(), last, longest);
            into.lending.longest = Duration{longest};
            return error == std::errc{} && end == last && longest > 0;
        }
        case 'l': {
            const auto middle = value.find('=');
            if (middle == value.npos) return false;
            auto key = unescaped(value.substr(0, middle));
            auto word = unescaped(value.substr(middle + 1));
            return key && word && identity.labels.emplace(std::move(*key), std::move(*word)).second;
        }
        default: return false;
    }
}

std::string fields_of(const Reservation& reservation) {
    const ReservationIdentity& identity = reservation.identity;
    std::string text;
    append_field(text, 'h', escaped(identity.host.str()));
    if (!identity.refines.empty()) append_field(text, 'f', escaped(identity.refines.str()));
    if (!identity.principal.empty()) append_field(text, 'p', escaped(identity.principal));
    if (identity.from_config) append_field(text, 's', "");
    if (!reservation.asked.empty()) append_field(text, 'a', written(reservation.asked));
    for (const std::string& mark : reservation.marks) append_field(text, 'k', escaped(mark));
    const LendingPolicy& lending = reservation.lending;
    if (lending.lend) append_field(text, 'y', "");
    if (!lending.floor.empty()) append_field(text, 'm', written(lending.floor));
    if (lending.longest > Duration{})
        append_field(text, 't', std::to_string(lending.longest.count()));
    for (const auto& [key, value] : identity.labels)
        append_field(text, 'l', escaped(key) + "=" + escaped(value));
    return text;
}

Resources one_unit() {
    Resources unit;
    unit.set(ResourceClass{reservation_register::resource_class}, 1);
    return unit;
}

}  // namespace

Result<Consumer> record_of(const Reservation& reservation, Allocations on_host) {
    Consumer record;
    record.type = consumer_type;
    record.project = std::string{project_prefix} + reservation.identity.role.str();
    record.user = fields_of(reservation);
    // Of older orders, as many marks as there is room for.
    for (Reservation shorter = reservation;
         record.user.size() > max_record_text && shorter.marks.size() > 1;
         record.user = fields_of(shorter))
        shorter.marks.pop_back();
    if (record.user.size() > max_record_text)
        return Error{Errc::bad_input, "its labels, principal and amounts take " +
                                          std::to_string(record.user.size()) +
                                          " characters in Placement, which has " +
                                          std::to_string(max_record_text) +
                                          " for them: shorten the labels"};
    record.holds = std::move(on_host);
    record.holds[ProviderId{reservation_register::provider_id}] = one_unit();
    return record;
}

Result<Reservation> reservation_of(const ServerId& consumer, const Consumer& record) {
    const auto wrong = [&](const std::string& why) {
        return Error{Errc::bad_answer, "consumer " + printable(consumer.str(), 64) +
                                           " in Placement is no reservation: " + why};
    };
    std::string_view project = record.project;
    if (!project.starts_with(project_prefix)) return wrong("its project is another one");
    auto role = Role::parse(project.substr(project_prefix.size()));
    if (!role) return wrong(role.error().what);
    Reservation reservation;
    reservation.identity.role = std::move(*role);
    if (!each_field(record.user, [&](char name, std::string_view value) {
            return read_field(reservation, name, value);
        }))
        return wrong("its user can't be read");
    if (consumer_id_of(reservation_id(reservation.identity)) != consumer)
        return wrong("its id is not that of what it says");
    return reservation;
}

Allocations held_on_host(const Consumer& record) {
    Allocations held = record.holds;
    held.erase(ProviderId{reservation_register::provider_id});
    return held;
}

}  // namespace reaper
