// Placement as the Placement port.

#include "reaper/ports/placement.hpp"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/openstack/parts.hpp"
#include "clients/openstack/placement_format.hpp"
#include "clients/openstack/reading.hpp"
#include "clients/openstack/service.hpp"
#include "reaper/json/json_holdings.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::openstack {
namespace {

// Placement's providers and what they have in all: the calls that change them.

/// A change that meets others' changes of the same provider is tried so often.
constexpr int max_collisions = 5;

/// A provider's inventories, and the generation that a change of them must name.
struct ProviderInventories {
    std::map<ResourceClass, Inventory> inventories;
    std::int64_t generation = 0;
    std::string where;  ///< the call that reported them
};

constexpr Version any_version{};
constexpr const char* create_policy = "placement:resource_providers:create";
constexpr const char* inventories_policy = "placement:resource_providers:inventories:update";

/// `/resource_providers/ID`, and below it.
std::string provider_path(const ProviderId& provider, const char* below = "") {
    return "/resource_providers/" + http::escape(provider.str()) + below;
}

/// An error that names the policy which a refused call needs.
Error refused_by_policy(const Service& placement, const Answer& answer, const char* policy) {
    Error error = placement.refusal(answer);
    if (answer.response.status == 403)
        error.what += std::string{"; this needs Placement's policy "} + policy;
    return error;
}

/// Repeated as often as any call, but for a POST: of all others, a second one finds done what the
/// first one did.
ResultTask<Answer> send_to_placement(std::shared_ptr<Service> placement, http::Method method,
                                     std::string path, std::string body,
                                     std::optional<Duration> deadline = std::nullopt) {
    ServiceCall call;
    call.method = method;
    call.path = std::move(path);
    call.body = std::move(body);
    call.deadline = deadline;
    if (method != http::Method::post) call.repeat = http::Repeat::safe;
    co_return co_await placement->call(std::move(call));
}

ResultTask<ProviderInventories> read_provider_inventories(
    std::shared_ptr<Service> placement, std::string path,
    std::optional<Duration> deadline = std::nullopt) {
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

ResultTask<std::vector<ProviderRecord>> providers_named(
    std::shared_ptr<Service> placement, std::string name,
    std::optional<Duration> deadline = std::nullopt) {
    std::string path = "/resource_providers?name=" + http::escape(name);
    auto answer = co_await get(placement, std::move(path), any_version, deadline);
    co_return record_in(answer, read_providers, *placement);
}

/// A nested provider, or the one of that name below that parent that there is.
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

/// As Placement::change_total.
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
            inventories[change.resource_class] = inventory_after(change, answer.found);
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

constexpr const char* write_right =
    "; the reaper holds freed room with Placement's policy "
    "placement:resource_providers:inventories:update (or set the tagger's freed_room to open)";
constexpr const char* manage_right =
    "; the reaper keeps freed room with Placement's policy placement:allocations:manage (or "
    "set gateway.escrow to false)";
/// Consumers have types since then.
constexpr Version types_since{1, 38};

Error without_id(const char* what) {
    return {Errc::bad_input, std::string{"placement: "} + what + " without an id"};
}

ResultTask<ProviderState> read_room(std::shared_ptr<Service> placement, ProviderId id) {
    using namespace boost::asio::experimental::awaitable_operators;
    if (id.empty()) co_return without_id("provider");
    auto ask_inventories = read(placement, provider_path(id, "/inventories"), read_inventories);
    auto ask_allocations =
        read(placement, provider_path(id, "/allocations"), read_provider_allocations);
    auto all = std::move(ask_inventories) && std::move(ask_allocations);
    auto [inventories, allocations] = co_await std::move(all);
    if (!inventories) co_return inventories.error();
    if (!allocations) co_return allocations.error();
    ProviderState state;
    state.inventories = std::move(*inventories);
    state.allocations = std::move(*allocations);
    co_return state;
}

ResultTask<ProviderState> read_provider(std::shared_ptr<Service> placement, ProviderId id) {
    using namespace boost::asio::experimental::awaitable_operators;
    if (id.empty()) co_return without_id("provider");
    auto ask_traits = read(placement, provider_path(id, "/traits"), read_traits);
    auto both = read_room(std::move(placement), std::move(id)) && std::move(ask_traits);
    auto [room, traits] = co_await std::move(both);
    if (!room) co_return room.error();
    if (!traits) co_return traits.error();
    room->traits = std::move(*traits);
    co_return std::move(*room);
}

ResultTask<void> write_holdings(std::shared_ptr<Service> placement,
                                std::vector<ConsumerChange> changes, Duration deadline) {
    auto version = co_await placement->speaks();
    if (!version) co_return version.error();
    ServiceCall call;
    call.method = http::Method::post;
    call.path = "/allocations";
    call.body = holdings_json(changes, *version >= types_since).dump();
    call.deadline = deadline;
    auto answer = co_await placement->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status == 204) co_return Result<void>{};
    Error refused = placement->refusal(*answer);
    if (answer->response.status == 403) refused.what += manage_right;
    co_return refused;
}

struct FoundInventory {
    Inventory inventory;
    std::int64_t generation = 0;
};

ResultTask<FoundInventory> find_inventory(std::shared_ptr<Service> placement, std::string path,
                                          const ResourceClass& resource_class, Duration deadline) {
    auto all = co_await read_provider_inventories(std::move(placement), std::move(path), deadline);
    if (!all) co_return all.error();
    const auto one = all->inventories.find(resource_class);
    if (one == all->inventories.end())
        co_return Error{Errc::not_found, all->where + ": no inventory of " + resource_class.str()};
    FoundInventory found;
    found.inventory = one->second;
    found.generation = all->generation;
    co_return found;
}

ResultTask<ReservedAnswer> write_reserved(std::shared_ptr<Service> placement, ReservedChange change,
                                          Duration deadline) {
    if (change.provider.empty() || change.resource_class.empty())
        co_return Error{Errc::bad_input, "placement: inventory without provider or class"};
    const std::string base = provider_path(change.provider, "/inventories");
    const std::string path = base + "/" + http::escape(change.resource_class.str());
    Error busy;
    for (int i = 0; i < max_collisions; ++i) {
        std::string inventories = base;
        auto found = co_await find_inventory(placement, std::move(inventories),
                                             change.resource_class, deadline);
        if (!found) co_return found.error();
        ReservedAnswer answer;
        answer.found = found->inventory;
        answer.done = answer.found.reserved == change.to;
        if (answer.done ? !change.fence : answer.found.reserved != change.from) co_return answer;
        Inventory wanted = answer.found;
        wanted.reserved = change.to;
        std::string at = path;
        std::string body = write_inventory(wanted, found->generation);
        // A second one finds another generation: the next round looks again, and sees what is.
        auto written = co_await send_to_placement(placement, http::Method::put, std::move(at),
                                                  std::move(body), deadline);
        if (!written) co_return written.error();
        const int status = written->response.status;
        if (status == 200) {
            answer.done = true;
            co_return answer;
        }
        Error refused = placement->refusal(*written);
        if (status == 403) refused.what += write_right;
        if (status != 409 || !is_concurrent_update(written->response.body)) co_return refused;
        busy = std::move(refused);
    }
    co_return busy;
}

/// Its calls keep the service: they may go on when it is destroyed.
class ServicePlacement final : public Placement {
public:
    explicit ServicePlacement(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::vector<ProviderRecord>> providers() override {
        return read(service_, "/resource_providers", read_providers);
    }
    ResultTask<std::set<ResourceClass>> resource_classes() override {
        return read(service_, "/resource_classes", read_resource_classes);
    }
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override {
        std::string path =
            "/allocation_candidates?resources=" + http::escape(resource_class.str()) + ":1";
        return read(service_, std::move(path), read_summaries);
    }
    ResultTask<ProviderState> room(ProviderId id) override {
        return read_room(service_, std::move(id));
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        return read_provider(service_, std::move(id));
    }
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override {
        if (id.empty()) return fails<std::set<std::string>>(without_id("provider"));
        return read(service_, provider_path(id, "/aggregates"), read_aggregate_ids);
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        if (consumer.empty()) return fails<Allocations>(without_id("consumer"));
        return read(service_, "/allocations/" + http::escape(consumer.str()),
                    read_consumer_allocations);
    }
    ResultTask<Consumer> consumer(ServerId id) override {
        if (id.empty()) return fails<Consumer>(without_id("consumer"));
        return read(service_, "/allocations/" + http::escape(id.str()), read_consumer);
    }
    ResultTask<Resources> usage_of(std::string project) override {
        return read(service_, "/usages?project_id=" + http::escape(project), read_usages);
    }
    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) override {
        return write_holdings(service_, std::move(changes), deadline);
    }
    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) override {
        return write_reserved(service_, std::move(change), deadline);
    }
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) override {
        return change_provider_total(service_, std::move(change), deadline);
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                           Duration deadline) override {
        return create_nested(service_, std::move(name), std::move(parent), deadline);
    }

private:
    std::shared_ptr<Service> service_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(std::shared_ptr<Service> placement) {
    return std::make_unique<ServicePlacement>(std::move(placement));
}

// Placement as the port of `reaper setup`.

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
