#include "reaper/reservations/host_loans.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_lending.hpp"

namespace reaper {
namespace {

constexpr const char* nothing_lent = "nothing is lent";
constexpr const char* nothing_owed = "nothing is owed now";
constexpr const char* lent_to = " lent to ";
constexpr std::size_t most_named = 5;

std::string first_word(const std::string& text) {
    return text.substr(0, text.find(' '));
}

/// `HOST (name): 2 VCPU lent to SERVER SERVER`
std::string line_of(const Host& host, const Resources& lent,
                    const std::map<ServerId, Duration>& borrowers) {
    std::string text = host.id.str() + " (" + printable(host.name, 64) + "): ";
    if (lent.empty()) return text + nothing_lent;
    text += amounts_text(lent);
    if (borrowers.empty()) return text + " in the hands of revocable servers that did not borrow";
    text += lent_to;
    bool first = true;
    for (const auto& each : borrowers)
        text += (std::exchange(first, false) ? "" : " ") + each.first.str();
    return text;
}

std::set<ServerId> borrowers_in(const std::string& line) {
    std::set<ServerId> found;
    const auto at = line.find(lent_to);
    if (at == line.npos) return found;
    std::istringstream rest{line.substr(at + std::string{lent_to}.size())};
    for (std::string word; rest >> word;) found.insert(ServerId{word});
    return found;
}

/// Servers that are not the role's and hold any of it, those that came last first.
std::string holders_of(const Host& host, const Role& role, const Resources& taken,
                       const RoleOfProject& role_of) {
    std::vector<const Server*> others;
    for (const Server& server : host.servers) {
        if (server.revocable()) continue;  // what these hold is lent
        const auto its = role_of(server.project);
        const bool own = its && role.is_open_to(*its);
        if (!own && !common(held_on(server, host), taken).empty()) others.push_back(&server);
    }
    std::ranges::stable_sort(
        others, [](const Server* a, const Server* b) { return came_at(*a) > came_at(*b); });
    std::string text;
    Resources left = taken;
    std::size_t named = 0;
    for (const Server* const server : others) {
        if (left.empty() || named++ == most_named) break;
        left = more_than(left, held_on(*server, host));
        text += (text.empty() ? "server " : ", server ") + printable(server->id.str(), 64) +
                " of project " + printable(server->project.str(), 64);
    }
    return text;
}

}  // namespace

void HostLoans::note_arrivals(const Host& host, const std::set<ServerId>& there, Duration now) {
    for (const Server& server : host.servers)
        if (server.revocable() && !there.contains(server.id)) since_.try_emplace(server.id, now);
}

bool HostLoans::had_by(const ServerId& server, Duration then) const {
    const auto at = since_.find(server);
    return at != since_.end() && at->second <= then;
}

std::optional<std::string> HostLoans::news_of_loans(const Host& host, const Resources& lent,
                                                    bool lacks) {
    const auto is_there = [&](const ServerId& id) {
        return std::ranges::any_of(host.servers,
                                   [&](const Server& server) { return server.id == id; });
    };
    std::erase_if(since_, [&](const auto& each) { return !is_there(each.first); });
    if (lent.empty() && lacks) return std::nullopt;  // as it changes hands
    if (lent.empty()) since_.clear();
    std::string line = line_of(host, lent, since_);
    if (line == told_ || (told_.empty() && lent.empty())) return std::nullopt;
    told_ = line;
    return line;
}

std::optional<std::string> HostLoans::news_of_debt(const Host& host, const Reservation& reservation,
                                                   const Resources& taken,
                                                   const RoleOfProject& role_of) {
    const ReservationId id = reservation_id(reservation.identity);
    const auto at = debts_.find(id);
    if (taken.empty() && at == debts_.end()) return std::nullopt;
    Debt& debt = debts_[id];
    const bool first = !std::exchange(debt.looked, true);
    const Resources seen = common(std::exchange(debt.seen, taken), taken);
    if (first && !taken.empty()) return std::nullopt;
    std::string line = id.str() + " (" + to_string(reservation.identity, host.name) + "): ";
    line += seen.empty() ? nothing_owed : amounts_text(seen) + " are owed";
    const bool known = line == debt.told || (debt.told.empty() && seen.empty());
    if (!known) debt.told = line;
    if (taken.empty()) debts_.erase(id);
    if (known) return std::nullopt;
    if (seen.empty()) return line;
    const std::string holders = holders_of(host, reservation.identity.role, seen, role_of);
    return line + (holders.empty() ? "; the host has less than it had" : "; held by " + holders);
}

LoanEvents loan_events(const std::vector<JournalEvent>& newest_first) {
    LoanEvents events;
    for (const JournalEvent& event : newest_first)
        if (event.kind == lent_kind || event.kind == debt_kind)
            events[first_word(event.reason)].push_back(event);
    return events;
}

void HostLoans::recall(const HostId& host, const HostReservations& reservations,
                       const LoanEvents& events, TimePoint now, Duration steady) {
    for (const auto& each : reservations) {
        const auto debts = events.find(each.first.str());
        if (debts == events.end()) continue;
        const std::string& line = debts->second.front().reason;
        std::string told = line.substr(0, line.find(';'));
        if (!told.ends_with(nothing_owed)) debts_[each.first].told = std::move(told);
    }
    const auto lent = events.find(host.str());
    if (lent == events.end()) return;
    told_ = lent->second.front().reason;
    std::set<ServerId> still = borrowers_in(told_);
    std::map<ServerId, Duration> since;
    for (const JournalEvent& event : lent->second) {
        const std::set<ServerId> listed = borrowers_in(event.reason);
        std::erase_if(still, [&](const ServerId& id) { return !listed.contains(id); });
        for (const ServerId& id : still) since[id] = steady - std::max(now - event.at, Duration{});
    }
    since_.merge(since);  // what this process saw itself stands, whatever the clock was set to
}

}  // namespace reaper
