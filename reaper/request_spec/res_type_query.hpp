// res-type in what nova-scheduler asks of Placement: flavors and images may say which kind of room
// they admit by a trait, which comes with the query.
//
//     trait:CUSTOM_RES_TYPE_REGULAR=required            res-type==regular
//     trait:CUSTOM_RES_TYPE_PREFER_REGULAR=required     res-type==~regular
//     trait:CUSTOM_RES_TYPE_REVOCABLE=required          res-type==revocable
//     trait:CUSTOM_RES_TYPE_PREFER_REVOCABLE=required   res-type==~revocable
//     trait:CUSTOM_RES_TYPE_ANY=required                res-type==*
//
// `forbidden` means `!=` (see below). They are words of ours, that no provider needs
// to have: a caller that queries Placement itself must remove them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper {

// The constraint language: which kind of room a request will have, as its user writes it.
//
//     [constraint:][res-type(==|!=)][~]PATTERN
//
// PATTERN is matched against the two names, `regular` and `revocable`: `*` stands for any
// characters, `?` for one. Without a key and an operator, `==` is meant. `==` admits what the
// pattern matches, `!=` the rest; `~` makes that a preference: what it would admit comes first, the
// other kind second. Where both kinds are admitted alike, regular comes first. Source: Swarm on
// Mesos, "Use revocable and regular resource by constraint".
//
//     regular, !=revocable         regular room only; what an absent constraint means
//     ~regular, *, re*             regular, else revocable
//     revocable, revoca*           revocable room only: the request never culls
//     ~revocable, !=~regular       revocable, else regular
//
// An error: nothing that would be left (`!=re*`), a pattern that matches neither name, another key
// or operator, and two constraints, even if they agree.

/// Names of the constraint wherever it may stand; some places know no hyphen.
inline constexpr std::string_view res_type_keys[] = {"res-type", "res_type"};

/// What one text says. Several constraints in it are distinguished by commas, semicolons and
/// blanks. `bad_input` in one line, with the text.
Result<Phases> phases_of(std::string_view constraint);

/// The same of all that is written in one place: nothing means regular, more than one is an error.
Result<Phases> phases_of(const std::vector<std::string>& constraints);

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
