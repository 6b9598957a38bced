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
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/res_type.hpp"

namespace reaper {

/// Names of the constraint wherever it may stand; some places know no hyphen.
inline constexpr std::string_view res_type_keys[] = {"res-type", "res_type"};

/// What one text says. Several constraints in it are distinguished by commas, semicolons and
/// blanks. `bad_input` in one line, with the text.
Result<Phases> phases_of(std::string_view constraint);

/// The same of all that is written in one place: nothing means regular, more than one is an error.
Result<Phases> phases_of(const std::vector<std::string>& constraints);

}  // namespace reaper
