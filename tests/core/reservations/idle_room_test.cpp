// Where idle reserved room is looked for, and how far.
#include "reaper/reservations/idle_room.hpp"

#include <gtest/gtest.h>
#include <set>

#include "core/cloud_builder.hpp"
#include "core/reservation_builder.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper::idle_room_test {
namespace {

using namespace reaper::testing;

/// Hosts that are full, each with room that its reservation may release.
class IdleRoomTest : public ::testing::Test {
protected:
    void add(Amount idle, Amount total = 8) {
        Host made = host("h" + std::to_string(hosts_.size()), cpus(total));
        made.providers.front().used = cpus(total);
        hosts_.push_back(std::move(made));
        idle_.push_back(idle);
    }
    FoundRoom find() {
        asked_ = 0;
        std::vector<IdleRoom> rooms;
        for (std::size_t i = 0; i < hosts_.size(); ++i)
            rooms.push_back({&hosts_[i], cpus(idle_[i])});
        const IdleRoomSearch search{
            [this](const Request& request, const std::vector<Host>& hosts) {
                return decide(request, hosts);
            },
            [this](const Host& host) {
                return GivenRoom{{ReservationId{"r"}, cpus(idle_[index_of(host)])}};
            },
            [](const Host& host, const GivenRoom& given) {
                Host without = host;
                without.providers.front().used -= given.begin()->second;
                return without;
            },
            ledger_};
        return find_idle_room(wish_, std::move(rooms), search);
    }
    std::size_t index_of(const Host& host) const {
        return static_cast<std::size_t>(std::stoul(host.name.substr(1)));
    }
    /// By what is free, on hosts that will do; `per_victim` more is there for each victim.
    Decision decide(const Request& request, const std::vector<Host>& hosts) {
        asked_ += hosts.size();
        most_at_once_ = std::max(most_at_once_, hosts.size());
        NothingToDo there;
        Plan plan;
        plan.slots_requested = request.slots;
        int left = request.slots;
        for (const Host& host : hosts) {
            if (unfit_.contains(index_of(host))) continue;
            HostPlan here;
            here.host = host.id;
            const Provider& root = host.providers.front();
            const ResourceClass vcpu{"VCPU"};
            const Amount free = root.inventories.at(vcpu).capacity() - root.used.get(vcpu);
            const Amount each = request.resources.get(vcpu);
            here.slots = static_cast<int>(std::min<Amount>(left, free / each));
            if (here.slots > 0) there.hosts.push_back(here);
            left -= here.slots;
            if (here.slots == 0 && !host.servers.empty() && plan.hosts.empty()) {
                here.slots = plan.slots_freed = request.slots;
                for (const Server& server : host.servers) {
                    here.victims.emplace_back();
                    here.victims.back().server = server.id;
                }
                plan.hosts.push_back(here);
            }
        }
        if (left <= 0) return there;
        if (!plan.hosts.empty()) return plan;
        return NotEnough{};
    }
    std::vector<std::string> names(const FoundRoom& found) const {
        std::vector<std::string> names;
        for (const Host& host : found.hosts) names.push_back(host.name);
        return names;
    }
    void want(Amount vcpus, int slots = 1) { wish_.request = request(cpus(vcpus), slots); }

    std::vector<Host> hosts_;
    std::vector<Amount> idle_;
    std::set<std::size_t> unfit_;  ///< for what only the decision knows
    std::size_t asked_ = 0;
    std::size_t most_at_once_ = 0;
    Ledger ledger_;
    RoomWish wish_;
};

TEST_F(IdleRoomTest, NoNumberOfHostsThatWillNotDoHidesOneThatDoes) {
    for (int i = 0; i < 1000; ++i) {
        add(6);
        unfit_.insert(static_cast<std::size_t>(i));
    }
    add(4);
    want(4);
    EXPECT_EQ(names(find()), std::vector<std::string>{"h1000"});
    wish_.borrowed = true;
    unfit_.insert(1000);
    unfit_.erase(700);
    EXPECT_EQ(names(find()), std::vector<std::string>{"h700"});
}

TEST_F(IdleRoomTest, HostsThatCantGiveASlotCostNoDecision) {
    for (int i = 0; i < 1000; ++i) add(3);
    want(4);
    EXPECT_TRUE(find().empty());
    EXPECT_EQ(asked_, 0U);
    add(4);
    EXPECT_FALSE(find().empty());
    EXPECT_EQ(asked_, 1U);
}

TEST_F(IdleRoomTest, WhereEveryHostWillDoOnePageIsEnough) {
    for (int i = 0; i < 1000; ++i) add(4);
    want(4);
    EXPECT_FALSE(find().empty());
    EXPECT_LE(most_at_once_, 100U);
    EXPECT_LE(asked_, 100U);
}

TEST_F(IdleRoomTest, SlotsAreServedFromSeveralPages) {
    for (int i = 0; i < 300; ++i) {
        add(4);
        if (i % 50 != 0) unfit_.insert(static_cast<std::size_t>(i));
    }
    want(4, 6);
    EXPECT_EQ(find().hosts.size(), 6U);
    want(4, 9);
    EXPECT_EQ(find().hosts.size(), 6U) << "as many as there are";
}

TEST_F(IdleRoomTest, ABorrowerTakesWhereLeastIsLeftOver) {
    for (const Amount idle : {8, 5, 3, 6}) add(idle);
    want(4);
    wish_.borrowed = true;
    EXPECT_EQ(names(find()), std::vector<std::string>{"h1"});
    want(4, 3);
    EXPECT_EQ(find().hosts.size(), 3U) << "none gives all of it";
}

TEST_F(IdleRoomTest, FewAreDeletedWhereNothingFitsWithout) {
    for (int i = 0; i < 200; ++i) add(2);
    const auto put_on = [&](std::size_t at, int servers, Amount each) {
        for (int i = 0; i < servers; ++i) {
            Server server = revocable("s" + std::to_string(at) + "-" + std::to_string(i),
                                      hosts_[at].id, cpus(each), 1);
            hosts_[at].servers.push_back(std::move(server));
        }
    };
    put_on(20, 2, 1);
    put_on(150, 1, 2);
    want(4);
    EXPECT_TRUE(find().empty()) << "no server may be deleted";
    wish_.most_victims = 1;
    EXPECT_EQ(names(find()), std::vector<std::string>{"h150"});
    wish_.most_victims = 2;
    EXPECT_EQ(names(find()), std::vector<std::string>{"h20"});
    wish_.borrowed = true;
    EXPECT_TRUE(find().empty());
}

TEST_F(IdleRoomTest, AServerInDeletionBringsRoomToAllButBorrowers) {
    add(2);
    Server leaving = server("leaving", hosts_[0].id, cpus(4));
    leaving.task_state = "deleting";
    hosts_[0].servers.push_back(leaving);
    want(6);
    find();
    EXPECT_EQ(asked_, 1U);
    wish_.borrowed = true;
    find();
    EXPECT_EQ(asked_, 0U);
}

TEST(LackingRoom, RoomOfOthersVictimsIsNotReleasedForABorrower) {
    Host a = host("a", cpus(4));
    a.providers.front().used = cpus(2);  // reserved, and idle
    put(a, revocable("v", a.id, cpus(2)));
    Request other = request(cpus(2));
    other.id = RequestId{"other"};
    const auto decision = plan(other, Snapshot{at(0), {a}, {}});
    Ledger ledger;
    ledger.enter(other, std::get<Plan>(decision), at(0));
    RoomWish wish{request(cpus(1))};
    wish.borrowed = true;
    HostPlan here;
    here.host = a.id;
    here.slots = 1;
    EXPECT_EQ(lacking_on(a, here, wish, ledger), cpus(1));
    a.servers.clear();
    a.providers.front().other_consumers[ServerId{"v"}] = cpus(2);  // Nova lists it no more
    EXPECT_EQ(lacking_on(a, here, wish, ledger), cpus(1));
    a.providers.front().other_consumers.clear();  // gone, and the other has not come yet
    a.providers.front().used = cpus(2);
    EXPECT_EQ(lacking_on(a, here, wish, ledger), cpus(1));
    a.providers.front().used = cpus(4);  // another server took its room
    EXPECT_EQ(lacking_on(a, here, wish, ledger), cpus(3));
}

// ---- which hosts suit ----

TEST(SuitableHostsTest, AllButRoomIsAskedFor) {
    Snapshot cloud;
    for (const char* const name : {"full", "down", "disabled", "elsewhere", "bare", "cooling"}) {
        Host made = host(name, cpus(8));
        made.availability_zone = "a";
        made.providers.front().traits = std::set<Trait>{Trait{"CUSTOM_FAST"}};
        made.providers.front().used = cpus(8);
        cloud.hosts.push_back(std::move(made));
    }
    cloud.hosts[1].up = false;
    cloud.hosts[2].enabled = false;
    cloud.hosts[3].availability_zone = "b";
    cloud.hosts[4].providers.front().traits = std::set<Trait>{};
    const CloudIndex index{cloud};
    const Ledger ledger;
    Request wanted = request(cpus(4));
    wanted.availability_zone = "a";
    wanted.required_traits = {Trait{"CUSTOM_FAST"}};
    const auto suit = [&](const Request& asked, std::map<HostId, std::string> cooling) {
        const SuitableHosts hosts{asked, index, ledger, nullptr, std::move(cooling)};
        std::set<std::string> names;
        for (const Host& each : cloud.hosts)
            if (hosts.contains(each.id)) names.insert(each.name);
        EXPECT_FALSE(hosts.contains(HostId{"unknown"}));
        return names;
    };
    EXPECT_EQ(suit(wanted, {}), (std::set<std::string>{"full", "cooling"}));
    EXPECT_EQ(suit(wanted, {{cloud.hosts[5].id, "not taken"}}), std::set<std::string>{"full"});
    wanted.excluded_hosts[cloud.hosts[0].service_host] = "it leaves it";
    wanted.availability_zone.reset();
    EXPECT_EQ(suit(wanted, {}), (std::set<std::string>{"cooling", "elsewhere"}));
    // By its fallback it may go where it can't as it is.
    wanted.required_traits.clear();
    wanted.groups.clear();
    wanted.placement.only_hosts = {cloud.hosts[3].service_host};
    EXPECT_EQ(suit(wanted, {}), std::set<std::string>{"elsewhere"});
}

}  // namespace
}  // namespace reaper::idle_room_test
