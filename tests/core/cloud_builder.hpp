// Small clouds for tests, written down in a line each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/rooms/ledger.hpp"
#include "strategies/strategy_table.hpp"

namespace reaper::testing {

/// `seconds` after a fixed time.
TimePoint at(long seconds);

/// A server that is ACTIVE, holds `held` on provider `on`, and was created at `at(created)`.
Server server(const std::string& id, const ProviderId& on, Resources held, long created = 0);
Server revocable(const std::string& id, const ProviderId& on, Resources held, long created = 0);

/// A host with one provider of its own name, all of `capacity` free.
Host host(const std::string& name, const Resources& capacity);
/// Adds the server to the host, and what it holds to what is used.
void put(Host& host, Server server);
/// Adds a nested provider.
Provider& nest(Host& host, const std::string& id, const Resources& capacity);

Request request(Resources resources, int slots = 1, const std::string& id = "req-1");

/// The strategy with its standard parameters, `given` aside.
std::unique_ptr<Strategy> make_strategy(std::string_view name, Parameters given = {});

/// make_plan with standard parameters and an empty ledger, where not given.
Decision plan(const Request& request, const Snapshot& snapshot, const PlanOptions& options = {},
              const Ledger& ledger = {}, std::string_view strategy = "strict",
              Parameters parameters = {});

/// Ids of the victims of a plan, sorted; empty if it is no plan.
std::vector<std::string> victim_ids(const Decision& decision);

/// The rejection of a host by name in a plan or in NotEnough; an empty one if there is none.
Rejection rejection_of(const Decision& decision, const std::string& host_name);

}  // namespace reaper::testing
