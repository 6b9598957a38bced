// Placement as the port of `reaper setup`.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/placement_format.hpp"
#include "clients/openstack/provider_calls.hpp"

namespace reaper::openstack {

namespace {

class SetupCalls {
public:
    explicit SetupCalls(std::shared_ptr<Service> service)
        : service_(std::move(service)), providers_(service_) {}

    ResultTask<bool> has_class(ResourceClass name) {
        std::string path = class_path(name);
        auto answer = co_await send(http::Method::get, std::move(path));
        if (!answer) co_return answer.error();
        if (answer->response.status == 200) co_return true;
        if (answer->response.status == 404) co_return false;
        co_return refused(*answer, "placement:resource_classes:show");
    }

    ResultTask<void> create_class(ResourceClass name) {
        std::string path = class_path(name);
        auto answer = co_await send(http::Method::put, std::move(path));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        if (status == 201 || status == 204) co_return Result<void>{};
        co_return refused(*answer, "placement:resource_classes:update");
    }

    ResultTask<void> remove_class(ResourceClass name) {
        std::string path = class_path(name);
        auto answer = co_await send(http::Method::del, std::move(path));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        if (status == 204 || status == 404) co_return Result<void>{};
        co_return refused(*answer, "placement:resource_classes:delete");
    }

    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent) {
        return providers_.create_nested(std::move(name), std::move(parent), std::nullopt);
    }

    ResultTask<void> create_root(std::string name, ProviderId id) {
        const nlohmann::json wanted = {{"name", name}, {"uuid", id.str()}};
        std::string path = "/resource_providers";
        std::string body = wanted.dump();
        auto answer = co_await send(http::Method::post, std::move(path), std::move(body));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        if (status == 200 || status == 201) co_return Result<void>{};
        const Error error = refused(*answer, "placement:resource_providers:create");
        if (status != 409) co_return error;
        // Is it there already, or another one?
        auto named = co_await providers_.providers_named(std::move(name));
        if (!named) co_return named.error();
        for (const auto& provider : *named)
            if (provider.id == id) co_return Result<void>{};
        co_return error;
    }

    ResultTask<void> remove_provider(ProviderId provider) {
        std::string path = "/resource_providers/" + http::escape(provider.str());
        auto answer = co_await send(http::Method::del, std::move(path));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        if (status == 204 || status == 404) co_return Result<void>{};
        co_return refused(*answer, "placement:resource_providers:delete");
    }

    ResultTask<void> set_total(ProviderId provider, ResourceClass name, Amount total) {
        const std::string path =
            "/resource_providers/" + http::escape(provider.str()) + "/inventories";
        Error busy;
        for (int i = 0; i < max_collisions; ++i) {
            std::string at = path;
            auto found = co_await send(http::Method::get, std::move(at));
            if (!found) co_return found.error();
            if (found->response.status != 200) co_return service_->refusal(*found);
            auto inventories = read_inventories(found->response.body, found->where);
            if (!inventories) co_return inventories.error();
            auto generation = read_generation(found->response.body, found->where);
            if (!generation) co_return generation.error();
            Inventory& wanted = (*inventories)[name];
            if (wanted.total == total) co_return Result<void>{};
            wanted.total = total;
            wanted.reserved = std::min(wanted.reserved, total);
            std::string same = path;
            std::string body = write_inventories(*inventories, *generation);
            auto written = co_await send(http::Method::put, std::move(same), std::move(body));
            if (!written) co_return written.error();
            if (written->response.status == 200) co_return Result<void>{};
            busy = refused(*written, "placement:resource_providers:inventories:update");
            const bool again =
                written->response.status == 409 && is_concurrent_update(written->response.body);
            if (!again) co_return busy;
        }
        co_return busy;
    }

private:
    /// Of a change that meets others' changes of the same provider.
    static constexpr int max_collisions = 5;

    static std::string class_path(const ResourceClass& name) {
        return "/resource_classes/" + http::escape(name.str());
    }

    Error refused(const Answer& answer, const char* policy) const {
        return providers_.refused(answer, policy);
    }

    ResultTask<Answer> send(http::Method method, std::string path, std::string body = {}) {
        ServiceCall call;
        call.method = method;
        call.path = std::move(path);
        call.body = std::move(body);
        // Of all but the creation, a second one finds done what the first one did.
        if (method != http::Method::post) call.repeat = http::Repeat::safe;
        co_return co_await service_->call(std::move(call));
    }

    std::shared_ptr<Service> service_;
    ProviderCalls providers_;
};

class ServiceSetup final : public PlacementSetup {
public:
    explicit ServiceSetup(std::shared_ptr<Service> service)
        : calls_(std::make_shared<SetupCalls>(std::move(service))) {}
    ResultTask<bool> has_class(ResourceClass name) override {
        return http::keeping(calls_, calls_->has_class(std::move(name)));
    }
    ResultTask<void> create_class(ResourceClass name) override {
        return http::keeping(calls_, calls_->create_class(std::move(name)));
    }
    ResultTask<void> remove_class(ResourceClass name) override {
        return http::keeping(calls_, calls_->remove_class(std::move(name)));
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent) override {
        return http::keeping(calls_, calls_->create_provider(std::move(name), std::move(parent)));
    }
    ResultTask<void> create_root(std::string name, ProviderId id) override {
        return http::keeping(calls_, calls_->create_root(std::move(name), std::move(id)));
    }
    ResultTask<void> remove_provider(ProviderId provider) override {
        return http::keeping(calls_, calls_->remove_provider(std::move(provider)));
    }
    ResultTask<void> set_total(ProviderId provider, ResourceClass name, Amount total) override {
        return http::keeping(calls_,
                             calls_->set_total(std::move(provider), std::move(name), total));
    }

private:
    std::shared_ptr<SetupCalls> calls_;
};

}  // namespace

std::unique_ptr<PlacementSetup> make_placement_setup(std::shared_ptr<Service> placement) {
    return std::make_unique<ServiceSetup>(std::move(placement));
}

}  // namespace reaper::openstack
