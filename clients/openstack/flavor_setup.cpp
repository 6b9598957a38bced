// Nova as the FlavorSetup port.
#include <nlohmann/json.hpp>
#include <utility>

#include "clients/http/url.hpp"
#include "clients/openstack/nova_format.hpp"
#include "clients/openstack/parts.hpp"

namespace reaper::openstack {
namespace {

Error refused_by_nova(const Service& nova, const Answer& answer, const char* policy) {
    Error error = nova.refusal(answer);
    if (answer.response.status == 403)
        error.what += std::string{"; this needs Nova's policy "} + policy;
    return error;
}

ResultTask<std::string> post_flavor(std::shared_ptr<Service> nova, Flavor wanted) {
    const nlohmann::json flavor = {{"name", wanted.name},
                                   {"vcpus", wanted.vcpus},
                                   {"ram", wanted.memory_mb},
                                   {"disk", wanted.root_gb},
                                   {"swap", wanted.swap_mb},
                                   {"OS-FLV-EXT-DATA:ephemeral", wanted.ephemeral_gb},
                                   {"os-flavor-access:is_public", true}};
    ServiceCall call;
    call.method = http::Method::post;
    call.path = "/flavors";
    call.body = nlohmann::json{{"flavor", flavor}}.dump();
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status != 200)
        co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-manage:create");
    co_return read_flavor_id(answer->response.body, answer->where);
}

ResultTask<void> post_extra_specs(std::shared_ptr<Service> nova, std::string id,
                                  std::map<std::string, std::string> specs) {
    ServiceCall call;
    call.method = http::Method::post;
    call.path = "/flavors/" + http::escape(id) + "/os-extra_specs";
    call.body = nlohmann::json{{"extra_specs", specs}}.dump();
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status == 200) co_return Result<void>{};
    co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-extra-specs:create");
}

ResultTask<void> delete_flavor(std::shared_ptr<Service> nova, std::string id) {
    ServiceCall call;
    call.method = http::Method::del;
    call.path = "/flavors/" + http::escape(id);
    call.repeat = http::Repeat::safe;
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    const int status = answer->response.status;
    if (status == 202 || status == 204 || status == 404) co_return Result<void>{};
    co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-manage:delete");
}

/// Its calls keep the service: they may go on when it is destroyed.
class ServiceFlavors final : public FlavorSetup {
public:
    explicit ServiceFlavors(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::string> create_flavor(Flavor wanted) override {
        return post_flavor(service_, std::move(wanted));
    }
    ResultTask<void> set_extra_specs(std::string id,
                                     std::map<std::string, std::string> specs) override {
        return post_extra_specs(service_, std::move(id), std::move(specs));
    }
    ResultTask<void> remove_flavor(std::string id) override {
        return delete_flavor(service_, std::move(id));
    }

private:
    std::shared_ptr<Service> service_;
};

}  // namespace

std::unique_ptr<FlavorSetup> make_flavor_setup(std::shared_ptr<Service> nova) {
    return std::make_unique<ServiceFlavors>(std::move(nova));
}

}  // namespace reaper::openstack
