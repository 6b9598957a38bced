// Clouds that differ from the usual one, each drawn with chance of its own: revocable servers that
// hold a class of Placement, and clouds in which not every host will do.
#pragma once

#include <string>

#include "faults/schedules/chance.hpp"
#include "faults/schedules/plan.hpp"

namespace reaper::faults {

/// Where a request may land: traits, zones, cells, nested providers, groups, hints, tenants.
void draw_constraints(SchedulePlan& plan);
/// The tagger `resource`, alone or with `project`. After the flavors are there.
void draw_tagging(SchedulePlan& plan);
/// Of the schedules with the strategy `cost` some go by fair shares, or by bids.
void draw_fair_order(SchedulePlan& plan);
std::string describe_objective(const SchedulePlan& plan);
/// ", ..." of what was drawn; empty: nothing.
std::string describe_cloud(const SchedulePlan& plan);

/// Of a schedule, once in its time: with its own seed.
Item item_of(const SchedulePlan& plan, Kind kind, Chance& rng);

/// In so many of a hundred schedules room is reserved for one role or two.
void draw_reservations(SchedulePlan& plan, int percent);
/// The operator writes another configuration.
void change_reservations(config::Reservations& reservations, const SchedulePlan& plan, Chance& rng);

/// In so many of a hundred schedules unused vCPUs are sold.
void draw_sold_room(SchedulePlan& plan, int percent);

/// In some schedules: for stretches of it Nova's lists of servers take seconds, and its deletions
/// many.
void draw_slow_nova(SchedulePlan& plan);
/// In some schedules: a regular project boots and deletes in a loop.
void draw_looping_tenant(SchedulePlan& plan);

/// In so many of a hundred schedules servers have notice before their end.
void draw_notice(SchedulePlan& plan, int percent);
/// The same: their servers are shelved, and in half of those come back.
void draw_shelving(SchedulePlan& plan, int percent);

/// In so many of a hundred schedules two reapers or three share a journal, and lose its lease.
void draw_shared_journal(SchedulePlan& plan, int percent);

/// In so many of a hundred schedules nova-scheduler asks the reaper.
void draw_gateway(SchedulePlan& plan, int percent);

}  // namespace reaper::faults
