// Oversubscribed room in a schedule: what the hosts use, as a monitoring system would tell it, and
// what of that room may be published by the judges' own arithmetic over all that was measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faults/room/load_history.hpp"
#include "faults/schedules/plan.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/truth.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper::faults {

/// Stands for VCPU where it is sold again.
inline const ResourceClass sold_class{"CUSTOM_REVOCABLE_VCPU"};

/// Queries, as the reaper is configured to ask them.
struct SoldQueries {
    static constexpr const char* use = "use";
    static constexpr const char* cores = "cores";
    static constexpr const char* age = "age";
    static constexpr const char* load5 = "load5";
    static constexpr const char* load15 = "load15";
    static constexpr const char* pressure = "pressure";
    static constexpr const char* server =
        "domain";  ///< the label of a server, where servers have figures of their own
};

class SoldRoom final : public Metrics {
public:
    /// All of it must outlive this.
    SoldRoom(const SchedulePlan& plan, Timeline& timeline, cloudsim::Site& site, const Truth& truth,
             FaultCounts& counts);

    /// Measures from now on, as long as the timeline runs.
    void begin();
    /// A fault of the monitoring, for as long as the item says.
    void begin(const Item& item);

    ResultTask<std::vector<Sample>> query(std::string expression) override;
    ResultTask<std::vector<SampleSeries>> query_range(std::string expression, TimePoint from,
                                                      TimePoint to, Duration step) override;

    // For the judge. Times are true ones.
    /// vCPUs that may have been allowed at some time of [from, to], at most.
    Amount most_allowed(const std::string& host, TimePoint from, TimePoint to) const;
    /// Of sold room, held beyond what no regular server used, at some time of [from, to], at
    /// most.
    Amount most_excess(const std::string& host, TimePoint from, TimePoint to) const;
    /// By how many vCPUs what was measured then was above what is not to be exceeded, at most; 0 or
    /// less: it was not above.
    double most_over(const std::string& host, TimePoint from, TimePoint to) const;
    /// Of sold room, held at some time of [from, to], at most.
    Amount most_held(const std::string& host, TimePoint from, TimePoint to) const;
    /// In Placement, now; 0: no inventory, or a closed one.
    Amount published(const std::string& host) const;
    /// Was the use of all hosts told in [from, to]?
    bool told(TimePoint from, TimePoint to) const;

private:
    struct Point {
        TimePoint at{};
        double whole = 0;    ///< cores in use
        double regular = 0;  ///< ... by others than the holders of sold room
        double load5 = 0, load15 = 0;
        double pressure = 0;
        std::vector<std::pair<Uuid, double>>
            servers{};         ///< cores in use, where servers have figures of their own
        Amount allocated = 0;  ///< VCPU
        Amount held = 0;       ///< of sold room
    };
    struct Measured {
        LoadHistory history;
        LoadAverages load;
        std::vector<Point> points;
    };
    enum class Fault { away = 1, hangs, stale, no_number, other_clock };

    void measure();
    bool has(Fault fault) const;
    const Point* last(const Measured& host, TimePoint at) const;
    std::optional<double> value(const Point& point, const std::string& expression) const;
    /// More than one figure: of each server.
    bool of_servers(const std::string& expression) const;
    Point measured(Measured& host, const HostState* state, TimePoint now) const;
    double over(const Point& point) const;
    std::vector<Sample> samples(const std::string& expression, TimePoint at) const;
    double size() const { return static_cast<double>(plan_.cloud.host.vcpus); }
    Amount room(double in_use, std::optional<Amount> allocated) const;

    const SchedulePlan& plan_;
    Timeline& timeline_;
    cloudsim::Site& site_;
    const Truth& truth_;
    FaultCounts& counts_;
    TimePoint began_{};
    std::map<std::string, Measured> hosts_;
    std::vector<std::pair<Fault, TimePoint>> faults_;  ///< until when
    std::vector<TimePoint> told_;                      ///< answers about the hosts' use
};

}  // namespace reaper::faults
