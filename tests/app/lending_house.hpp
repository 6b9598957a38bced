// A full house in which room is reserved, and lent: host1 has 4 VCPU, all of them reserved for the
// role eng; host2 is full.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/gateway_house.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"

namespace reaper::test {

class LendingHouse : public GatewayHouse {
protected:
    void SetUp() override {
        with_events = true;
        settings.gateway.listen = "127.0.0.1:8780";
        settings.cull.promise = std::chrono::seconds{30};
        settings.reservations.enabled = true;
        settings.reservations.calm = std::chrono::minutes{10};
        settings.reservations.roles = {{Role::parse("eng").value(), {"eng"}}};
        reserve("host1", 4);
        cloud.add_host("host1", small * 2);
        cloud.add_host("host2", small);
        cloud.add_server("regular", "host2", "regular", small);
    }
    void reserve(const std::string& host, int vcpus, bool lend = true) {
        config::StaticReservation reserved;
        reserved.role = Role::parse("eng").value();
        reserved.hosts = {host};
        reserved.resources =
            Resources{{"VCPU", vcpus}, {"MEMORY_MB", vcpus * 1024}, {"DISK_GB", vcpus * 10}};
        reserved.lending.lend = lend;
        settings.reservations.static_ones = {reserved};
    }
    void start_and_hold(const std::string& host = "host1") {
        start();
        run_until([&] { return cloud.free_on(host).get(ResourceClass{"VCPU"}) <= 0; });
    }
    ReservationView only() {
        const auto views = service().reservations()->list();
        EXPECT_THAT(views, ::testing::SizeIs(1));
        return views.empty() ? ReservationView{} : views.front();
    }
    void tell_of(const std::string& id) {
        const ServerRecord& record = cloud.server_at(id).record;
        events->tell(ServerSeen{record, record.server.host.str(), clock.now()});
    }
    void tell_gone(const std::string& id, const std::string& host = "host1") {
        events->tell(ServerGone{ServerId{id}, host, clock.now()});
    }
    /// A server boots where it claimed room, and Nova tells so.
    void comes(const std::string& name, const std::string& project,
               const std::string& host = "host1") {
        ServerRecord record = cloud.server_at(uuid_of(name)).record;
        cloud.remove(uuid_of(name));
        auto& server = cloud.add_server(uuid_of(name), host, project, small);
        server.record.server.created = clock.now();
        server.record.flavor = record.flavor;
        tell_of(uuid_of(name));
    }
    /// It borrows, claims the host that it was given, and is there.
    void borrow(const std::string& name, const std::string& request,
                const std::string& host = "host1") {
        const ServerId server = booting(name, "spot");
        ASSERT_THAT(search_for(request), ::testing::ElementsAre("rp-" + host));
        ASSERT_EQ(claimed(claim(request, server, "rp-" + host)), 204);
        comes(name, "spot", host);
        pass(std::chrono::seconds{15});
    }
    /// A host of 6 VCPU, all of them reserved; the others are full.
    void start_on_host3() {
        cloud.add_host("host3", small * 3);
        cloud.add_server("at-host1", "host1", "regular", small * 2);
        reserve("host3", 6);
        start_and_hold("host3");
    }
    /// The result of an order, or why it is refused.
    std::string given(ReservationOrder order) {
        std::optional<Result<OrderState>> done;
        std::vector<ReservationOrder> orders{std::move(order)};
        boost::asio::co_spawn(io(), service().reservations()->give("", "ops", std::move(orders)),
                              [&](std::exception_ptr error, Result<OrderState> state) {
                                  if (error) std::rethrow_exception(error);
                                  done = std::move(state);
                              });
        run_until([&] { return done.has_value(); });
        return *done ? std::string{to_string((**done).kind)} : done->error().what;
    }
    Amount held() { return only().balance.held.get(ResourceClass{"VCPU"}); }
    Amount lent() { return only().balance.lent.get(ResourceClass{"VCPU"}); }
};

}  // namespace reaper::test
