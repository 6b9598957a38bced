// A reaper under test, with hosts full of revocable servers and a requester that needs room.
#pragma once

#include <string>

#include "app/reaper_under_test.hpp"

namespace reaper::test {

inline const Resources small{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

class FullHouse : public ReaperUnderTest {
protected:
    /// One host of 8 VCPU, full of four revocable servers of 2.
    void full_host(const std::string& name = "host1") {
        cloud.add_host(name, small * 4);
        for (const char* n : {"a", "b", "c", "d"}) cloud.add_server(name + n, name, "spot", small);
    }
    void requester(const std::string& id = "requester-1", const std::string& project = "regular",
                   int vcpus = 2) {
        cloud.add_requester(uuid_of(id), project, flavor_of(vcpus));
    }
    static Flavor flavor_of(int vcpus) {
        return Flavor{"flavor", vcpus, vcpus * 1024, vcpus * 10, 0, 0, {}};
    }
    /// Of requester-1, which is so large.
    NovaFailure failure(int vcpus = 2) {
        const std::string id = uuid_of("requester-1");
        if (cloud.exists(id)) cloud.server_at(id).record.flavor = flavor_of(vcpus);
        NovaFailure one;
        one.vcpus = vcpus;
        one.memory_mb = vcpus * 1024;
        one.root_gb = vcpus * 10;
        return one;
    }
    /// The reaper starts, and requester-1 finds no host.
    void ask() {
        requester();
        start();
        messages->deliver(body_of(failure()));
    }
    /// A failure of another server in another request.
    NovaFailure another(const std::string& request, const std::string& server) {
        NovaFailure one = failure();
        one.request_id = request;
        one.server = one.spec_server = server;
        return one;
    }
    /// The server got room, as Nova would show it.
    void boots(const std::string& id, const std::string& host,
               const std::string& project = "regular") {
        cloud.remove(id);
        auto& server = cloud.add_server(id, host, project, small);
        server.record.server.created = clock.now();
    }
    /// Lets it happen right before this call to the cloud is answered, once.
    void before(const std::string& call_prefix, std::function<void()> happen) {
        cloud.on_call = [this, call_prefix,
                         happen](const std::string& call) -> std::optional<Error> {
            if (!call.starts_with(call_prefix)) return std::nullopt;
            const auto doing = happen;
            cloud.on_call = {};  // ends the life of this lambda's captures
            doing();
            return std::nullopt;
        };
    }
    const RequestRecord& record(const std::string& request) {
        return journal.records.at(RequestId{request});
    }
};

}  // namespace reaper::test
