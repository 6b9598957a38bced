// Is a failure notice true? A message proves nothing: any user who may write to Nova's exchange can
// send one. Nova's own record of the server and of the action decides. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

/// The word of a request that Nova does not confirm.
inline constexpr std::string_view unconfirmed = "unconfirmed";

/// Why a notice is not believed.
struct Doubt {
    enum class Then {
        refuse,      ///< Nova contradicts it
        look_again,  ///< Nova may not have written it down yet: after a few looks it is refused
        wait,        ///< Nova is still at it: it is asked until the request's time is over
    };
    Then then{};
    std::string reason;
};

/// By the server and the action of `facts` alone; none if Nova says the same. A server that is gone
/// or being deleted raises no doubt: nothing is done for it anyway. What failed longer ago than
/// `max_age` is not acted on, whatever the message's own time is.
std::optional<Doubt> why_not_believed(const FailureNotice& notice, const RequesterFacts& facts,
                                      TimePoint now, Duration max_age);

/// Why a search for hosts is not that of the failure, which Nova has confirmed; none if Nova does
/// not contradict it. Of several servers of one request, that of any of them is; the first one may
/// be gone.
std::optional<std::string> why_not_believed(const Schedule& schedule, const FailureNotice& notice,
                                            const RequesterFacts& facts);

/// When it failed, by Nova's record; none if Nova does not say.
std::optional<TimePoint> failed_at(const FailureNotice& notice, const RequesterFacts& facts);

}  // namespace reaper
