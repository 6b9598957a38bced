// The settings value by value, in the order of the table of keys: what is shown of them, compared
// and taken over follows from that table.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "config/keys.hpp"

namespace reaper::config {

using Value =
    std::variant<std::int64_t, double, std::chrono::milliseconds, bool, std::string,
                 std::vector<std::string>, Secret, std::vector<Secret>, Plugin, std::vector<Plugin>,
                 std::vector<Module>, std::vector<Cell>, std::vector<RoleProjects>,
                 std::vector<StaticReservation>, std::vector<ReserveRule>,
                 std::vector<UnreserveRule>, std::vector<Mark>, std::vector<TaggerSpan>>;

/// Numbers are in the unit of the file.
Value value_of(const Key& key, const Settings& settings);

void for_each_key(const std::function<void(const Section&, const Key&)>& visit);

/// Keys that differ, by their paths.
struct Difference {
    std::vector<std::string> live;
    std::vector<std::string> needs_restart;

    bool empty() const { return live.empty() && needs_restart.empty(); }
};
Difference difference(const Settings& before, const Settings& after);

/// `in_force` with what may change while running taken from `wanted`.
Settings with_live_values(Settings in_force, const Settings& wanted);

/// For logs: `applied: cull.promise, strategy; needs a restart: broker.prefetch`. No values.
std::string to_string(const Difference& difference);

}  // namespace reaper::config
