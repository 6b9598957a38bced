// POST /v1/plan: what the daemon would do now for a request that a client describes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "reaper/api/routes.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/request.hpp"

namespace reaper::api {

// What a body says of a plan that a person approved: `approved: {by, planned_at, victims[]}`; one
// that is still to be looked at has no victims.

struct ApprovedBody {
    std::string body;  ///< without it
    std::optional<Approval> approved;
};

/// A body that is no JSON object has no approval. What is wrong with one is `bad_input`.
Result<ApprovedBody> take_approval(const std::string& body);

/// A plan for more would keep all other clients waiting.
inline constexpr int most_servers_planned = 1'000;

/// The body is one request in the words of `reaper plan --requests`. {version, request, decision,
/// remarks[], taken_at}; `request` and `decision` as in records. It is decided on the cache as it
/// is: nothing is read from the cloud but the project's name and the flavor, nothing is written or
/// promised. 400: the body is wrong, or has more than `most_servers_planned` slots and is of a
/// client that may not act, or there is no such project; 503: the cloud has not been read
/// yet, or Keystone can't be asked.
Task<HttpResponse> post_plan(const Backend& backend, ApiRequest request);

/// What is to be known about a plan: why nothing would be done now, and what makes the cache
/// doubtful.
nlohmann::json plan_remarks(const Backend& backend, const DaemonView& view);

/// A request, or why there is none.
using BuiltRequest = std::variant<Request, HttpResponse>;
/// The request, for servers of the flavor that is written; 404 if there is none.
Task<BuiltRequest> of_named_flavor(const Backend& backend, Request request, std::string written);

/// The one request that a body describes; what is wrong with it is `bad_input`.
Result<DescribedRequest> described_in(const std::string& body);

// GET /v1/culling_candidates?resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20

/// From the daemon's view of the cloud as it is; nothing is read for it. 400 if the query is not
/// understood, 503 if the cloud has not been read yet.
Task<HttpResponse> culling_candidates(const Backend& backend, ApiRequest request);

}  // namespace reaper::api
