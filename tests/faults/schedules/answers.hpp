// Answers as a faulty network or a sick service gives them.
#pragma once

#include <optional>

#include "clients/http/failure.hpp"
#include "faults/schedules/chance.hpp"
#include "faults/schedules/plan.hpp"
#include "tests/cloudsim/api/http.hpp"

namespace reaper::faults {

struct BrokenAnswer {
    std::optional<http::Failure> failure;  ///< there is no answer
    cloudsim::Response response;
    bool replaced = false;  ///< it is not the service's
    bool untrue = false;    ///< it may be believed, and is not so
};

/// What becomes of the true answer.
BrokenAnswer broken_answer(std::optional<Kind> fault, cloudsim::Response truth, Chance& chance);

}  // namespace reaper::faults
