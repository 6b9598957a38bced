// What reservations are to have, by the configuration and by what the cloud itself knows: the
// judges' arithmetic. On each host and of each class, a reservation lacks
//     asked - what its role's servers hold - what it holds
// and room that it lacks is for its role only, whether or not a server holds it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faults/schedules/plan.hpp"
#include "faults/schedules/truth.hpp"

namespace reaper::faults {

/// Of one role, on one host: all that the configuration says.
struct Reserved {
    Role role;
    Resources asked;
    bool lends = false;
    Resources floor;
};

class Reservations {
public:
    /// All of it must outlive this.
    Reservations(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site,
                 const Truth& truth);

    /// The configuration is this from now on.
    void configure(const config::Reservations& settings);
    TimePoint configured_at() const { return configured_.back().first; }

    /// On a host, by the current configuration.
    std::vector<Reserved> on(const std::string& host) const;
    /// ... by each that was in force at some time since.
    std::vector<std::vector<Reserved>> on_since(const std::string& host, TimePoint since) const;
    /// Is the reservation for servers of this project? Of none: it is a stranger's.
    bool is_open_to(const Reserved& reserved, const std::string& project) const;
    /// The role of a consumer in Placement; none: it is no reservation.
    static std::optional<Role> role_of_record(const std::string& project);
    static bool is_record(const Holder& holder) {
        return role_of_record(holder.project).has_value();
    }

    /// Of whom it is unclear whether he uses it: who moves holds room where he is not, too.
    enum class Movers { use, do_not_use };
    /// What regular servers hold whose projects have the role, on the host.
    Resources used(const Reserved& reserved, const HostState& state, Movers movers) const;
    /// In Placement, for the role.
    static Resources held(const Reserved& reserved, const HostState& state);
    /// What revocable servers hold.
    Resources revocable(const HostState& state, const std::set<Uuid>& without) const;
    /// What all lack that are not for this project.
    Resources lacked_by_others(const std::string& host, const std::string& project,
                               const HostState& state, Movers movers) const;
    /// Is anything in the schedule that makes it unclear which servers are regular?
    bool unclear() const;

private:
    std::optional<Role> role_of(const std::string& project) const;
    std::vector<Reserved> reserved_on(const config::Reservations& settings,
                                      const std::string& host) const;
    bool is_revocable(const Holder& holder) const;

    const SchedulePlan& plan_;
    const Timeline& timeline_;
    cloudsim::Site& site_;
    const Truth& truth_;
    /// Since when, the oldest first.
    std::vector<std::pair<TimePoint, config::Reservations>> configured_;
};

}  // namespace reaper::faults
