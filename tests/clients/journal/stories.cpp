#include "tests/clients/journal/stories.hpp"

#include <cstdlib>
#include <stdexcept>

namespace reaper::journal::test {

TimePoint noon(int seconds) {
    using namespace std::chrono;
    return TimePoint{sys_days{year{2024} / May / 1} + hours{12} + std::chrono::seconds{seconds}};
}

Request request(const std::string& id) {
    Request result;
    result.id = RequestId{id};
    result.operation = Operation::resize;
    result.project = ProjectId{"project-1"};
    result.resources = {{"VCPU", 4}, {"MEMORY_MB", 2048}, {"CUSTOM_GOLD", 1}};
    result.slots = 2;
    result.requesters = {ServerId{"waiting-1"}};
    result.availability_zone = "az1";
    result.required_traits = {Trait{"CUSTOM_FAST"}};
    result.forbidden_traits = {Trait{"CUSTOM_SLOW"}};
    result.excluded_hosts = {{"host-9", "its own host"}};
    result.sent_at = noon(-5);
    return result;
}

Plan plan(const std::string& id) {
    Victim victim;
    victim.server = ServerId{"victim-1"};
    victim.name = "batch-7";
    victim.project = ProjectId{"cheap"};
    victim.host = "host-1";
    victim.resources = {{"VCPU", 4}};
    victim.created = noon(-86'400);
    victim.reason = "its project carries the tag preemptible";
    HostPlan host;
    host.host = HostId{"provider-1"};
    host.host_name = "host-1";
    host.slots = 2;
    host.slots_ready = 1;
    host.victims = {victim};
    host.free_before = {{"VCPU", 4}};
    host.free_after = {{"VCPU", 8}};
    host.reason = "leaves the least unused";
    Plan result;
    result.request = RequestId{id};
    result.strategy = "strict";
    result.slots_requested = 2;
    result.slots_wanted = 2;
    result.slots_freed = 2;
    result.hosts = {host};
    result.rejected = {{HostId{"provider-2"}, "host-2", RejectionCode::disabled, "maintenance"}};
    result.note = "search cut short";
    return result;
}

Folder::Folder() {
    name_ = (std::filesystem::temp_directory_path() / "reaper-journal-XXXXXX").string();
    if (::mkdtemp(name_.data()) == nullptr) throw std::runtime_error("no folder for the test");
}

Folder::~Folder() {
    std::filesystem::remove_all(name_);
}

}  // namespace reaper::journal::test
