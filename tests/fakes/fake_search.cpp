#include "fakes/fake_search.hpp"

#include <boost/asio/co_spawn.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "fakes/breathe.hpp"
#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/candidates.hpp"
#include "reaper/gateway/claim_text.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper::test {
namespace {

using nlohmann::json;

const char* const no_candidates = R"({"allocation_requests": [], "provider_summaries": {}})";

class FakeAnswer final : public UpstreamAnswer {
public:
    FakeAnswer(int status, std::string body) : status_(status), body_(std::move(body)) {}

    int status() const override { return status_; }
    const std::string& reason() const override { return reason_; }
    const HttpHeaders& headers() const override { return headers_; }
    ResultTask<BodyRead> read_all(std::size_t most) override {
        co_await breathe();
        if (body_.size() > most) co_return BodyRead::too_large;
        co_return BodyRead::whole;
    }
    const std::string& body() const override { return body_; }

private:
    int status_;
    std::string reason_ = "OK";
    HttpHeaders headers_{{"Content-Type", "application/json"}};
    std::string body_;
};

/// The server has what it claims, and is on the host; false: there is no room.
bool claim(FakeCloud& cloud, const std::string& server, const std::string& body) {
    const Allocations asked = read_claim(body).value();
    for (const auto& [provider, amounts] : asked) {
        const std::string host = cloud.host_of(provider.str());
        if (!amounts.fits_in(cloud.free_on(host))) return false;
        ServerRecord record = cloud.server_at(server).record;
        record.server.host = host;
        record.server.task_state = "spawning";
        cloud.add(FakeServer{std::move(record), HostId{provider.str()}, amounts, {}});
    }
    return true;
}

/// The same with changes of others that are no servers, all or nothing.
bool claim_together(FakeCloud& cloud, const std::string& body) {
    const auto before = cloud.consumers;
    std::string server, claimed;
    std::vector<ConsumerChange> kept;
    const json changes = json::parse(body);
    for (const auto& [id, wanted] : changes.items()) {
        const ServerId consumer{id};
        if (!cloud.consumers.contains(consumer)) {
            server = id;
            claimed = wanted.dump();
            continue;
        }
        Consumer& known = cloud.consumers.at(consumer);
        if (wanted["consumer_generation"] != known.generation) return false;
        known.holds = read_claim(wanted.dump()).value();
        known.generation = known.generation.value_or(0) + 1;
        kept.push_back({consumer, known});
        if (known.holds.empty()) cloud.consumers.erase(consumer);
    }
    const bool done = !cloud.full_for(kept) && claim(cloud, server, claimed);
    if (!done) cloud.consumers = before;
    return done;
}

}  // namespace

std::string candidates_of(FakeCloud& cloud, const std::string& target,
                          std::optional<std::size_t> most) {
    const auto parameters = parameters_of(target);
    const auto query = read_candidates_query(parameters.value());
    if (!query->res_type.empty()) return no_candidates;  // no provider has these traits
    json ways = json::array();
    json summaries = json::object();
    const auto limit = limit_of(target);
    for (const auto& name : cloud.host_names()) {
        if ((limit && ways.size() >= *limit) || (most && ways.size() >= *most)) break;
        const std::string id = cloud.provider_of(name);
        const Resources free = cloud.free_on(name);
        const bool asked_for = query->in_tree.empty() || query->in_tree.str() == id;
        if (!asked_for || !query->shape.resources.fits_in(free)) continue;
        json traits = json::array();
        for (const auto& trait : cloud.traits[name]) traits.push_back(trait.str());
        json amounts, rooms;
        for (const auto& [resource_class, amount] : query->shape.resources)
            amounts[resource_class.str()] = amount;
        for (const auto& [resource_class, amount] : cloud.capacity_of(name))
            rooms[resource_class.str()] = {{"capacity", amount},
                                           {"used", amount - free.get(resource_class)}};
        ways.push_back({{"allocations", {{id, {{"resources", amounts}}}}}});
        summaries[id] = {{"resources", rooms}, {"root_provider_uuid", id}, {"traits", traits}};
    }
    return json{{"allocation_requests", ways}, {"provider_summaries", summaries}}.dump();
}

void FakeSearch::begin(boost::asio::io_context& io, std::shared_ptr<ProxyHandler> handler,
                       HttpRequest request) {
    boost::asio::co_spawn(io, run(std::move(handler), std::move(request)),
                          [](std::exception_ptr error) {
                              if (error) std::rethrow_exception(error);
                          });
}

Task<void> FakeSearch::run(std::shared_ptr<ProxyHandler> handler, HttpRequest request) {
    auto answer = co_await handler->handle(std::move(request), *this);
    told_ = nullptr;
    if (auto* const made = std::get_if<OwnAnswer>(&answer)) {
        own = true;
        answered = made->status;
        body = made->body;
    } else if (auto* const passed = std::get_if<std::unique_ptr<UpstreamAnswer>>(&answer)) {
        answered = (*passed)->status();
        body = (*passed)->body();
    } else {
        failed = true;
    }
}

void FakeSearch::leave() {
    gone_ = true;
    if (told_) std::exchange(told_, nullptr)();
}

void FakeSearch::on_client_gone(std::function<void()> told) {
    told_ = std::move(told);
    if (gone_ && told_) std::exchange(told_, nullptr)();
}

ResultTask<std::unique_ptr<UpstreamAnswer>> FakeSearch::ask(HttpRequest request) {
    co_await breathe();
    asked.push_back(request.target);
    const Duration glance{50};
    while (hangs && !gone_) co_await cloud_.ports().clock.sleep(glance);
    int said = status;
    std::string text = says;
    const std::string& target = request.target;
    if (said == 200 && request.method == "PUT")
        said = claim(cloud_, target.substr(target.rfind('/') + 1), request.body) ? 204 : 409;
    else if (said == 200 && request.method == "DELETE")
        said = 204;  // the server stays where it is
    else if (said == 200 && request.method == "POST")
        said = claim_together(cloud_, request.body) ? 204 : 409;
    else if (said == 200 && claimed_server(path_of(target)))
        text = R"({"allocations": {}})";
    else if (said == 200)
        text = candidates_of(cloud_, request.target, most);
    std::unique_ptr<UpstreamAnswer> answer = std::make_unique<FakeAnswer>(said, std::move(text));
    co_return answer;
}

}  // namespace reaper::test
