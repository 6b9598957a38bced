#include "tests/clients/openstack/fake_openstack.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace reaper::test {

namespace {

std::string iso(TimePoint time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld.000000Z",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                  static_cast<long>(clock.seconds().count()));
    return text.data();
}

nlohmann::json endpoint(const std::string& interface, const std::string& region,
                        const std::string& url) {
    return {{"interface", interface}, {"region", region}, {"region_id", region}, {"url", url}};
}

}  // namespace

nlohmann::json recorded_answer(const std::string& name) {
    std::ifstream file(std::string(REAPER_TEST_DATA) + "/openstack-zed/api/" + name + ".json");
    if (!file) throw std::runtime_error("no recorded answer " + name);
    return nlohmann::json::parse(file).at("body");
}

FakeOpenStack::FakeOpenStack()
    : server(io, [this](const ServerRequest& request) { return answer(request); }) {
    cloud.credentials.auth_url = server.url();
    cloud.credentials.username = "reaper";
    cloud.credentials.password = config::Secret("hunter2-password");
    cloud.credentials.project_name = "service";
    http.retry_backoff = Duration(1);
    for (const auto& [type, path] :
         {std::pair{"identity", "/v3"}, std::pair{"compute", "/nova/v2.1"},
          std::pair{"placement", "/placement"}})
        catalog.push_back({{"type", type},
                           {"name", type},
                           {"endpoints", {endpoint("public", "RegionOne", server.url() + path)}}});
    on("GET /nova/v2.1/",
       json_reply(200, R"({"version": {"id": "v2.1", "version": "2.93", "min_version": "2.1"}})"));
    on("GET /placement/",
       json_reply(
           200, R"({"versions": [{"id": "v1.0", "max_version": "1.39", "min_version": "1.0"}]})"));
}

void FakeOpenStack::on(const std::string& method_and_path, Reply reply) {
    answers_[method_and_path] = [reply = std::move(reply)](const ServerRequest&) { return reply; };
}

void FakeOpenStack::on(const std::string& method_and_path,
                       std::function<Reply(const ServerRequest&)> answer) {
    answers_[method_and_path] = std::move(answer);
}

OpenStack FakeOpenStack::connect() {
    auto connected = connect_openstack(io.get_executor(), cloud, http, clock);
    return std::move(connected.value());
}

Reply FakeOpenStack::token() {
    if (auth_failure.status != 200) return auth_failure;
    nlohmann::json body = recorded_answer("keystone-auth-tokens");
    body["token"]["catalog"] = catalog;
    body["token"]["issued_at"] = iso(clock.now());
    body["token"]["expires_at"] = iso(clock.now() + token_life);
    if (!token_has.is_null()) body["token"].merge_patch(token_has);
    Reply reply = json_reply(201, body.dump());
    reply.headers.emplace_back("X-Subject-Token", "secret-token-" + std::to_string(++issued));
    reply.bridge = auth_gate;
    return reply;
}

Reply FakeOpenStack::answer(const ServerRequest& request) {
    if (request.target == "/v3/auth/tokens") return token();
    const std::string shown = request.header("x-auth-token");
    const std::string prefix = "secret-token-";
    if (!shown.starts_with(prefix) || std::stoi(shown.substr(prefix.size())) < first_good_token)
        return json_reply(401, R"({"error": {"message": "token refused", "code": 401}})");
    const auto found = answers_.find(request.method + ' ' + request.target);
    // After its last server a list is empty.
    if (found == answers_.end() && request.target.starts_with("/nova/v2.1/servers/detail?") &&
        request.target.find("&marker=") != std::string::npos)
        return json_reply(200, R"({"servers": []})");
    if (found == answers_.end())
        return json_reply(404, R"({"itemNotFound": {"message": "no such thing", "code": 404}})");
    return found->second(request);
}

}  // namespace reaper::test
