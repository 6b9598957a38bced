// Nova as the FlavorSetup port.
#include <nlohmann/json.hpp>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/nova_format.hpp"
#include "clients/openstack/parts.hpp"

namespace reaper::openstack {
namespace {

class FlavorCalls {
public:
    explicit FlavorCalls(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::string> create_flavor(Flavor wanted) {
        const nlohmann::json flavor = {{"name", wanted.name},
                                       {"vcpus", wanted.vcpus},
                                       {"ram", wanted.memory_mb},
                                       {"disk", wanted.root_gb},
                                       {"swap", wanted.swap_mb},
                                       {"OS-FLV-EXT-DATA:ephemeral", wanted.ephemeral_gb},
                                       {"os-flavor-access:is_public", true}};
        std::string path = "/flavors";
        std::string body = nlohmann::json{{"flavor", flavor}}.dump();
        auto answer = co_await ask(http::Method::post, std::move(path), std::move(body));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200)
            co_return refused(*answer, "os_compute_api:os-flavor-manage:create");
        co_return read_flavor_id(answer->response.body, answer->where);
    }

    ResultTask<void> set_extra_specs(std::string id, std::map<std::string, std::string> specs) {
        std::string path = "/flavors/" + http::escape(id) + "/os-extra_specs";
        std::string body = nlohmann::json{{"extra_specs", specs}}.dump();
        auto answer = co_await ask(http::Method::post, std::move(path), std::move(body));
        if (!answer) co_return answer.error();
        if (answer->response.status == 200) co_return Result<void>{};
        co_return refused(*answer, "os_compute_api:os-flavor-extra-specs:create");
    }

    ResultTask<void> remove_flavor(std::string id) {
        std::string path = "/flavors/" + http::escape(id);
        auto answer = co_await ask(http::Method::del, std::move(path));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        if (status == 202 || status == 204 || status == 404) co_return Result<void>{};
        co_return refused(*answer, "os_compute_api:os-flavor-manage:delete");
    }

private:
    Error refused(const Answer& answer, const char* policy) const {
        Error error = service_->refusal(answer);
        if (answer.response.status == 403)
            error.what += std::string{"; this needs Nova's policy "} + policy;
        return error;
    }

    ResultTask<Answer> ask(http::Method method, std::string path, std::string body = {}) {
        ServiceCall call;
        call.method = method;
        call.path = std::move(path);
        call.body = std::move(body);
        if (method != http::Method::post) call.repeat = http::Repeat::safe;
        co_return co_await service_->call(std::move(call));
    }

    std::shared_ptr<Service> service_;
};

class ServiceFlavors final : public FlavorSetup {
public:
    explicit ServiceFlavors(std::shared_ptr<Service> service)
        : calls_(std::make_shared<FlavorCalls>(std::move(service))) {}
    ResultTask<std::string> create_flavor(Flavor wanted) override {
        return http::keeping(calls_, calls_->create_flavor(std::move(wanted)));
    }
    ResultTask<void> set_extra_specs(std::string id,
                                     std::map<std::string, std::string> specs) override {
        return http::keeping(calls_, calls_->set_extra_specs(std::move(id), std::move(specs)));
    }
    ResultTask<void> remove_flavor(std::string id) override {
        return http::keeping(calls_, calls_->remove_flavor(std::move(id)));
    }

private:
    std::shared_ptr<FlavorCalls> calls_;
};

}  // namespace

std::unique_ptr<FlavorSetup> make_flavor_setup(std::shared_ptr<Service> nova) {
    return std::make_unique<ServiceFlavors>(std::move(nova));
}

}  // namespace reaper::openstack
