// How the simulated cloud misbehaves on command: rules by method and path, each for some requests.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tests/cloudsim/api/http.hpp"

namespace reaper::cloudsim {

struct FaultRule {
    int number = 0;
    std::string method;      ///< empty: any
    std::string pattern;     ///< of path and query, `*` for anything: `/placement/allocations/*`
    std::string user;        ///< name; empty: any user
    std::uint64_t skip = 0;  ///< so many requests pass first
    std::optional<std::uint64_t> count;  ///< for so many requests; none: until removed
    Micros latency{0};                   ///< real time
    std::optional<int> status;           ///< instead of the answer, and nothing is done
    std::string body;                    ///< of that answer; empty: as the service writes errors
    std::optional<std::size_t> truncate_at;
    bool drop = false;        ///< no answer; nothing is done
    bool drop_after = false;  ///< no answer, but it is done
    std::uint64_t hits = 0;
};

class Faults {
public:
    static constexpr std::size_t most_rules = 100;

    /// Null if there are too many.
    const FaultRule* add(FaultRule rule);
    void clear() { rules_.clear(); }
    bool remove(int number);
    const std::deque<FaultRule>& rules() const { return rules_; }
    /// The first rule for the request; counted as used.
    std::optional<FaultRule> take(const Request& request, const std::string& user);

private:
    std::deque<FaultRule> rules_;
    int last_ = 0;
};

/// `*` is any number of any characters.
bool glob(std::string_view pattern, std::string_view text);

}  // namespace reaper::cloudsim
