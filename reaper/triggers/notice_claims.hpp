// What messages of one request claim that Nova's API does not tell: the flavor of a failed resize.
// Nova sends one message of it; where a second one names another flavor, one of them is not Nova's,
// and neither is believed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/ids.hpp"

namespace reaper {

class NoticeClaims {
public:
    /// A message came; to be dropped when it is answered.
    void add(const RequestId& request, const FailureNotice& notice);
    void drop(const RequestId& request);
    /// How the messages contradict each other; none if they do not.
    std::optional<std::string> contradiction(const RequestId& request) const;

private:
    struct Claim {
        std::string flavor_id, other_flavor_id;
        int messages = 0;
    };
    std::map<RequestId, Claim> claims_;
};

}  // namespace reaper
