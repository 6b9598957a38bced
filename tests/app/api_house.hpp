// A reaper under test with its admin API. Whatever the API answers is held against its document.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/full_house.hpp"
#include "app/openapi.hpp"
#include "reaper/api/events.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"

namespace reaper::test {

class ApiHouse : public FullHouse {
protected:
    using json = nlohmann::json;

    ApiHouse() { with_events = true; }

    api::Backend backend() {
        api::Backend made{daemon, *observed, feed};
        const CloudPorts ports = cloud.ports();
        made.compute = &ports.compute;
        made.identity = &ports.identity;
        made.clock = &clock;
        made.pause = &pause;
        made.breaker = &breaker;
        made.events = &hub;
        made.reapers = [this]() -> ResultTask<std::vector<api::KnownReaper>> {
            auto told = reapers;
            co_return told;
        };
        made.program_version = "1.2.3";
        return made;
    }
    HttpResponse ask(HttpRequest request, api::Caller caller = {api::Access::act, {}}) {
        std::optional<HttpResponse> answer;
        const api::Backend asked = backend();
        boost::asio::co_spawn(io(), api::answer(asked, std::move(caller), std::move(request)),
                              [&](std::exception_ptr error, HttpResponse said) {
                                  if (error) std::rethrow_exception(error);
                                  answer = std::move(said);
                              });
        run_until([&] { return answer.has_value(); });
        return *answer;
    }
    /// The answer to `GET /v1/hosts?limit=1`, as the route `GET /v1/hosts` is documented.
    json answer(int expected, const std::string& route, const std::string& target,
                const std::string& body = "", api::Caller caller = {api::Access::act, {}}) {
        HttpRequest request{route.substr(0, route.find(' ')), target, {}, body};
        const HttpResponse said = ask(std::move(request), std::move(caller));
        EXPECT_EQ(said.status, expected) << said.body;
        const json told = json::parse(said.body, nullptr, false);
        EXPECT_EQ(wrong_with(route, said.status, said.content_type, told), "");
        return told;
    }
    json get(const std::string& target, int expected = 200) {
        const std::string path = target.substr(0, target.find('?'));
        return answer(expected, "GET " + path, target);
    }
    std::string why(const json& refused) {
        return refused.value(json::json_pointer{"/error/message"}, "");
    }
    /// The first reading estimates what servers hold; then each host is read exactly.
    void start_and_read_the_cloud() {
        start();
        run_until([&] {
            const auto view = service().view();
            if (!view) return false;
            for (const Host* host : view->cache.hosts())
                if (host->estimated) return false;
            return true;
        });
    }
    /// With `reservations.enabled`.
    void start_and_know_reservations() {
        start();
        run_until([&] {
            auto* const reservations = service().reservations();
            return reservations != nullptr && !reservations->why_not_known();
        });
    }

    /// The service, with another status where a test wants one.
    class ToldDaemon final : public api::Daemon {
    public:
        explicit ToldDaemon(ApiHouse& house) : house_(house) {}
        std::optional<DaemonView> view() const override { return house_.service().view(); }
        DaemonStatus status() const override {
            DaemonStatus state = house_.service().status();
            if (house_.with_status) house_.with_status(state);
            return state;
        }
        Task<std::optional<Decision>> would_decide(Request request) override {
            return house_.service().would_decide(std::move(request));
        }
        Task<std::optional<RoomAnswer>> room_for(Request request) override {
            return house_.service().room_for(std::move(request));
        }
        OperatorTrigger* operators() override { return house_.service().operators(); }
        ReservationController* reservations() override { return house_.service().reservations(); }
        ServerProtections* protections() override { return house_.service().protections(); }
        const RoomPublisher* room_publisher() override { return house_.service().room_publisher(); }

    private:
        ApiHouse& house_;
    };

    ToldDaemon daemon{*this};
    api::EventHub hub{feed, "test"};
    std::function<void(DaemonStatus&)> with_status;  ///< what is otherwise
    Result<std::vector<api::KnownReaper>> reapers{
        std::vector<api::KnownReaper>{{"ctl-1", "/var/lib/reaper/journal", true, true}}};
};

}  // namespace reaper::test
