#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include "config/sections.hpp"
#include "config/values.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper::config {
namespace {

constexpr std::chrono::milliseconds longest_possible_loan = std::chrono::hours{8760};
const std::string amounts_expected = "classes of Placement with amounts from 1 to " +
                                     std::to_string(max_placement_amount) +
                                     ", such as {VCPU: 8, MEMORY_MB: 16384}";

// ---- members ----

bool read_role(const YAML::Node& node, const std::string& key, Role& into, Findings& findings) {
    std::string text;
    if (!read_entry_text(node, key, text, findings)) return false;
    auto role = Role::parse(text);
    if (!role) {
        findings.error(key, role.error().what);
        return false;
    }
    into = std::move(*role);
    return true;
}

bool read_amounts(const YAML::Node& node, const std::string& key, Resources& into,
                  Findings& findings) {
    return read_mapping(
        node, key, amounts_expected, findings,
        [&](const std::string& name, const std::string& full, const YAML::Node& value) {
            const auto amount = value.IsScalar() ? integer_of(value.Scalar()) : std::nullopt;
            const bool good = amount && *amount >= 1 && *amount <= max_placement_amount;
            const std::string not_reservable = why_not_reservable(ResourceClass{name});
            if (!is_upper_name(name))
                findings.error(full, "is not a resource class", amounts_expected);
            else if (!not_reservable.empty())
                findings.error(full, "can't be kept: " + not_reservable, amounts_expected);
            else if (!good)
                findings.error(full,
                               value.IsScalar() ? "is " + shown(value.Scalar()) : "is no amount",
                               "a whole number from 1 to " + std::to_string(max_placement_amount));
            else
                into.set(ResourceClass{name}, *amount);
            return good && is_upper_name(name) && not_reservable.empty();
        });
}

bool read_labels(const YAML::Node& node, const std::string& key, reaper::Labels& into,
                 Findings& findings) {
    return read_mapping(
        node, key, "a mapping of texts", findings,
        [&](const std::string& name, const std::string& full, const YAML::Node& value) {
            return read_entry_text(value, full, into[name], findings);
        });
}

bool read_loan(const YAML::Node& node, const std::string& key, Duration& into, Findings& findings) {
    const auto span = node.IsScalar() ? parse_duration(node.Scalar()) : std::nullopt;
    const bool good = span && *span >= Duration{} && *span <= longest_possible_loan;
    if (!good)
        findings.error(key, node.IsScalar() ? "is " + shown(node.Scalar()) : "is no duration",
                       "a duration with its unit (30min, 24h) from 0s to " +
                           exact_duration(longest_possible_loan));
    into = good ? *span : Duration{};
    return good;
}

/// Says that something is not there, at the whole entry.
bool need(bool there, const std::string& key, const char* problem, const char* expected,
          Findings& findings) {
    if (!there) findings.error(key, problem, expected);
    return there;
}

/// A pattern stands for roles, if any text in place of its `*` makes one.
bool check_role_patterns(const std::vector<std::string>& patterns, const std::string& key,
                         Findings& findings) {
    bool good = true;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        std::string role = patterns[i];
        for (char& c : role)
            if (c == '*' || c == '?') c = 'x';
        if (Role::parse(role)) continue;
        findings.error(key + "[" + std::to_string(i) + "]", "is " + shown(patterns[i]),
                       "a role, such as engineering/backend, or a pattern of roles, such as "
                       "engineering/*");
        good = false;
    }
    return good;
}

// ---- entries ----

std::optional<RoleProjects> read_role_projects(const YAML::Node& node, const std::string& key,
                                               Findings& findings) {
    RoleProjects entry;
    const EntryMembers members{
        {"role", member(read_role, entry.role, findings)},
        {"projects", member(read_entry_texts, entry.projects, findings)},
    };
    if (!read_entry(node, key, roles_expected, members, findings)) return std::nullopt;
    if (!need(!entry.role.empty(), key, "has no role", roles_expected, findings) ||
        !need(!entry.projects.empty(), key, "has no projects", roles_expected, findings))
        return std::nullopt;
    return entry;
}

EntryMembers members_of_static(StaticReservation& entry, Findings& findings) {
    return {
        {"role", member(read_role, entry.role, findings)},
        {"hosts", member(read_entry_texts, entry.hosts, findings)},
        {"aggregates", member(read_entry_texts, entry.aggregates, findings)},
        {"resources", member(read_amounts, entry.resources, findings)},
        {"labels", member(read_labels, entry.labels, findings)},
        {"principal", member(read_entry_text, entry.principal, findings)},
        {"lend", member(read_entry_flag, entry.lending.lend, findings)},
        {"floor", member(read_amounts, entry.lending.floor, findings)},
        {"longest_loan", member(read_loan, entry.lending.longest, findings)},
    };
}

void check_floor(const StaticReservation& entry, const std::string& key, Findings& findings) {
    for (const auto& [name, amount] : entry.lending.floor)
        if (const Amount reserved = entry.resources.get(name); amount > reserved)
            findings.error(key + ".floor." + name.str(),
                           "is " + std::to_string(amount) + ", more than the " +
                               std::to_string(reserved) + " that are reserved",
                           "at most as much");
}

StaticReservation read_static(const YAML::Node& node, const std::string& key, Findings& findings) {
    StaticReservation entry;
    if (!read_entry(node, key, static_expected, members_of_static(entry, findings), findings))
        return {};
    if (!need(!entry.role.empty(), key, "has no role", static_expected, findings) ||
        !need(!entry.resources.empty(), key, "has no resources", static_expected, findings) ||
        !need(!entry.hosts.empty() || !entry.aggregates.empty(), key,
              "has neither hosts nor aggregates", static_expected, findings))
        return {};
    check_floor(entry, key, findings);
    return entry;
}

/// A rule of the ACL: for which principals, and for which roles.
template <class Rule>
std::optional<Rule> read_rule(const YAML::Node& node, const std::string& key, const char* of,
                              std::vector<std::string> Rule::*into, const char* expected,
                              Findings& findings) {
    Rule rule;
    const EntryMembers members{
        {"principals", member(read_entry_texts, rule.principals, findings)},
        {of, member(read_entry_texts, rule.*into, findings)},
    };
    if (!read_entry(node, key, expected, members, findings)) return std::nullopt;
    const std::string missing = std::string{"has no "} + of;
    if (!need(!rule.principals.empty(), key, "has no principals", expected, findings) ||
        !need(findings.has(key + "." + of), key, missing.c_str(), expected, findings))
        return std::nullopt;
    return rule;
}

// ---- all of them ----

/// Is a host, or an aggregate, meant twice by entries that are one reservation there?
void check_same_places(const std::vector<std::string>& texts, const std::string& name,
                       std::size_t index, std::map<std::string, std::size_t>& seen,
                       Findings& findings) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto [at, fresh] = seen.emplace(texts[i], index);
        if (fresh || at->second == index) continue;
        findings.error("reservations.static[" + std::to_string(index) + "]." + name + "[" +
                           std::to_string(i) + "]",
                       shown(texts[i]) + " is in static[" + std::to_string(at->second) +
                           "] too, with the same role, labels and principal",
                       "one of the two, or different labels");
    }
}

void check_places(const std::vector<StaticReservation>& entries, Findings& findings) {
    using Name = std::tuple<Role, reaper::Labels, std::string>;
    std::map<Name, std::map<std::string, std::size_t>> hosts;
    std::map<Name, std::map<std::string, std::size_t>> aggregates;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Name name{entries[i].role, entries[i].labels, entries[i].principal};
        check_same_places(entries[i].hosts, "hosts", i, hosts[name], findings);
        check_same_places(entries[i].aggregates, "aggregates", i, aggregates[name], findings);
    }
}

/// Placement has a bound for what is written down there of a reservation.
void check_record(const StaticReservation& entry, const std::string& key, Findings& findings) {
    Reservation reservation;
    constexpr std::size_t uuid_length = 36;
    reservation.identity = {HostId{std::string(uuid_length, '0')}, entry.role, entry.labels};
    reservation.identity.principal = entry.principal;
    reservation.identity.from_config = true;
    reservation.asked = entry.resources;
    reservation.lending = entry.lending;
    if (const auto written = record_of(reservation, {}); !written)
        findings.error(key, written.error().what);
}

}  // namespace

void read_entries(const YAML::Node& node, const std::string& key, std::vector<RoleProjects>& into,
                  Findings& findings) {
    into.clear();
    std::map<std::string, std::string> roles;  // by project
    for_each_entry(
        node, key, roles_expected, findings, [&](const YAML::Node& item, const std::string& full) {
            auto entry = read_role_projects(item, full, findings);
            if (!entry) return;
            for (std::size_t i = 0; i < entry->projects.size(); ++i) {
                const auto [at, fresh] = roles.emplace(entry->projects[i], entry->role.str());
                if (!fresh)
                    findings.error(full + ".projects[" + std::to_string(i) + "]",
                                   shown(entry->projects[i]) + " is there twice (of the role " +
                                       at->second + " first)",
                                   "each project in one role");
            }
            into.push_back(std::move(*entry));
        });
}

void read_entries(const YAML::Node& node, const std::string& key,
                  std::vector<StaticReservation>& into, Findings& findings) {
    into.clear();
    for_each_entry(node, key, static_expected, findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       into.push_back(read_static(item, full, findings));
                   });
}

void read_entries(const YAML::Node& node, const std::string& key, std::vector<ReserveRule>& into,
                  Findings& findings) {
    into.clear();
    for_each_entry(node, key, reserve_rules_expected, findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       auto rule = read_rule(item, full, "roles", &ReserveRule::roles,
                                             reserve_rules_expected, findings);
                       if (rule && check_role_patterns(rule->roles, full + ".roles", findings))
                           into.push_back(std::move(*rule));
                   });
}

void read_entries(const YAML::Node& node, const std::string& key, std::vector<UnreserveRule>& into,
                  Findings& findings) {
    into.clear();
    for_each_entry(node, key, unreserve_rules_expected, findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       auto rule = read_rule(item, full, "of", &UnreserveRule::of,
                                             unreserve_rules_expected, findings);
                       if (rule) into.push_back(std::move(*rule));
                   });
}

void finish_reservations(Reservations& read, Findings& findings) {
    auto& entries = read.static_ones;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].role.empty()) continue;  // it is wrong
        const std::string key = "reservations.static[" + std::to_string(i) + "]";
        if (!findings.has(key + ".lend")) entries[i].lending.lend = read.lend;
        if (!findings.has(key + ".longest_loan")) entries[i].lending.longest = read.longest_loan;
        check_record(entries[i], key, findings);
    }
    check_places(entries, findings);
}

}  // namespace reaper::config
