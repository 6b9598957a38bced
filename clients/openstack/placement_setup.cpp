// Placement as the port of `reaper setup`.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "clients/http/url.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/placement_format.hpp"
#include "clients/openstack/provider_calls.hpp"
#include "clients/openstack/reading.hpp"

namespace reaper::openstack {

namespace {

std::string class_path(const ResourceClass& name) {
    return "/resource_classes/" + http::escape(name.str());
}

ResultTask<bool> is_class_there(std::shared_ptr<Service> placement, ResourceClass name) {
    std::string path = class_path(name);
    auto answer = co_await get(placement, std::move(path));
    if (!answer) co_return answer.error();
    if (answer->response.status == 200) co_return true;
    if (answer->response.status == 404) co_return false;
    co_return refused_by_policy(*placement, *answer, "placement:resource_classes:show");
}

/// Sends what succeeds with either status.
ResultTask<void> change(std::shared_ptr<Service> placement, http::Method method, std::string path,
                        std::pair<int, int> good, const char* policy) {
    std::string no_body;
    auto answer =
        co_await send_to_placement(placement, method, std::move(path), std::move(no_body));
    if (!answer) co_return answer.error();
    const int status = answer->response.status;
    if (status == good.first || status == good.second) co_return Result<void>{};
    co_return refused_by_policy(*placement, *answer, policy);
}

ResultTask<void> create_root_provider(std::shared_ptr<Service> placement, std::string name,
                                      ProviderId id) {
    const nlohmann::json wanted = {{"name", name}, {"uuid", id.str()}};
    std::string path = "/resource_providers";
    std::string body = wanted.dump();
    auto answer =
        co_await send_to_placement(placement, http::Method::post, std::move(path), std::move(body));
    if (!answer) co_return answer.error();
    const int status = answer->response.status;
    if (status == 200 || status == 201) co_return Result<void>{};
    const Error error =
        refused_by_policy(*placement, *answer, "placement:resource_providers:create");
    if (status != 409) co_return error;
    // Is it there already, or another one?
    auto named = co_await providers_named(placement, std::move(name));
    if (!named) co_return named.error();
    for (const auto& provider : *named)
        if (provider.id == id) co_return Result<void>{};
    co_return error;
}

ResultTask<void> write_total(std::shared_ptr<Service> placement, ProviderId provider,
                             ResourceClass name, Amount total) {
    const std::string path = provider_path(provider, "/inventories");
    Error busy;
    for (int i = 0; i < max_collisions; ++i) {
        std::string at = path;
        auto found = co_await read_provider_inventories(placement, std::move(at));
        if (!found) co_return found.error();
        Inventory& wanted = found->inventories[name];
        if (wanted.total == total) co_return Result<void>{};
        wanted.total = total;
        wanted.reserved = std::min(wanted.reserved, total);
        std::string same = path;
        std::string body = write_inventories(found->inventories, found->generation);
        auto written = co_await send_to_placement(placement, http::Method::put, std::move(same),
                                                  std::move(body));
        if (!written) co_return written.error();
        if (written->response.status == 200) co_return Result<void>{};
        busy = refused_by_policy(*placement, *written,
                                 "placement:resource_providers:inventories:update");
        const bool again =
            written->response.status == 409 && is_concurrent_update(written->response.body);
        if (!again) co_return busy;
    }
    co_return busy;
}

/// Its calls keep the service: they may go on when it is destroyed.
class ServiceSetup final : public PlacementSetup {
public:
    explicit ServiceSetup(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<bool> has_class(ResourceClass name) override {
        return is_class_there(service_, std::move(name));
    }
    ResultTask<void> create_class(ResourceClass name) override {
        return change(service_, http::Method::put, class_path(name), {201, 204},
                      "placement:resource_classes:update");
    }
    ResultTask<void> remove_class(ResourceClass name) override {
        return change(service_, http::Method::del, class_path(name), {204, 404},
                      "placement:resource_classes:delete");
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent) override {
        return create_nested(service_, std::move(name), std::move(parent), std::nullopt);
    }
    ResultTask<void> create_root(std::string name, ProviderId id) override {
        return create_root_provider(service_, std::move(name), std::move(id));
    }
    ResultTask<void> remove_provider(ProviderId provider) override {
        return change(service_, http::Method::del, provider_path(provider), {204, 404},
                      "placement:resource_providers:delete");
    }
    ResultTask<void> set_total(ProviderId provider, ResourceClass name, Amount total) override {
        return write_total(service_, std::move(provider), std::move(name), total);
    }

private:
    std::shared_ptr<Service> service_;
};

}  // namespace

std::unique_ptr<PlacementSetup> make_placement_setup(std::shared_ptr<Service> placement) {
    return std::make_unique<ServiceSetup>(std::move(placement));
}

}  // namespace reaper::openstack
