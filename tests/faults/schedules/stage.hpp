// The real service and a simulated cloud in virtual time, where nothing fails, and users who act on
// the cloud: what measurements have in common.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_switch.hpp"
#include "faults/schedules/gateway.hpp"
#include "faults/schedules/process.hpp"
#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::faults {

class Stage {
public:
    /// nova-scheduler asks through the gateway where the plan has one (`gateway.listen`).
    explicit Stage(SchedulePlan plan);

    /// The reaper starts; without, nova-scheduler asks Placement itself.
    void start_reaper();
    /// So much time passes.
    void run_for(Duration length);

    /// All that is booted at once is one request; it returns the id that Placement gets: the
    /// one that its client gave, if it gave one. Without an image, it is the cloud's first.
    std::string boot(const std::string& project, const std::string& flavor, int servers,
                     std::vector<cloudsim::Uuid>& ids,
                     std::optional<cloudsim::Uuid> given = std::nullopt,
                     const cloudsim::Image* image = nullptr);
    /// On that host at once, without a request; false if there is no room.
    bool put(const std::string& project, const std::string& flavor, const std::string& host);
    void remove(const std::string& project, const cloudsim::Uuid& id);
    void set_locked(const std::string& project, const cloudsim::Uuid& id, bool locked);
    /// Null: gone.
    cloudsim::Server* find(const cloudsim::Uuid& id) { return world().nova.find_server(id); }
    std::string project_id(const std::string& name);

    cloudsim::World& world() { return site_.world(); }
    cloudsim::Site& site() { return site_; }
    Timeline& timeline() { return timeline_; }
    TimePoint now() const { return timeline_.true_now(); }
    const test::FakeJournal& journal() const { return journal_; }

private:
    std::shared_ptr<cloudsim::Context> user_of(const std::string& project);
    bool advance(TimePoint end);

    const SchedulePlan plan_;
    FaultCounts counts_{};
    Timeline timeline_;
    Trace trace_;
    cloudsim::Site site_;
    test::FakeJournal journal_;
    test::FakeSwitch pause_;
    test::FakeSwitch breaker_;
    Network network_;
    Broker broker_;
    Gateway gateway_;
    cloudsim::Notifications notifications_;
    std::unique_ptr<Process> process_;
};

}  // namespace reaper::faults
