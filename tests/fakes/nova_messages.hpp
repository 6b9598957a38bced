// Nova's failure notifications, in the exact shape of the recorded ones, with chosen contents.
#pragma once

#include <string>

namespace reaper::test {

struct NovaFailure {
    std::string event = "compute_task.build_instances.error";
    std::string request_id = "req-1";
    std::string server = "requester-1";  ///< a name; the message has its UUID
    std::string spec_server = "requester-1";
    std::string project = "regular";
    int num_instances = 1;
    int vcpus = 2;
    int memory_mb = 2048;
    int root_gb = 20;
    std::string flavor_id = "f";
    std::string exception = "NoValidHost_Remote";
    std::string line = "No valid host was found. ";  ///< the first of what the exception says
    std::string timestamp = "2026-11-20 00:00:00.000000";
    std::string availability_zone;  ///< empty: null
    std::string global_id;          ///< as above
};

/// A UUID for a name: the same one for the same name. Servers in messages have one.
std::string uuid_of(const std::string& name);

/// The body as on the wire, envelope included.
std::string body_of(const NovaFailure& failure);

}  // namespace reaper::test
