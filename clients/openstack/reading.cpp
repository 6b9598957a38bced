#include "clients/openstack/reading.hpp"

#include "reaper/ports/url.hpp"

namespace reaper::openstack {

nlohmann::json parse_json(std::string_view body) {
    nlohmann::json document = nlohmann::json::parse(body, nullptr, false);
    if (document.is_discarded())
        throw WrongJson{"not JSON: \"" + http::one_line(body.substr(0, 200), 80) + '"'};
    return document;
}

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
