// A plan that a person approved: is what would be done now still that?
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Empty: it is not known.
using NameOfServer = std::function<std::string(const ServerId&)>;

/// Why the decision is not to be carried out, as one line with what differs; none: its victims are
/// exactly those that were approved, or, once some of these are gone (`begun`), no others; or
/// no server is deleted, for a reason other than the cloud's. A plan older than `max_age` is not
/// begun. `name_of`: of servers that are in no plan now; may be empty.
std::optional<std::string> why_stale(const Approval& approval, const Decision& decision, bool begun,
                                     TimePoint now, Duration max_age,
                                     const NameOfServer& name_of = {});

}  // namespace reaper
