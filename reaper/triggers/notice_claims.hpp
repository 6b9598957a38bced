// What messages of one request claim that Nova's API does not say: the flavor of a failed resize.
// Nova sends one message of it; where a second one names another flavor, one of them is not Nova's,
// and neither is believed. Messages of other servers, whatever their request id, contradict none.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/failure_notice.hpp"
#include "reaper/model/ids.hpp"

namespace reaper {

class NoticeClaims {
public:
    /// A message came; to be dropped when it is answered.
    void add(const FailureNotice& notice);
    void drop(const FailureNotice& notice);
    /// How another message contradicts it; none if none does.
    std::optional<std::string> contradiction(const FailureNotice& notice) const;

private:
    std::map<std::pair<RequestId, ServerId>, std::multiset<std::string>> flavors_;
};

/// The word of a request whose messages contradict each other: none of its server is believed, a
/// later one neither.
inline constexpr std::string_view contradicted = "contradicted";

}  // namespace reaper
