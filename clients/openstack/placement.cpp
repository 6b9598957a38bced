// Placement as the Placement port.
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <optional>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/placement_format.hpp"
#include "clients/openstack/provider_calls.hpp"
#include "reaper/json/json_holdings.hpp"

namespace reaper::openstack {

namespace {

class PlacementCalls {
public:
    explicit PlacementCalls(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::vector<ProviderRecord>> providers() {
        std::string path = "/resource_providers";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_providers(answer->response.body, answer->where);
    }

    ResultTask<std::set<ResourceClass>> resource_classes() {
        std::string path = "/resource_classes";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_resource_classes(answer->response.body, answer->where);
    }

    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) {
        std::string path =
            "/allocation_candidates?resources=" + http::escape(resource_class.str()) + ":1";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_summaries(answer->response.body, answer->where);
    }

    ResultTask<ProviderState> room(ProviderId id) {
        using namespace boost::asio::experimental::awaitable_operators;
        if (id.empty()) co_return Error{Errc::bad_input, "placement: provider without an id"};
        const std::string path = "/resource_providers/" + http::escape(id.str());
        std::string inventories_path = path + "/inventories";
        std::string allocations_path = path + "/allocations";
        auto ask_inventories = get(std::move(inventories_path));
        auto ask_allocations = get(std::move(allocations_path));
        auto all = std::move(ask_inventories) && std::move(ask_allocations);
        auto [inventories, allocations] = co_await std::move(all);
        if (!inventories) co_return inventories.error();
        if (!allocations) co_return allocations.error();
        co_return read_room(*inventories, *allocations);
    }

    ResultTask<ProviderState> provider(ProviderId id) {
        using namespace boost::asio::experimental::awaitable_operators;
        if (id.empty()) co_return Error{Errc::bad_input, "placement: provider without an id"};
        const std::string path = "/resource_providers/" + http::escape(id.str());
        std::string inventories_path = path + "/inventories";
        std::string traits_path = path + "/traits";
        std::string allocations_path = path + "/allocations";
        auto ask_inventories = get(std::move(inventories_path));
        auto ask_traits = get(std::move(traits_path));
        auto ask_allocations = get(std::move(allocations_path));
        auto all =
            std::move(ask_inventories) && std::move(ask_traits) && std::move(ask_allocations);
        auto [inventories, traits, allocations] = co_await std::move(all);
        if (!inventories) co_return inventories.error();
        if (!traits) co_return traits.error();
        if (!allocations) co_return allocations.error();
        co_return read_state(*inventories, *traits, *allocations);
    }

    ResultTask<std::set<std::string>> aggregates(ProviderId id) {
        if (id.empty()) co_return Error{Errc::bad_input, "placement: provider without an id"};
        std::string path = "/resource_providers/" + http::escape(id.str()) + "/aggregates";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_aggregate_ids(answer->response.body, answer->where);
    }

    ResultTask<Allocations> allocations(ServerId consumer) {
        if (consumer.empty()) co_return Error{Errc::bad_input, "placement: consumer without an id"};
        std::string path = "/allocations/" + http::escape(consumer.str());
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_consumer_allocations(answer->response.body, answer->where);
    }

    ResultTask<Consumer> consumer(ServerId id) {
        if (id.empty()) co_return Error{Errc::bad_input, "placement: consumer without an id"};
        std::string path = "/allocations/" + http::escape(id.str());
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_consumer(answer->response.body, answer->where);
    }

    ResultTask<Resources> usage_of(std::string project) {
        std::string path = "/usages?project_id=" + http::escape(project);
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_usages(answer->response.body, answer->where);
    }

    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) {
        auto version = co_await service_->speaks();
        if (!version) co_return version.error();
        ServiceCall call;
        call.method = http::Method::post;
        call.path = "/allocations";
        call.body = holdings_json(changes, *version >= types_since).dump();
        call.deadline = deadline;
        auto answer = co_await service_->call(std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status == 204) co_return Result<void>{};
        Error refused = service_->refusal(*answer);
        if (answer->response.status == 403) refused.what += manage_right;
        co_return refused;
    }

    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) {
        if (change.provider.empty() || change.resource_class.empty())
            co_return Error{Errc::bad_input, "placement: inventory without provider or class"};
        const std::string base =
            "/resource_providers/" + http::escape(change.provider.str()) + "/inventories";
        const std::string path = base + "/" + http::escape(change.resource_class.str());
        Error busy;
        for (int i = 0; i < max_collisions; ++i) {
            std::string inventories = base;
            auto found = co_await look(std::move(inventories), change, deadline);
            if (!found) co_return found.error();
            ReservedAnswer answer;
            answer.found = found->inventory;
            answer.done = answer.found.reserved == change.to;
            if (answer.done || answer.found.reserved != change.from) co_return answer;
            Inventory wanted = answer.found;
            wanted.reserved = change.to;
            std::string at = path;
            std::string body = write_inventory(wanted, found->generation);
            auto written = co_await put(std::move(at), std::move(body), deadline);
            if (!written) co_return written.error();
            const int status = written->response.status;
            if (status == 200) {
                answer.done = true;
                co_return answer;
            }
            Error refused = service_->refusal(*written);
            if (status == 403) refused.what += write_right;
            if (status != 409 || !is_concurrent_update(written->response.body)) co_return refused;
            busy = std::move(refused);
        }
        co_return busy;
    }

private:
    /// Of a change that meets others' changes of the same provider.
    static constexpr int max_collisions = 5;
    static constexpr const char* write_right =
        "; the reaper holds freed room with Placement's policy "
        "placement:resource_providers:inventories:update (or set the tagger's freed_room to open)";
    static constexpr const char* manage_right =
        "; the reaper keeps freed room with Placement's policy placement:allocations:manage (or "
        "set "
        "gateway.keep_room to false)";
    /// Consumers have types since then.
    static constexpr Version types_since{1, 38};

    struct Looked {
        Inventory inventory;
        std::int64_t generation = 0;
    };

    ResultTask<Looked> look(std::string path, const ReservedChange& change, Duration deadline) {
        auto answer = co_await get(std::move(path), deadline);
        if (!answer) co_return answer.error();
        auto all = read_inventories(answer->response.body, answer->where);
        if (!all) co_return all.error();
        auto generation = read_generation(answer->response.body, answer->where);
        if (!generation) co_return generation.error();
        const auto one = all->find(change.resource_class);
        if (one == all->end())
            co_return Error{Errc::not_found,
                            answer->where + ": no inventory of " + change.resource_class.str()};
        Looked looked;
        looked.inventory = one->second;
        looked.generation = *generation;
        co_return looked;
    }

    ResultTask<Answer> put(std::string path, std::string body, Duration deadline) {
        ServiceCall call;
        call.method = http::Method::put;
        call.path = std::move(path);
        call.body = std::move(body);
        // A second one finds another generation: the caller looks again, and sees what is.
        call.repeat = http::Repeat::safe;
        call.deadline = deadline;
        co_return co_await service_->call(std::move(call));
    }

    ResultTask<Answer> get(std::string path, std::optional<Duration> deadline = std::nullopt) {
        ServiceCall call;
        call.path = std::move(path);
        call.deadline = deadline;
        auto answer = co_await service_->call(std::move(call));
        if (answer && answer->response.status != 200) co_return service_->refusal(*answer);
        co_return answer;
    }

    static Result<ProviderState> read_room(const Answer& inventories, const Answer& allocations) {
        auto room = read_inventories(inventories.response.body, inventories.where);
        if (!room) return room.error();
        auto held = read_provider_allocations(allocations.response.body, allocations.where);
        if (!held) return held.error();
        ProviderState state;
        state.inventories = std::move(*room);
        state.allocations = std::move(*held);
        return state;
    }

    static Result<ProviderState> read_state(const Answer& inventories, const Answer& traits,
                                            const Answer& allocations) {
        auto state = read_room(inventories, allocations);
        if (!state) return state.error();
        auto names = read_traits(traits.response.body, traits.where);
        if (!names) return names.error();
        state->traits = std::move(*names);
        return state;
    }

    std::shared_ptr<Service> service_;
};

class ServicePlacement final : public Placement {
public:
    explicit ServicePlacement(std::shared_ptr<Service> service)
        : calls_(std::make_shared<PlacementCalls>(service)),
          providers_(std::make_shared<ProviderCalls>(std::move(service))) {}
    ResultTask<std::vector<ProviderRecord>> providers() override {
        return http::keeping(calls_, calls_->providers());
    }
    ResultTask<std::set<ResourceClass>> resource_classes() override {
        return http::keeping(calls_, calls_->resource_classes());
    }
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override {
        return http::keeping(calls_, calls_->summaries(std::move(resource_class)));
    }
    ResultTask<ProviderState> room(ProviderId id) override {
        return http::keeping(calls_, calls_->room(std::move(id)));
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        return http::keeping(calls_, calls_->provider(std::move(id)));
    }
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override {
        return http::keeping(calls_, calls_->aggregates(std::move(id)));
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        return http::keeping(calls_, calls_->allocations(std::move(consumer)));
    }
    ResultTask<Consumer> consumer(ServerId id) override {
        return http::keeping(calls_, calls_->consumer(std::move(id)));
    }
    ResultTask<Resources> usage_of(std::string project) override {
        return http::keeping(calls_, calls_->usage_of(std::move(project)));
    }
    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) override {
        return http::keeping(calls_, calls_->set_holdings(std::move(changes), deadline));
    }
    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) override {
        return http::keeping(calls_, calls_->change_reserved(std::move(change), deadline));
    }
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) override {
        return http::keeping(providers_, providers_->change_total(std::move(change), deadline));
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                           Duration deadline) override {
        return http::keeping(
            providers_, providers_->create_nested(std::move(name), std::move(parent), deadline));
    }

private:
    std::shared_ptr<PlacementCalls> calls_;
    std::shared_ptr<ProviderCalls> providers_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(std::shared_ptr<Service> placement) {
    return std::make_unique<ServicePlacement>(std::move(placement));
}

}  // namespace reaper::openstack
