// The plan of a correction: which of its servers go. Each is judged singly, so what may go goes
// even where others stay. Pure.
#pragma once

#include "reaper/planner/planner.hpp"

namespace reaper {

/// A plan of those that are on the host still, are revocable, may go, and are within the budgets,
/// in their order; it has no slots, and its note says why the others stay. NotEnough if
/// none may go, with the safeguard where one keeps a server. NothingToDo if none exists any longer,
/// or all that are there go already. The request has a correction; of `options`, its skipped
/// servers, protection, victim filter and budgets count.
Decision plan_correction(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                         const PlanOptions& options);

}  // namespace reaper
