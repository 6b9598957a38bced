// A simulated cloud in a test: no sockets, a clock that the test moves.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cloudsim/api/site.hpp"
#include "tests/cloudsim/messages/notifications.hpp"

namespace reaper::cloudsim::test {

using Json = nlohmann::json;

struct Answer {
    Response response;
    Json body;  ///< null if there is none
    int status() const { return response.status; }
    std::string header(const std::string& name) const;  ///< name in lower case
};

/// Three hosts of 10 VCPU, 8192 MB and 1028 GB; flavors small 2, medium 5, large 10 VCPU.
Settings lab_settings();

class Box {
public:
    explicit Box(Settings settings = lab_settings(), Site::Seeder seeder = nullptr);

    /// As the `reaper` user with Placement 1.39 and Nova 2.90.
    Answer call(const std::string& method, const std::string& target, const Json& body = {},
                const std::string& user = "reaper", const std::string& project = "service");
    /// With a version header of one's own (empty: none) and a token of one's own.
    Answer call_as(const std::string& token, const std::string& version, const std::string& method,
                   const std::string& target, const Json& body = {});
    Answer get(const std::string& target) { return call("GET", target); }
    const std::string& token(const std::string& user, const std::string& project);

    /// Moves the clock and lets happen what is due.
    void pass(Micros time);
    void settle() { pass(std::chrono::seconds(5)); }

    // Short words for what many tests do
    Answer ask(const std::string& flavor, const std::string& project = "regular",
               const Json& more = Json::object());
    /// ACTIVE on the host.
    std::string boot(const std::string& flavor, const std::string& project,
                     const std::string& host);
    Json server(const std::string& id);
    std::string provider(const std::string& host);
    std::string flavor(const std::string& name) { return world().nova.find_flavor_name(name)->id; }
    std::string image() { return world().nova.images.front()->id.text(); }
    World& world() { return site.world(); }

    /// The messages of one kind so far, without their envelope.
    std::vector<Json> told(const std::string& event_type) const;

    Time now = Time(std::chrono::seconds(1'790'000'000));
    Site site;
    std::vector<Message> messages;
    Notifications notifications;

private:
    std::map<std::string, std::string> tokens_;
};

}  // namespace reaper::cloudsim::test
