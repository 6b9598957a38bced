// A request that a user describes, instead of a message of Nova's: in the words of `reaper plan`
// and `reaper request`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

struct DescribedRequest {
    std::string id;       ///< empty: one is made
    Resources resources;  ///< of one slot; empty if it is of a flavor
    std::string flavor;   ///< id or name; empty: see the resources
    int slots = 1;
    std::string project;  ///< id or name
    std::optional<std::string> availability_zone;
    std::vector<std::string> required_traits, forbidden_traits;
    std::vector<RequestGroup> groups;  ///< on top of `resources`
    std::optional<GroupPolicy> group_policy;
    std::string res_type;                ///< the constraint as it was written; may be empty
    Phases phases;                       ///< what it means
    std::optional<Approval> approved{};  ///< its plan was looked at
};

/// Adds `CUSTOM_GPU=required` or `CUSTOM_GPU=forbidden`, as in a flavor; without `=`, required.
Result<void> add_trait(DescribedRequest& described, std::string_view text);

/// Adds what has to come from one provider: `VGPU=1,CUSTOM_X=required`, resources and traits as
/// above.
Result<void> add_group(DescribedRequest& described, std::string_view text);
/// The inverse.
std::string written(const RequestGroup& group);
/// `none` or `isolate`; given last; needed for two groups and more.
Result<void> set_group_policy(DescribedRequest& described, std::string_view text);

/// The request, for the project of this id; of a flavor, without what that takes.
Request request_of(const DescribedRequest& described, RequestId id, ProjectId project,
                   TimePoint now);

}  // namespace reaper
