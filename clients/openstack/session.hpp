// The Keystone session: a token when one is needed, and the address of each service.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/http/client.hpp"
#include "clients/openstack/keystone_format.hpp"
#include "clients/openstack/openstack.hpp"
#include "clients/openstack/service_error.hpp"
#include "config/settings.hpp"

namespace reaper::openstack {

/// A call to a service, in words that don't depend on where it is.
struct ServiceCall {
    http::Method method = http::Method::get;
    std::string path;  ///< below the endpoint, with the query: `/servers/detail?limit=10`
    std::vector<http::Header> headers;
    std::string body;  ///< JSON; empty for none
    http::Repeat repeat = http::Repeat::by_method;
    std::function<bool(bool may_be_heard)> still_wanted;  ///< see http::Request
    std::optional<Duration> deadline;                     ///< see http::Request
};

/// A service's name in logs: keystone, nova, placement, glance.
std::string_view project_name(CloudService service);

/// Must outlive its calls (see `http::keeping`).
class Session {
public:
    /// `cloud.credentials` are checked; `keystone` is the version 3 root.
    Session(boost::asio::any_io_executor executor, config::Cloud cloud, std::string keystone,
            std::unique_ptr<http::Client> client, Clock& clock);

    /// Sends the call with a token; after a 401 once more with a new one. Any status but 401 is an
    /// Answer.
    ResultTask<Answer> call(CloudService service, ServiceCall call);

    /// The same below another address than the service's endpoint; `path` is added to `base`.
    ResultTask<Answer> call_at(CloudService service, std::string base, ServiceCall call);

    /// Authenticates now, whatever token there is.
    ResultTask<AuthInfo> authenticate();

    /// Our identity, from the present token; authenticates if there is none.
    ResultTask<AuthInfo> who();

    /// The service's endpoint without a slash at the end.
    ResultTask<std::string> url_of(CloudService service);

    /// `status_error` with our user and project in it.
    Error refusal(const Answer& answer) const;

private:
    struct Token {
        std::string text;
        TokenBody body;
        TimePoint renew_at{};
        TimePoint expires_at{};  // both by our clock
    };
    using TokenPtr = std::shared_ptr<const Token>;
    struct Flight;
    class Landing;
    /// Keystone's last word on our credentials, if it was a refusal.
    struct Refused {
        std::size_t times = 0;  ///< in a row
        Duration until{};       ///< steady
        Error why;
    };

    /// A token that is neither about to expire nor `refused` (may be null). Callers who need a new
    /// one at the same time share one authentication.
    ResultTask<TokenPtr> token(TokenPtr refused);
    ResultTask<TokenPtr> fetch_token();
    /// Refused credentials are not sent again for a while: meanwhile every caller receives the
    /// reason.
    void note_refusal(const Result<TokenPtr>& fetched);
    bool is_good(const Token& token) const;
    /// Keystone is away for a while: does the old token do until it is back?
    bool may_keep(const TokenPtr& old, const TokenPtr& refused, const Error& why);
    Result<TokenPtr> token_from(const Answer& answer) const;
    Error auth_error(const Answer& answer) const;
    Result<std::string> endpoint_in(const Token& token, CloudService service) const;
    ResultTask<Answer> send(CloudService service, const std::string& base, const ServiceCall& call,
                            const Token& token);

    boost::asio::any_io_executor executor_;
    config::Cloud cloud_;
    std::string keystone_;
    std::unique_ptr<http::Client> client_;
    Clock& clock_;
    TokenPtr token_;
    TimePoint renewal_paused_until_{};
    std::optional<Refused> refused_;
    std::shared_ptr<Flight> flight_;  // the authentication under way
};

/// A GET of Keystone; keeps `keystone` alive until it ends, also before it starts.
ResultTask<Answer> get(std::shared_ptr<Session> keystone, std::string path);

}  // namespace reaper::openstack
