// Where a request says which kind of room it admits. The first place that says anything counts, and
// the others are not read:
//
//     1. the server's metadata            res-type=~regular
//     2. the flavor's extra specs         reaper:res_type=~regular
//     3. the image's properties           res_type=~regular
//
// Where nova-scheduler asks the gateway, a flavor and an image may say it by a trait as well
// (res_type_query.hpp): `trait:CUSTOM_RES_TYPE_PREFER_REGULAR=required`.
//
// Each name may be written with a hyphen or an underscore; both at once in one place are two
// constraints, which is an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "reaper/model/res_type.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

using TextMap = std::map<std::string, std::string>;

/// What a request admits, and where that is stated, as text (empty: nowhere).
struct AdmittedRoom {
    Phases phases;
    std::string because;
    friend bool operator==(const AdmittedRoom&, const AdmittedRoom&) = default;
};

/// The metadata without a bare `regular` or `revocable`: on a server that ran, that is the reaper's
/// own word for what it ran as, and no wish.
TextMap without_marks(TextMap metadata);
/// What such a word says.
std::optional<ResType> mark_in(const TextMap& metadata);

/// Refused, in one line with the place: a constraint that can't be understood, leaves nothing, or
/// is one of two. `traits`: they count too.
std::variant<AdmittedRoom, Refused> admitted_room(const TextMap& metadata,
                                                  const TextMap& extra_specs,
                                                  const TextMap& image_properties, bool traits);

}  // namespace reaper
