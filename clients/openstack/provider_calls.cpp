#include "clients/openstack/provider_calls.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "clients/openstack/placement_format.hpp"
#include "clients/openstack/reading.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::openstack {
namespace {

constexpr Version any_version{};
constexpr const char* create_policy = "placement:resource_providers:create";
constexpr const char* inventories_policy = "placement:resource_providers:inventories:update";

}  // namespace

std::string provider_path(const ProviderId& provider, const char* below) {
    return "/resource_providers/" + http::escape(provider.str()) + below;
}

ResultTask<ProviderId> create_nested(std::shared_ptr<Service> placement, std::string name,
                                     ProviderId parent, std::optional<Duration> deadline) {
    const nlohmann::json wanted = {{"name", name}, {"parent_provider_uuid", parent.str()}};
    std::string path = "/resource_providers";
    std::string body = wanted.dump();
    auto answer = co_await send_to_placement(placement, http::Method::post, std::move(path),
                                             std::move(body), deadline);
    if (!answer) co_return answer.error();
    const int status = answer->response.status;
    const bool made = status == 200 || status == 201;
    const Error error =
        made ? Error{Errc::bad_answer,
                     answer->where + ": the provider that was just created is not there"}
             : refused_by_policy(*placement, *answer, create_policy);
    if (!made && status != 409) co_return error;
    // Before 1.20 the answer has no id; and the name may be taken by the one that is
    // wanted.
    std::string same = name;
    auto named = co_await providers_named(placement, std::move(same), deadline);
    if (!named && made) co_return named.error();
    if (!named) co_return error;
    for (const auto& provider : *named)
        if (provider.name == name && provider.parent == parent) co_return provider.id;
    co_return error;
}

ResultTask<std::vector<ProviderRecord>> providers_named(std::shared_ptr<Service> placement,
                                                        std::string name,
                                                        std::optional<Duration> deadline) {
    std::string path = "/resource_providers?name=" + http::escape(name);
    auto answer = co_await get(placement, std::move(path), any_version, deadline);
    co_return record_in(answer, read_providers, *placement);
}

ResultTask<ProviderInventories> read_provider_inventories(std::shared_ptr<Service> placement,
                                                          std::string path,
                                                          std::optional<Duration> deadline) {
    auto answer = co_await get(placement, std::move(path), any_version, deadline);
    auto inventories = record_in(answer, read_inventories, *placement);
    if (!inventories) co_return inventories.error();
    auto generation = read_generation(answer->response.body, answer->where);
    if (!generation) co_return generation.error();
    ProviderInventories found;
    found.inventories = std::move(*inventories);
    found.generation = *generation;
    found.where = std::move(answer->where);
    co_return found;
}

/// All inventories are written together, under the generation that they were read with.
ResultTask<TotalAnswer> change_provider_total(std::shared_ptr<Service> placement,
                                              TotalChange change, Duration deadline) {
    if (change.provider.empty() || change.resource_class.empty())
        co_return Error{Errc::bad_input, "placement: inventory without provider or class"};
    const std::string path = provider_path(change.provider, "/inventories");
    Error busy;
    for (int i = 0; i < max_collisions; ++i) {
        std::string at = path;
        auto found = co_await read_provider_inventories(placement, std::move(at), deadline);
        if (!found) co_return found.error();
        auto& inventories = found->inventories;
        const auto known = inventories.find(change.resource_class);
        TotalAnswer answer;
        if (known != inventories.end()) answer.found = known->second;
        answer.done = answer.found.total == change.to &&
                      (change.to == 0 || (answer.found.min_unit == change.min_unit &&
                                          answer.found.allocation_ratio == 1.0));
        if (answer.done || answer.found.total != change.from) co_return answer;
        if (change.to == 0) {
            inventories.erase(known);
        } else {
            Inventory& wanted = inventories[change.resource_class];
            wanted.total = change.to;
            wanted.min_unit = change.min_unit;
            wanted.allocation_ratio = 1.0;
            wanted.reserved = std::min(wanted.reserved, change.to);
        }
        std::string same = path;
        std::string body = write_inventories(inventories, found->generation);
        auto written = co_await send_to_placement(placement, http::Method::put, std::move(same),
                                                  std::move(body), deadline);
        if (!written) co_return written.error();
        if (written->response.status == 200) {
            answer.done = true;
            co_return answer;
        }
        busy = refused_by_policy(*placement, *written, inventories_policy);
        const bool again =
            written->response.status == 409 && is_concurrent_update(written->response.body);
        if (!again) co_return busy;
    }
    co_return busy;
}

Error refused_by_policy(const Service& placement, const Answer& answer, const char* policy) {
    Error error = placement.refusal(answer);
    if (answer.response.status == 403)
        error.what += std::string{"; this needs Placement's policy "} + policy;
    return error;
}

ResultTask<Answer> send_to_placement(std::shared_ptr<Service> placement, http::Method method,
                                     std::string path, std::string body,
                                     std::optional<Duration> deadline) {
    ServiceCall call;
    call.method = method;
    call.path = std::move(path);
    call.body = std::move(body);
    call.deadline = deadline;
    if (method != http::Method::post) call.repeat = http::Repeat::safe;
    co_return co_await placement->call(std::move(call));
}

}  // namespace reaper::openstack
