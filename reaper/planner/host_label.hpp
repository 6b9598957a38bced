// What kind of room a host has: its label, and how it looks to a request that will have one kind.
// The one place that defines both.
//
// A *revocable class* is a resource class that a tagger goes by (Tagger::marker_class): an
// inventory of it is room that is offered as revocable. Every other class is ordinary.
//
// A host has *regular* room if it offers any (capacity of ordinary classes: of CPU and of memory,
// if it has inventories of either; else of any; as much as the least amount that the inventory's
// units allow) or holds a regular server. That revocable servers
// sit in it takes nothing away: they only borrow it, and a request that may cull takes it back.
// It has *revocable* room if it offers any (capacity of a revocable class) or holds a revocable
// server. So where no tagger goes by a class, no host offers revocable room: there the servers'
// type is not the room's, and a host is `any` as long as revocable servers are on it.
//
// A host whose root provider has just one of the traits CUSTOM_RES_TYPE_REGULAR and
// CUSTOM_RES_TYPE_REVOCABLE is declared to be that: it has no room of the other kind.
//
// Nothing is remembered: a label is computed from the host as the cache has it, and so follows
// servers and inventories as they come and go. Source: Swarm on Mesos, "Mark Docker engine's
// resource type with a special label", and how it wraps engines.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "reaper/model/cloud.hpp"
#include "reaper/model/res_type.hpp"

namespace reaper {

using ResourceClasses = std::set<ResourceClass>;

enum class HostLabel {
    regular,    ///< only regular room (or none at all)
    revocable,  ///< only revocable room
    any,        ///< both
};

std::string_view to_string(HostLabel label);

HostLabel label_of(const Host& host, const ResourceClasses& revocable_classes);

/// Has it inventory of a revocable class, with capacity?
bool offers_revocable(const Host& host, const ResourceClasses& revocable_classes);

/// A host as a candidate for one kind of room.
struct WrappedHost {
    const Host* host = nullptr;
    ResType label{};  ///< of the wrapped host: what an `any` host appears as
    /// All room of the kind. Regular: the capacity of the ordinary classes. Revocable: the capacity
    /// of the revocable classes, and of the ordinary ones what revocable servers hold and, as long
    /// as some of a revocable class is free, what is not allocated.
    Resources total;
    Resources free;  ///< of it, without a deletion; not negative
};

/// The host as a candidate for room of this kind; none if its label says that it has none.
/// `host` must outlive the result.
std::optional<WrappedHost> wrap(const Host& host, ResType type,
                                const ResourceClasses& revocable_classes);

/// Hosts by label; every label is there.
std::map<HostLabel, std::size_t> count_labels(const Snapshot& snapshot);

}  // namespace reaper
