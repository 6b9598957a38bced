#include "tests/cloudsim/tests/box.hpp"

#include <cctype>
#include <gtest/gtest.h>

namespace reaper::cloudsim::test {

std::string Answer::header(const std::string& name) const {
    for (const auto& [key, value] : response.headers) {
        std::string lower = key;
        for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (lower == name) return value;
    }
    return "";
}

Settings lab_settings() {
    Settings settings;
    settings.host.vcpus = 10;
    settings.host.memory_mb = 8192;
    settings.host.disk_gb = 1028;
    settings.flavors = {{"small", {2, 1024, 20, 0, 0, {}}},
                        {"medium", {5, 2048, 20, 0, 0, {}}},
                        {"large", {10, 4096, 40, 0, 0, {}}}};
    fill_defaults(settings);
    return settings;
}

Box::Box(Settings settings, Site::Seeder seeder)
    : site(
          std::move(settings), [this] { return now; }, std::move(seeder)),
      notifications([this]() -> World& { return site.world(); },
                    [this](Message message) { messages.push_back(std::move(message)); }) {
    site.set_root("http://127.0.0.1:18000");
    const std::string wrong = site.fill();
    EXPECT_EQ(wrong, "");
    site.listen(notifications);
}

void Box::pass(Micros time) {
    constexpr Micros step = std::chrono::milliseconds(50);
    for (Micros passed{0}; passed < time; passed += step) {
        now += step;
        site.run_due();
    }
}

Answer Box::call_as(const std::string& token, const std::string& version, const std::string& method,
                    const std::string& target, const Json& body) {
    Request request;
    request.method = method;
    request.set_target(target);
    if (!token.empty()) request.headers.emplace_back("x-auth-token", token);
    if (!version.empty()) request.headers.emplace_back("openstack-api-version", version);
    if (!body.is_null()) request.body = body.dump();
    Answer answer;
    answer.response = site.handle(request);
    if (!answer.response.body.empty()) answer.body = Json::parse(answer.response.body);
    return answer;
}

const std::string& Box::token(const std::string& user, const std::string& project) {
    std::string& known = tokens_[user + " " + project];
    if (!known.empty()) return known;
    const Json domain{{"id", "default"}};
    const Json who{
        {"name", user}, {"domain", domain}, {"password", world().settings.users.at(user).password}};
    const Json login{{"auth",
                      {{"identity", {{"methods", {"password"}}, {"password", {{"user", who}}}}},
                       {"scope", {{"project", {{"name", project}, {"domain", domain}}}}}}}};
    const Answer answer = call_as("", "", "POST", "/identity/v3/auth/tokens", login);
    EXPECT_EQ(answer.status(), 201) << answer.response.body;
    return known = answer.header("x-subject-token");
}

Answer Box::call(const std::string& method, const std::string& target, const Json& body,
                 const std::string& user, const std::string& project) {
    const bool placement = target.starts_with("/placement");
    return call_as(token(user, project), placement ? "placement 1.39" : "compute 2.90", method,
                   target, body);
}

Answer Box::ask(const std::string& name, const std::string& project, const Json& more) {
    Json server{{"name", project + "-" + name},
                {"flavorRef", flavor(name)},
                {"imageRef", image()},
                {"networks", "none"}};
    server.update(more);
    return call("POST", "/compute/v2.1/servers", {{"server", server}}, "admin", project);
}

std::string Box::boot(const std::string& name, const std::string& project,
                      const std::string& host) {
    const Answer answer = ask(name, project, {{"host", host}});
    EXPECT_EQ(answer.status(), 202) << answer.response.body;
    settle();
    const std::string id = answer.body["server"]["id"];
    EXPECT_EQ(server(id)["status"], "ACTIVE");
    EXPECT_EQ(server(id)["OS-EXT-SRV-ATTR:host"], host);
    return id;
}

Json Box::server(const std::string& id) {
    const Answer answer = get("/compute/v2.1/servers/" + id);
    return answer.status() == 200 ? answer.body["server"] : Json();
}

std::string Box::provider(const std::string& host) {
    return world().placement.find_name(host)->uuid.text();
}

std::vector<Json> Box::told(const std::string& event_type) const {
    std::vector<Json> found;
    for (const Message& message : messages) {
        Json inner = Json::parse(Json::parse(message.body)["oslo.message"].get<std::string>());
        if (inner["event_type"] == event_type) found.push_back(std::move(inner));
    }
    return found;
}

}  // namespace reaper::cloudsim::test
