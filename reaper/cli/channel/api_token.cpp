#include "reaper/cli/channel/api_token.hpp"

#include <boost/asio/ip/address.hpp>
#include <spdlog/spdlog.h>
#include <utility>
#include <variant>

#include "clients/http/client.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/credentials.hpp"
#include "config/loader.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

constexpr const char* what_to_do =
    "give one by OS_TOKEN or --token-file, or credentials by OS_AUTH_URL and the other OS_* "
    "variables";

/// Neither spaces nor what would end a header.
bool is_token(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (c <= ' ' || c > '~') return false;
    return true;
}

Result<config::Secret> token_in(const std::string& text, const std::string& place) {
    std::string token{trimmed(text)};
    if (!is_token(token)) return Error{Errc::bad_input, place + ": holds no token"};
    return config::Secret{std::move(token)};
}

Result<config::Secret> token_of(const http::Response& answer, const config::Credentials& who) {
    if (answer.status == 401)
        return Error{Errc::unauthorized, who.auth_url + ": Keystone refuses the credentials of " +
                                             openstack::describe(who) +
                                             "; check the OS_* variables"};
    if (!answer.ok())
        return Error{Errc::rejected, who.auth_url + ": Keystone gives no token, but answers " +
                                         std::to_string(answer.status)};
    std::string token{trimmed(answer.header("X-Subject-Token"))};
    if (!is_token(token))
        return Error{Errc::bad_answer, who.auth_url + ": Keystone's answer holds no token"};
    return config::Secret{std::move(token)};
}

/// A password may be read on its way, or told to the wrong one.
void warn_of_open_ways(const config::Cloud& cloud) {
    const std::string& url = cloud.credentials.auth_url;
    const auto parsed = http::parse_url(url);
    if (parsed && !parsed->endpoint.tls && !is_this_machine(parsed->endpoint.host))
        spdlog::warn("{}: the credentials cross the network for everybody to read: use https",
                     printable(url));
    else if (parsed && parsed->endpoint.tls && !cloud.verify_tls)
        spdlog::warn("{}: its certificate is not verified, and credentials go there",
                     printable(url));
}

}  // namespace

bool is_this_machine(const std::string& host) {
    if (host == "localhost") return true;
    boost::system::error_code none;
    const auto address = boost::asio::ip::make_address(host, none);
    return !none && address.is_loopback();
}

Result<std::optional<config::Secret>> given_token(const ApiOptions& options,
                                                  const config::Environment& environment) {
    using Given = std::optional<config::Secret>;
    if (!options.token_file.empty()) {
        const auto file = environment.read_file(options.token_file);
        if (!file)
            return Error{Errc::bad_input, "--token-file: " + options.token_file +
                                              " can't be read (" + file.error().what + ")"};
        auto token = token_in(file->text, "--token-file: " + options.token_file);
        return token ? Result<Given>{std::move(*token)} : token.error();
    }
    const auto variable = environment.variable("OS_TOKEN");
    if (!variable || variable->empty()) return Given{};
    auto token = token_in(*variable, "OS_TOKEN");
    return token ? Result<Given>{std::move(*token)} : token.error();
}

Result<config::Secret> keystone_token(boost::asio::io_context& io, Clock& clock,
                                      const ApiOptions& options,
                                      const config::Environment& environment) {
    const auto is_set = [&](const char* name) {
        const auto value = environment.variable(name);
        return value && !value->empty();
    };
    if (!is_set("OS_AUTH_URL") && !is_set("OS_CLOUD"))
        return Error{Errc::unauthorized, "the daemon demands a token: " + std::string{what_to_do}};
    auto read = config::load_cloud_of_environment(environment);
    if (const auto* const errors = std::get_if<std::vector<config::ConfigError>>(&read))
        return Error{Errc::bad_input, "no token can be had: " + config::to_string(errors->front())};
    const auto& cloud = std::get<config::Cloud>(read);
    warn_of_open_ways(cloud);
    const auto root = openstack::keystone_root(cloud.credentials.auth_url);
    if (!root) return root.error();
    http::Options how;
    how.tls.ca_file = cloud.ca_file.empty() ? options.ca_file : cloud.ca_file;
    how.tls.cert_file = cloud.cert_file;
    how.tls.key_file = cloud.key_file;
    how.tls.verify = cloud.verify_tls;
    how.tls.ca_key = "OS_CACERT";
    how.max_retries = 0;
    auto client = http::make_client(io.get_executor(), std::move(how), clock);
    if (!client) return client.error();
    http::Request request;
    request.method = http::Method::post;
    request.url = *root + "/auth/tokens";
    request.service = "keystone";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = openstack::auth_body(cloud.credentials);
    const auto answer = run_task(io, (*client)->call(std::move(request)));
    if (!answer) return answer.error();
    return token_of(*answer, cloud.credentials);
}

}  // namespace reaper::cli
