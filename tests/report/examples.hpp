// Values for the reports' tests, and the comparison with the files in golden/.
#pragma once

#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/render.hpp"

namespace reaper::report::test {

/// Noon of 1 May 2024, and milliseconds later.
TimePoint noon(int milliseconds = 0);

Request example_request();
/// One host with two victims, one that is ready, and many rejected ones.
Plan example_plan();
RequestRecord example_story();
std::vector<RequestSummary> example_lines();
Snapshot example_snapshot();
/// A plan in which every word from the cloud tries to take over the terminal.
Plan hostile_plan();

/// `text` is what golden/NAME says. With REAPER_UPDATE_GOLDEN set, writes the file instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace reaper::report::test
