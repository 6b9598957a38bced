// res-type in what nova-scheduler asks of Placement: flavors and images may say which kind of room
// they admit by a trait, which comes with the query.
//
//     trait:CUSTOM_RES_TYPE_REGULAR=required            res-type==regular
//     trait:CUSTOM_RES_TYPE_PREFER_REGULAR=required     res-type==~regular
//     trait:CUSTOM_RES_TYPE_REVOCABLE=required          res-type==revocable
//     trait:CUSTOM_RES_TYPE_PREFER_REVOCABLE=required   res-type==~revocable
//     trait:CUSTOM_RES_TYPE_ANY=required                res-type==*
//
// `forbidden` means `!=` (res_type_constraint.hpp). They are words of ours, that no provider needs
// to have: a caller that queries Placement itself must remove them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper {

/// The constraint that such a trait is, required or forbidden; none for another trait.
std::optional<std::string> res_type_constraint_of(std::string_view trait, bool required);
/// Those that were there.
std::set<Trait> remove_res_type_traits(std::set<Trait>& traits);

struct ResTypeQuery {
    PlacementQuery rest;                   ///< what Placement may be asked
    std::vector<std::string> constraints;  ///< each once
};
/// Takes the traits out.
ResTypeQuery take_res_type(const PlacementQuery& query);

/// The query for a server that runs in room of a revocable class: it takes so many of it in place
/// of what the class stands for, or one besides. A provider below the host may give it. None if the
/// query would ask for nothing else of the host.
std::optional<PlacementQuery> as_revocable_query(const PlacementQuery& query,
                                                 const ResourceClass& revocable_class);

}  // namespace reaper
