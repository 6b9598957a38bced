// Churn: revocable users keep a cloud full, and boot, delete and lock; regular users boot one or
// two servers, use them for some seconds and give them back. What each regular request got at its
// first try, how long that took, and for whom the victims died.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "faults/schedules/plan.hpp"
#include "reaper/model/time.hpp"
#include "tests/cloudsim/core/settings.hpp"

namespace reaper::faults {

struct ChurnSetup {
    std::uint64_t seed = 1;
    Duration length = std::chrono::minutes{5};
    int hosts = 5;
    int regular_users = 3;
    int revocable_users = 6;
    int under_way = 8;    ///< servers of the revocable users that are being built, at most
    bool one_id = false;  ///< every client gives its boots the same request id
    cloudsim::Delays delays;
};

/// A request that was not served.
struct ChurnFailure {
    std::string request;
    std::string asked;  ///< `2x medium`
    bool first = false;
    bool possible = false;
    std::string outcome;  ///< of the journal
    std::string told;     ///< what the gateway said last
};

struct ChurnFigures {
    int asked = 0;           ///< regular requests, without those of users who came back
    int first = 0;           ///< of these: all servers ACTIVE
    int possible = 0;        ///< of these: room could be there, were every revocable server gone
    int first_possible = 0;  ///< of the possible ones: all servers ACTIVE
    int victims = 0;
    int unused = 0;  ///< no regular server took their room
    int breakers = 0;
    int revocable_boots = 0;               ///< that became ACTIVE
    std::vector<Duration> waits;           ///< of those served: from the API call to ACTIVE
    std::vector<Duration> culls;           ///< of these: those for which servers died
    std::map<std::string, int> room_went;  ///< victims, by the journal's word
    std::vector<ChurnFailure> failures;

    void add(const ChurnFigures& other);
};

/// A cloud of the lab's shape: hosts of 10 VCPU, flavors of 2, 5 and 10; through the gateway.
SchedulePlan lab_plan(std::uint64_t seed, int hosts, const cloudsim::Delays& delays);

ChurnFigures churn(const ChurnSetup& setup);

}  // namespace reaper::faults
