#include "clients/openstack/session.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <iterator>
#include <utility>

#include "clients/http/failure.hpp"
#include "clients/openstack/credentials.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::openstack {

namespace {

namespace asio = boost::asio;

/// A token is renewed that long before its end, or in the last half of a shorter life.
constexpr Duration renewal_margin = std::chrono::minutes(5);
/// After a renewal that failed, while the old token still works.
constexpr Duration renewal_pause = std::chrono::seconds(30);

/// After the first refusal of our credentials, the second, and all later ones: a service that keeps
/// trying a wrong password has its account locked.
constexpr Duration refusal_pauses[] = {std::chrono::minutes(1), std::chrono::minutes(10),
                                       std::chrono::hours(1)};

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

/// `GET nova http://host:8774/v2.1/servers`
std::string name_call(std::string_view service, http::Method method, const std::string& url) {
    const auto parsed = http::parse_url(url);
    const std::string shown =
        parsed ? http::to_string(parsed->endpoint) + http::shown_target(*parsed) : "";
    return std::string(http::to_string(method)) + ' ' + std::string(service) + ' ' + shown;
}

}  // namespace

std::string_view project_name(CloudService service) {
    switch (service) {
        case CloudService::identity: return "keystone";
        case CloudService::compute: return "nova";
        case CloudService::placement: return "placement";
        case CloudService::image: return "glance";
    }
    return "?";
}

/// An authentication that one caller does and others wait for. No result: its caller was cancelled.
struct Session::Flight {
    explicit Flight(const asio::any_io_executor& executor)
        : landed(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer landed;  // never expires; cancelled when there is a result
    bool over = false;
    std::optional<Result<TokenPtr>> result;
};

/// Ends the flight, however its coroutine ends.
class Session::Landing {
public:
    explicit Landing(Session& session) : session_(session), flight_(session.flight_) {}
    Landing& operator=(Landing&&) = delete;
    ~Landing() {
        session_.flight_.reset();
        flight_->over = true;
        flight_->landed.cancel();
    }

private:
    Session& session_;
    std::shared_ptr<Flight> flight_;
};

Session::Session(asio::any_io_executor executor, config::Cloud cloud, std::string keystone,
                 std::unique_ptr<http::Client> client, Clock& clock)
    : executor_(std::move(executor)),
      cloud_(std::move(cloud)),
      keystone_(std::move(keystone)),
      client_(std::move(client)),
      clock_(clock) {}

bool Session::is_good(const Token& token) const {
    const TimePoint now = clock_.now();
    return now < token.renew_at || (now < token.expires_at && now < renewal_paused_until_);
}

ResultTask<Session::TokenPtr> Session::token(TokenPtr refused) {
    while (true) {
        if (token_ && token_ != refused && is_good(*token_)) co_return token_;
        const auto flight = flight_;
        if (!flight) break;
        boost::system::error_code ignored;
        if (!flight->over)
            co_await flight->landed.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (flight->result) co_return *flight->result;
        if (!flight->over) co_return Error{Errc::cancelled, "authentication: cancelled"};
    }
    if (refused_ && clock_.steady() < refused_->until) co_return refused_->why;
    flight_ = std::make_shared<Flight>(executor_);
    const auto flight = flight_;
    const Landing landing(*this);
    Result<TokenPtr> fetched = co_await fetch_token();
    note_refusal(fetched);
    if (fetched)
        token_ = *fetched;
    else if (may_keep(token_, refused, fetched.error()))
        fetched = token_;
    flight->result = fetched;
    co_return fetched;
}

void Session::note_refusal(const Result<TokenPtr>& fetched) {
    if (fetched) refused_.reset();
    if (fetched || fetched.error().code != Errc::unauthorized) return;
    constexpr std::size_t last = std::size(refusal_pauses) - 1;
    const std::size_t times = refused_ ? refused_->times : 0;
    const Duration pause = refusal_pauses[std::min(times, last)];
    Error why = fetched.error();
    why.what += "; not tried again before " + iso_time(clock_.now() + pause);
    refused_ = Refused{times + 1, clock_.steady() + pause, std::move(why)};
}

bool Session::may_keep(const TokenPtr& old, const TokenPtr& refused, const Error& why) {
    const bool passing = why.code == Errc::unreachable || why.code == Errc::timeout ||
                         why.code == Errc::server_error;
    if (!passing || !old || old == refused || clock_.now() >= old->expires_at) return false;
    renewal_paused_until_ = clock_.now() + renewal_pause;
    spdlog::warn("{}; the present token is used on while it is valid", why.what);
    return true;
}

ResultTask<Session::TokenPtr> Session::fetch_token() {
    http::Request request;
    request.method = http::Method::post;
    request.url = keystone_ + "/auth/tokens";
    request.service = project_name(CloudService::identity);
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = auth_body(cloud_.credentials);
    request.repeat = http::Repeat::safe;  // a second token does no harm
    Answer answer;
    answer.where = name_call(request.service, request.method, request.url);
    auto response = co_await client_->call(std::move(request));
    if (!response) co_return response.error();
    answer.response = std::move(*response);
    if (answer.response.status != 201) co_return auth_error(answer);
    auto token = token_from(answer);
    if (token)
        spdlog::debug("keystone: token for {} until {}", describe(cloud_.credentials),
                      iso_time((*token)->body.info.expires));
    co_return token;
}

Result<Session::TokenPtr> Session::token_from(const Answer& answer) const {
    const std::string_view text = answer.response.header("x-subject-token");
    if (text.empty())
        return Error{Errc::bad_answer, answer.where + ": header X-Subject-Token is missing"};
    auto body = read_token(answer.response.body, answer.where);
    if (!body) return body.error();
    // Counted from now by Keystone's own clock, so that a wrong clock of ours does no harm.
    const Duration life = body->info.expires - body->issued;
    const Duration margin = std::min(renewal_margin, life / 2);
    auto token = std::make_shared<Token>();
    token->text = text;
    token->body = std::move(*body);
    token->expires_at = clock_.now() + life;
    token->renew_at = token->expires_at - margin;
    return token;
}

Error Session::auth_error(const Answer& answer) const {
    const config::Credentials& with = cloud_.credentials;
    Error error = status_error(answer, describe(with));
    const int status = answer.response.status;
    if (status == 401) {
        const std::string check =
            with.uses_application_credential()
                ? "check its secret, and whether it expired or was deleted"
                : "check name, domain and password, and its role on the project";
        error.what = "Keystone at " + keystone_ + " refused the credentials of " + describe(with) +
                     " (401): " + check;
        const std::string message = service_message(answer.response.body);
        if (!message.empty()) error.what += "; it says: " + message;
    } else if (status == 404) {
        error.what += "; is cloud.auth.auth_url the address of Keystone?";
    }
    // A proxy may echo what it was sent.
    error.what = http::without(std::move(error.what), with.password.reveal());
    error.what = http::without(std::move(error.what), with.application_credential_secret.reveal());
    return error;
}

Result<std::string> Session::endpoint_in(const Token& token, CloudService service) const {
    const auto given = cloud_.endpoint_overrides.find(std::string(to_string(service)));
    std::string url;
    if (given != cloud_.endpoint_overrides.end() && !given->second.empty()) {
        url = given->second;
    } else {
        auto chosen = choose_endpoint(token.body.catalog, service, cloud_.region, cloud_.interface);
        if (!chosen) return chosen.error();
        url = std::move(*chosen);
    }
    if (auto parsed = http::parse_url(url); !parsed)
        return Error{Errc::bad_input, "endpoint for " + std::string(to_string(service)) + ": " +
                                          parsed.error().what};
    url = without_slash(std::move(url));
    if (service == CloudService::identity) return keystone_root(url);
    return url;
}

ResultTask<std::string> Session::url_of(CloudService service) {
    TokenPtr none;
    auto current = co_await token(std::move(none));
    if (!current) co_return current.error();
    co_return endpoint_in(**current, service);
}

ResultTask<Answer> Session::call(CloudService service, ServiceCall call) {
    auto base = co_await url_of(service);
    if (!base) co_return base.error();
    co_return co_await call_at(service, std::move(*base), std::move(call));
}

namespace {

/// A token that is refused says nothing of a try before, whose answer was lost.
Error as_far_as_known(Error error, const Answer& refused) {
    if (!refused.response.repeated || !surely_not_done(error.code)) return error;
    error.code = Errc::unreachable;
    error.what += "; the try before it may have been done";
    return error;
}

}  // namespace

ResultTask<Answer> Session::call_at(CloudService service, std::string base, ServiceCall call) {
    TokenPtr refused;
    auto current = co_await token(refused);
    if (!current) co_return current.error();
    auto answer = co_await send(service, base, call, **current);
    if (!answer || answer->response.status != 401) co_return answer;

    refused = *current;
    auto renewed = co_await token(refused);
    if (!renewed) co_return as_far_as_known(renewed.error(), *answer);
    auto second = co_await send(service, base, call, **renewed);
    if (!second) co_return second;
    second->response.repeated = second->response.repeated || answer->response.repeated;
    if (second->response.status != 401) co_return second;
    Error error = refusal(*second);
    error.code = Errc::bad_token;  // Keystone did not refuse us
    error.what += "; even with a new token: does it ask the same Keystone?";
    co_return as_far_as_known(std::move(error), *second);
}

ResultTask<Answer> Session::send(CloudService service, const std::string& base,
                                 const ServiceCall& call, const Token& token) {
    http::Request request;
    request.method = call.method;
    request.url = base + call.path;
    request.service = project_name(service);
    request.headers = call.headers;
    request.headers.push_back({"X-Auth-Token", token.text});
    if (!call.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.body = call.body;
    request.repeat = call.repeat;
    request.still_wanted = call.still_wanted;
    request.deadline = call.deadline;
    Answer answer;
    answer.where = name_call(request.service, request.method, request.url);
    auto response = co_await client_->call(std::move(request));
    if (!response) co_return response.error();
    answer.response = std::move(*response);
    co_return answer;
}

ResultTask<AuthInfo> Session::authenticate() {
    TokenPtr refused = token_;
    auto fresh = co_await token(std::move(refused));
    if (!fresh) co_return fresh.error();
    co_return (*fresh)->body.info;
}

ResultTask<AuthInfo> Session::who() {
    TokenPtr none;
    auto good = co_await token(std::move(none));
    if (!good) co_return good.error();
    co_return (*good)->body.info;
}

Error Session::refusal(const Answer& answer) const {
    std::string who = describe(cloud_.credentials);
    if (token_)
        who = "user " + one_line(token_->body.info.user_name, 100) + " on project " +
              one_line(token_->body.info.project_name, 100);
    Error error = status_error(answer, who);
    if (token_) error.what = http::without(std::move(error.what), token_->text);
    return error;
}

ResultTask<Answer> get(std::shared_ptr<Session> keystone, std::string path) {
    ServiceCall call;
    call.path = std::move(path);
    co_return co_await keystone->call(CloudService::identity, std::move(call));
}

}  // namespace reaper::openstack
