#include "clients/openstack/reading.hpp"

namespace reaper::openstack {

ResultTask<Answer> get(std::shared_ptr<Service> service, std::string path, Version at_most,
                       std::optional<Duration> deadline) {
    ServiceCall call;
    call.path = std::move(path);
    call.deadline = deadline;
    co_return co_await service->call(std::move(call), at_most);
}

ResultTask<Answer> get(std::shared_ptr<Session> keystone, std::string path) {
    ServiceCall call;
    call.path = std::move(path);
    co_return co_await keystone->call(CloudService::identity, std::move(call));
}

}  // namespace reaper::openstack
