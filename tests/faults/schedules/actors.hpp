// The people and machines of the cloud: users who boot servers and try again, who lock, delete and
// move theirs; operators; hosts that go down. They act on cloudsim directly.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/schedules/chance.hpp"
#include "faults/schedules/plan.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/trace.hpp"
#include "tests/cloudsim/api/site.hpp"

namespace reaper::faults {

class Actors final : public cloudsim::Listener {
public:
    /// `reclaim`: for how long the cloud defers users' deletions; zero: it does not. `changed` is
    /// called after each action.
    Actors(Timeline& timeline, cloudsim::Site& site, Trace& trace, FaultCounts& counts,
           cloudsim::Micros reclaim, std::function<void()> changed);

    void begin(const Item& item);
    /// Things that they will still do.
    int pending() const { return pending_; }

    void on_refusal(const cloudsim::RefusalEvent& event) override;
    void on_effect(const cloudsim::Effect& effect) override;

private:
    /// A user's wish, which outlives the request.
    struct Wish {
        std::string project;  ///< name
        std::string flavor;
        std::string zone;
        Kind kind = Kind::boot;  ///< as it is counted
        cloudsim::ServerGroup* group = nullptr;
        std::vector<cloudsim::Uuid> same_host, different_host;
        int servers = 1;
        int tries_left = 0;
        Chance chance{0};
    };
    void later(Duration delay, std::function<void()> action);
    void boot(const Item& item);
    void boot(Wish wish);
    void join_group(Wish& wish);
    void hint(Wish& wish);
    void give_up_or_try_again(std::string request, std::vector<cloudsim::Uuid> servers);
    /// A user's wish to make a server larger.
    struct Growth {
        cloudsim::Uuid server;
        std::shared_ptr<const cloudsim::Flavor> flavor;
        int tries_left = 0;
        Chance chance{0};
    };
    void resize(const Item& item);
    void resize(Growth growth);
    void evacuate(const Item& item, Chance& chance);
    void unshelve(Chance& chance);
    void unshelve(cloudsim::Uuid id, int tries_left);
    void slow_down(const Item& item);
    void loop(const Item& item);
    void loop(std::string flavor, int servers, TimePoint until, Chance chance);
    void protect(Chance& chance);
    void act(const Item& item, Chance& chance);
    void lock(const Item& item, Chance& chance);
    void delete_some(const Item& item, Chance& chance);
    void migrate(Chance& chance);
    void retag(Chance& chance);
    void delete_requester(Chance& chance);
    void orphan(Chance& chance);
    void lose_allocation(Chance& chance);
    void lose_class(Chance& chance);
    void touch_reservation(Chance& chance);
    void trouble_of_host(const Item& item, Chance& chance);
    void lose_deletions(const Item& item);

    cloudsim::ContextPtr user_of(const std::string& project);
    cloudsim::ContextPtr operators();
    /// ACTIVE servers with a host, in an order that the seed alone decides.
    std::vector<cloudsim::Server*> servers(bool revocable_only);
    /// Of all flavors; where a class makes revocable: of those that ask for it, or do not.
    std::string any_flavor(Chance& chance, std::optional<bool> revocable = std::nullopt);
    void count(Kind kind) { ++counts_[static_cast<std::size_t>(kind)]; }
    cloudsim::World& world() { return site_.world(); }

    Timeline& timeline_;
    cloudsim::Site& site_;
    Trace& trace_;
    FaultCounts& counts_;
    cloudsim::Micros reclaim_;
    std::function<void()> changed_;
    int pending_ = 0;
    int slow_ = 0;                           ///< stretches in which Nova is slow, now
    std::optional<cloudsim::Delays> usual_;  ///< while it is
    std::map<std::string, Wish> wishes_;     ///< by request
    std::map<std::string, Growth> growths_;  ///< by request
    std::map<std::string, std::vector<cloudsim::Uuid>> waiting_;  ///< servers by request
};

}  // namespace reaper::faults
