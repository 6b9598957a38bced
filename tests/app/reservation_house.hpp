// A reservation controller over a small cloud: host1 and host2 of 16 VCPU each; projects `web` of
// role eng, `db` of eng/db, and `spot`, whose servers are revocable.
#pragma once

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "fakes/fake_journal.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::reservation_house {

inline const ResourceClass vcpu{"VCPU"};

inline Resources cpus(Amount amount) {
    Resources resources;
    resources.set(vcpu, amount);
    return resources;
}

inline Role role(const std::string& path) {
    return Role::parse(path).value();
}

class ReservationHouse : public ::testing::Test {
protected:
    ReservationHouse() {
        settings.enabled = true;
        settings.roles = {{role("eng"), {"web"}}, {role("eng/db"), {"db"}}};
        cache_settings.events = false;
        cloud.add_host("host1", cpus(16));
        cloud.add_host("host2", cpus(16));
        begin();
    }

    /// A process begins, and knows nothing but what Placement has.
    void begin() {
        controller.reset();
        refresher.reset();
        config::Policy written;
        written.taggers.push_back({"project", {}});
        written.strategy.name = "strict";
        policy = compile_policy(written).value();
        refresher = std::make_unique<CacheRefresher>(io.get_executor(), cloud.ports(),
                                                     cache_settings, policy, [] {});
        ReservationController::Dependencies dependencies{
            cloud.ports(),
            *refresher,
            rooms,
            journal,
            settings,
            promise,
            [this] { return serving; },
            [this] { return journal_is_ours; },
            [this](const EndedLoan& loan) { ended.push_back(loan); },
            [this](std::set<ProviderId> providers) { return turn_for(std::move(providers)); },
            stopping};
        controller =
            std::make_unique<ReservationController>(io.get_executor(), std::move(dependencies));
        step();
    }
    Task<std::unique_ptr<Turn<ProviderId>>> turn_for(std::set<ProviderId> providers) {
        co_return std::make_unique<Turn<ProviderId>>(in_turn, std::move(providers));
    }
    /// Some steps, with the cloud read before each.
    void step(int times = 3) {
        for (int i = 0; i < times; ++i) {
            clock.advance(std::chrono::minutes{2});
            EXPECT_TRUE(run_task(io, refresher->rebuild_unless_recent()));
            const auto checked = run_task(io, controller->check());
            last_error = checked ? "" : checked.error().what;
        }
    }
    ReserveOrder reserving(const std::string& path, Amount amount,
                           const std::string& host = "host1") {
        ReserveOrder order;
        order.host = HostId{cloud.provider_of(host)};
        order.name.role = role(path);
        order.resources = cpus(amount);
        order.principal = "ops";
        return order;
    }
    UnreserveOrder unreserving(const std::string& path, Amount amount) {
        UnreserveOrder order;
        order.host = HostId{cloud.provider_of("host1")};
        order.name.role = role(path);
        order.resources = cpus(amount);
        return order;
    }
    /// The code of the refusal; none if it was done.
    std::optional<Errc> give(std::vector<ReservationOrder> orders, const std::string& key = {},
                             const std::string& principal = "ops") {
        auto done = run_task(io, controller->give(key, principal, std::move(orders)));
        why = done ? "" : done.error().what;
        return done ? std::nullopt : std::optional{done.error().code};
    }
    /// The result of the orders, or why they are refused.
    std::string given(std::vector<ReservationOrder> orders, const std::string& key = {},
                      const std::string& principal = "ops") {
        auto done = run_task(io, controller->give(key, principal, std::move(orders)));
        return done ? std::string{to_string(done->kind)} : done.error().what;
    }
    /// Of that kind, oldest first.
    std::vector<std::string> events(const std::string& kind) const {
        std::vector<std::string> told;
        for (const JournalEvent& each : journal.noted_marks)
            if (each.kind == kind) told.push_back(each.reason);
        return told;
    }
    static ReserveOrder lending(ReserveOrder order) {
        order.lending = LendingPolicy{true, {}, {}};
        return order;
    }
    RequestSource source = RequestSource::nova_failure;  ///< of the requests below
    Request request_of(const std::string& project, Amount vcpus) const {
        Request wanted;
        wanted.id = RequestId{"req-1"};
        wanted.source = source;
        wanted.project = ProjectId{project};
        wanted.resources = cpus(vcpus);
        wanted.slots = 1;
        return wanted;
    }
    ReservationController::Search search() {
        ReservationController::Search search;
        search.decide = [this](const Request& asked, const std::vector<Host>& hosts) {
            CloudView view;
            view.snapshot.taken_at = clock.now();
            view.snapshot.hosts = hosts;
            view.tag_data = refresher->cache().tag_data();
            return decide(*policy, asked, view, rooms.ledger());
        };
        search.shares = [this] { return shares; };
        return search;
    }
    /// To a revocable server that finds no host.
    bool lend(const std::string& project, Amount vcpus,
              const std::optional<std::string>& zone = std::nullopt) {
        Request wanted = request_of(project, vcpus);
        wanted.borrows = true;
        wanted.availability_zone = zone;
        rooms.admits(wanted);
        return !run_task(io, controller->lend_to(wanted, search())).by.empty();
    }
    /// For a request of the project that finds no host.
    bool release(const std::string& project, Amount vcpus,
                 const std::optional<std::string>& zone = std::nullopt) {
        Request wanted = request_of(project, vcpus);
        wanted.availability_zone = zone;
        wanted.role = run_task(io, controller->role_of(wanted.project));
        rooms.admits(wanted);
        return !run_task(io, controller->release_for(wanted, search(), 0)).by.empty();
    }
    /// What all reservations hold on the host in Placement.
    Amount held(const std::string& host = "host1") {
        Amount sum = 0;
        for (const auto& [id, consumer] : cloud.consumers)
            if (const auto at = consumer.holds.find(HostId{cloud.provider_of(host)});
                at != consumer.holds.end())
                sum += at->second.get(vcpu);
        return sum;
    }
    ReservationView only() {
        const auto views = controller->list();
        EXPECT_EQ(views.size(), 1U);
        return views.empty() ? ReservationView{} : views.front();
    }

    std::optional<std::map<ProjectId, Amount>> shares;  ///< none: loans don't go by them
    FakeClock clock;
    FakeCloud cloud{clock};
    FakeJournal journal;
    boost::asio::io_context io{1};
    config::Reservations settings;
    Duration promise = std::chrono::minutes{20};
    config::Cache cache_settings;
    RoomKeeper rooms;
    std::uint64_t serving = 1;
    bool journal_is_ours = true;
    std::vector<EndedLoan> ended;
    std::set<ProviderId> in_turn;  ///< whose room is being taken
    bool stopping = false;
    std::shared_ptr<const CompiledPolicy> policy;
    std::unique_ptr<CacheRefresher> refresher;
    std::unique_ptr<ReservationController> controller;
    std::string why;
    std::string last_error;
};

}  // namespace reaper::test::reservation_house
