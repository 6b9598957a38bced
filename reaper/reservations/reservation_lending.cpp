#include "reaper/reservations/reservation_lending.hpp"

#include <algorithm>
#include <utility>

namespace reaper {

TimePoint came_at(const Server& server) {
    return server.launched ? std::max(server.created, *server.launched) : server.created;
}

EndedLoan loan_of(const Reservation& reservation, const Host& host, const Resources& lent,
                  const std::vector<const Server*>& tenants) {
    EndedLoan loan;
    loan.reservation = reservation_id(reservation.identity);
    loan.role = reservation.identity.role;
    loan.service_host = host.service_host;
    Resources held;
    for (const Server* const tenant : tenants) {
        loan.tenants.insert(tenant->id);
        held += held_on(*tenant, host);
    }
    loan.amounts = common(lent, held);
    return loan;
}

std::map<ReservationId, std::vector<const Server*>> tenants_of(
    const Host& host, const std::map<ReservationId, ReservationBalance>& balances,
    const Ledger& ledger) {
    std::map<ReservationId, std::vector<const Server*>> tenants;
    const bool any =
        std::ranges::any_of(balances, [](const auto& each) { return !each.second.lent.empty(); });
    if (!any) return tenants;
    std::vector<std::pair<const Server*, Resources>> servers;
    for (const Server& server : host.servers)
        if (server.revocable() && !is_leaving(server, ledger))
            servers.emplace_back(&server, held_on(server, host));
    std::ranges::stable_sort(servers, [](const auto& a, const auto& b) {
        return came_at(*a.first) > came_at(*b.first);
    });
    for (const auto& [id, balance] : balances) {
        Resources lent = balance.lent;
        for (auto& [server, holds] : servers) {
            if (lent.empty()) break;
            if (common(holds, lent).empty()) continue;
            tenants[id].push_back(server);
            const Resources left = more_than(lent, holds);
            // What it holds beyond that may be another one's.
            holds = more_than(holds, lent);
            lent = left;
        }
    }
    return tenants;
}

ReservedRoom::OnHost reserved_room(const Host& host, const HostReservations& reservations,
                                   const std::map<ReservationId, ReservationBalance>& balances,
                                   const Ledger& ledger) {
    ReservedRoom::OnHost room;
    for (const auto& [id, reservation] : reservations) {
        const ReservationBalance& balance = balances.at(id);
        room.reservations.emplace(id, reservation.identity.role);
        if (balance.owed.empty()) continue;
        Resources free = common(more_than(balance.next, balance.held), balance.owed);
        room.missing.push_back({id, reservation.identity.role, balance.owed, std::move(free)});
    }
    for (const auto& [id, servers] : tenants_of(host, balances, ledger))
        for (const Server* const server : servers)
            room.tenants.emplace(server->id, reservations.at(id).identity.role);
    return room;
}

namespace {

constexpr std::string_view loan_prefix = "loan-";
constexpr std::size_t uuid_length = 36;

}  // namespace

RequestId loan_request_id(const ReservationId& reservation, TimePoint now, unsigned number) {
    return RequestId{std::string{loan_prefix} + reservation.str() + "-" +
                     std::to_string(now.time_since_epoch().count()) + "-" + std::to_string(number)};
}

std::optional<ReservationId> reservation_of_loan(const RequestId& request) {
    const std::string& text = request.str();
    const std::size_t end = loan_prefix.size() + uuid_length;
    if (!text.starts_with(loan_prefix) || text.size() <= end || text[end] != '-')
        return std::nullopt;
    return ReservationId{text.substr(loan_prefix.size(), uuid_length)};
}

void CalmTime::disturbed(Duration now, Duration calm, bool lent_since) {
    if (now >= until_ + length_)
        times_ = 0;
    else if (lent_since)
        times_ = std::min(times_ + 1, most_doublings);
    length_ = calm * (1 << times_);
    until_ = now + length_;
}

}  // namespace reaper
