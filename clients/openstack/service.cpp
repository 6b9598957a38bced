#include "clients/openstack/service.hpp"

#include <algorithm>
#include <utility>

#include "clients/openstack/reading.hpp"

namespace reaper::openstack {

namespace {

bool is_version_segment(std::string_view segment) {
    if (segment.size() < 2 || segment[0] != 'v') return false;
    return segment.find_first_not_of("0123456789.", 1) == std::string_view::npos;
}

}  // namespace

std::string version_root(const std::string& endpoint) {
    const std::size_t host = endpoint.find("://");
    std::size_t slash = endpoint.find('/', host == std::string::npos ? 0 : host + 3);
    while (slash != std::string::npos) {
        const std::size_t next = endpoint.find('/', slash + 1);
        const std::size_t length = (next == std::string::npos ? endpoint.size() : next) - slash - 1;
        if (is_version_segment(std::string_view(endpoint).substr(slash + 1, length)))
            return endpoint.substr(0, slash + 1 + length) + '/';
        slash = next;
    }
    return endpoint + '/';
}

Service::Service(std::shared_ptr<Session> session, CloudService which, Need need)
    : session_(std::move(session)), which_(which), need_(need) {}

ResultTask<Service::Agreed> Service::agreed() {
    auto url = co_await session_->url_of(which_);
    if (!url) co_return url.error();
    if (agreed_ && agreed_->url == *url) co_return *agreed_;
    ServiceCall ask;
    std::string root = version_root(*url);
    auto answer = co_await session_->call_at(which_, std::move(root), std::move(ask));
    auto offered = record_in(answer, read_versions, *this);
    if (!offered) co_return offered.error();
    auto version = agree(need_, *offered, project_name(which_), *url);
    if (!version) co_return version.error();
    Agreed found;
    found.url = std::move(*url);
    found.version = *version;
    found.newest = offered->newest;
    agreed_ = found;
    co_return found;
}

ResultTask<Answer> Service::call(ServiceCall call, Version at_most) {
    auto with = co_await agreed();
    if (!with) co_return with.error();
    const Version version = std::max(with->version, std::min(with->newest, at_most));
    std::string url = with->url;
    co_return co_await send(std::move(call), std::move(url), version);
}

ResultTask<Answer> Service::call_with(ServiceCall call, Version version) {
    auto with = co_await agreed();
    if (!with) co_return with.error();
    std::string url = with->url;
    co_return co_await send(std::move(call), std::move(url), version);
}

ResultTask<Answer> Service::send(ServiceCall call, std::string url, Version version) {
    call.headers.push_back(
        {"OpenStack-API-Version", std::string(to_string(which_)) + ' ' + to_string(version)});
    auto answer = co_await session_->call_at(which_, std::move(url), std::move(call));
    // The service was replaced by another release: the next call agrees again.
    if (answer && answer->response.status == 406) agreed_.reset();
    co_return answer;
}

ResultTask<EndpointInfo> Service::info() {
    agreed_.reset();
    auto found = co_await agreed();
    if (!found) co_return found.error();
    EndpointInfo info;
    info.url = found->url;
    info.version = to_string(found->version);
    info.service_version = to_string(found->newest);
    co_return info;
}

ResultTask<Version> Service::speaks() {
    auto found = co_await agreed();
    if (!found) co_return found.error();
    co_return found->version;
}

ResultTask<Version> Service::newest() {
    agreed_.reset();
    auto found = co_await agreed();
    if (!found) co_return found.error();
    co_return found->newest;
}

ResultTask<Answer> get(std::shared_ptr<Service> service, std::string path, Version at_most,
                       std::optional<Duration> deadline) {
    ServiceCall call;
    call.path = std::move(path);
    call.deadline = deadline;
    co_return co_await service->call(std::move(call), at_most);
}

}  // namespace reaper::openstack
