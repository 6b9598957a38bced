// What messages that Nova did not send are tested with.
#pragma once

#include <gmock/gmock.h>
#include <string>

#include "app/full_house.hpp"

namespace reaper::test {

class ForgedMessages : public FullHouse {
protected:
    /// A regular server that runs on host0.
    void running(const std::string& name) {
        cloud.add_host("host0", small * 4);
        cloud.add_server(uuid_of(name), "host0", "regular", small).record.flavor =
            Flavor{"flavor", 2, 2048, 20, 0, 0, {}};
    }
    NovaFailure move_of(const std::string& server, const std::string& request = "req-1") {
        NovaFailure one = another(request, server);
        one.event = "compute_task.migrate_server.error";
        return one;
    }
    /// As large as a host.
    static NovaFailure large(NovaFailure one) {
        one.vcpus = 8;
        one.memory_mb = 8192;
        one.root_gb = 80;
        return one;
    }
    /// Nova knows that the server's resize failed.
    void resize_failed(const std::string& request) {
        cloud.note_failed(request, "resize");
        cloud.flavors["f"] = Flavor{"flavor", 4, 2048, 20, 0, 0, {}};
    }
    const Outcome& expect_unconfirmed(const std::string& request, const std::string& why) {
        const Outcome& outcome = outcome_of(request);
        EXPECT_EQ(outcome.kind, OutcomeKind::refused);
        EXPECT_EQ(outcome.safeguard, "unconfirmed");
        EXPECT_THAT(outcome.reason, ::testing::HasSubstr(why));
        EXPECT_EQ(cloud.count("DELETE"), 0U);
        return outcome;
    }
};

}  // namespace reaper::test
