// GET /v1/culling_candidates?resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::admin {

/// From the daemon's picture of the cloud as it is; nothing is read for it. 400 if the query is not
/// understood, 503 if the cloud has not been read yet.
Task<QuestionAnswer> culling_candidates(const Service& service, Question question);

}  // namespace reaper::admin
