// Keystone, Nova and Placement on one scripted server: answers of Keystone are made up here, those
// of the others come from the test.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/openstack/openstack.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/support/http_server.hpp"

namespace reaper::test {

/// The body of a recorded answer of tests/data/openstack-zed/api.
nlohmann::json recorded_answer(const std::string& name);

inline const TimePoint cloud_time =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 20) + std::chrono::hours(13);

class FakeOpenStack {
public:
    FakeOpenStack();

    /// The answer for `METHOD /path` (with its query, without the service's own prefix), else 404.
    void on(const std::string& method_and_path, Reply reply);
    void on(const std::string& method_and_path, std::function<Reply(const ServerRequest&)> answer);

    OpenStack connect();
    template <class T>
    T run(Task<T> task) {
        return test::run(io, std::move(task));
    }
    std::size_t authentications() const { return server.count("POST", "/v3/auth/tokens"); }
    /// From now on the services refuse all tokens issued so far.
    void revoke_tokens() { first_good_token = issued + 1; }

    boost::asio::io_context io;
    ManualClock clock{io, cloud_time};
    config::Cloud cloud;
    config::Http http;
    int issued = 0;            ///< tokens
    int first_good_token = 1;  ///< what the services accept
    Duration token_life = std::chrono::hours(1);
    Reply auth_failure;                         ///< instead of a token, if its status is not 200
    std::shared_ptr<ExecutorBridge> auth_gate;  ///< holds authentications back
    nlohmann::json catalog;                     ///< of the tokens
    nlohmann::json token_has;                   ///< merged into them
    HttpServer server;

private:
    Reply answer(const ServerRequest& request);
    Reply token();

    std::map<std::string, std::function<Reply(const ServerRequest&)>> answers_;
};

}  // namespace reaper::test
