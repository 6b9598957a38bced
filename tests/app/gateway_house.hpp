// A full house whose nova-scheduler asks through the gateway.
#pragma once

#include <gtest/gtest.h>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/full_house.hpp"
#include "fakes/fake_search.hpp"

namespace reaper::test {

inline const std::string two_cpus =
    "/placement/allocation_candidates?limit=1000&"
    "resources=DISK_GB%3A20%2CMEMORY_MB%3A2048%2CVCPU%3A2&"
    "root_required=%21COMPUTE_STATUS_DISABLED";

class GatewayHouse : public FullHouse {
protected:
    /// A server that nova-scheduler looks for a host for.
    ServerId booting(const std::string& id, const std::string& project = "regular",
                     const std::string& reservation = "", int vcpus = 2) {
        requester(id, project, vcpus);
        ServerRecord& record = cloud.server_at(uuid_of(id)).record;
        record.server.name = id;
        record.server.status = "BUILD";
        record.server.task_state = "scheduling";
        record.fault.reset();
        record.reservation = reservation.empty() ? "r-" + id : reservation;
        return record.server.id;
    }
    FakeSearch& search(const std::string& request, const std::string& target = two_cpus) {
        FakeSearch& made = searches_.emplace_back(cloud);
        made.begin(io(), service().gateway(),
                   HttpRequest{"GET", target, {{"x-openstack-request-id", request}}});
        return made;
    }
    /// The claim of a server on a host. It tells the server's project, as Nova's does.
    FakeSearch& claim(const std::string& request, const ServerId& server,
                      const std::string& provider, int vcpus = 2) {
        const nlohmann::json amounts = {
            {"VCPU", vcpus}, {"MEMORY_MB", vcpus * 1024}, {"DISK_GB", vcpus * 10}};
        const nlohmann::json body = {
            {"allocations", {{provider, {{"resources", amounts}}}}},
            {"project_id", cloud.server_at(server.str()).record.server.project.str()}};
        return of_server("PUT", request, server, body.dump());
    }
    /// nova-scheduler takes a claim back.
    FakeSearch& take_back(const std::string& request, const ServerId& server) {
        return of_server("DELETE", request, server, {});
    }
    FakeSearch& of_server(const std::string& method, const std::string& request,
                          const ServerId& server, const std::string& body) {
        HttpRequest made_of{
            method, "/allocations/" + server.str(), {{"X-Openstack-Request-Id", request}}, body};
        FakeSearch& made = searches_.emplace_back(cloud);
        EXPECT_TRUE(service().gateway()->wants(made_of.method, made_of.target));
        made.begin(io(), service().gateway(), std::move(made_of));
        return made;
    }
    int claimed(FakeSearch& made) {
        run_until([&] { return made.done(); });
        return made.answered;
    }
    /// Its hosts, when it has its answer.
    std::vector<std::string> found(FakeSearch& made) {
        run_until([&] { return made.done(); });
        std::vector<std::string> hosts;
        const nlohmann::json answer = nlohmann::json::parse(made.body.value_or("{}"));
        for (const auto& way : answer.value("allocation_requests", nlohmann::json::array()))
            for (const auto& [provider, amounts] : way["allocations"].items())
                hosts.push_back(provider);
        for (const auto& host : hosts)
            EXPECT_TRUE(answer["provider_summaries"].contains(host)) << answer.dump();
        EXPECT_EQ(answer.value("provider_summaries", nlohmann::json::object()).size(),
                  hosts.size());
        return hosts;
    }
    std::vector<std::string> search_for(const std::string& request,
                                        const std::string& target = two_cpus) {
        return found(search(request, target));
    }

private:
    std::list<FakeSearch> searches_;
};

}  // namespace reaper::test
