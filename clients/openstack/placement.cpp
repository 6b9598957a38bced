#include "clients/openstack/placement.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/placement_format.hpp"

namespace reaper::openstack {

namespace {

class Reader {
public:
    explicit Reader(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::vector<ProviderRecord>> providers() {
        std::string path = "/resource_providers";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_providers(answer->response.body, answer->where);
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

    ResultTask<Allocations> allocations(ServerId consumer) {
        if (consumer.empty()) co_return Error{Errc::bad_input, "placement: consumer without an id"};
        std::string path = "/allocations/" + http::escape(consumer.str());
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        co_return read_consumer_allocations(answer->response.body, answer->where);
    }

private:
    ResultTask<Answer> get(std::string path) {
        ServiceCall call;
        call.path = std::move(path);
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
        : reader_(std::make_shared<Reader>(std::move(service))) {}
    ResultTask<std::vector<ProviderRecord>> providers() override {
        return http::keeping(reader_, reader_->providers());
    }
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override {
        return http::keeping(reader_, reader_->summaries(std::move(resource_class)));
    }
    ResultTask<ProviderState> room(ProviderId id) override {
        return http::keeping(reader_, reader_->room(std::move(id)));
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        return http::keeping(reader_, reader_->provider(std::move(id)));
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        return http::keeping(reader_, reader_->allocations(std::move(consumer)));
    }

private:
    std::shared_ptr<Reader> reader_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(std::shared_ptr<Service> placement) {
    return std::make_unique<ServicePlacement>(std::move(placement));
}

}  // namespace reaper::openstack
