#include "tests/cloudsim/api/site.hpp"

#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/services.hpp"
#include "tests/cloudsim/core/seeding.hpp"

namespace reaper::cloudsim {

namespace {

using Service = Response (*)(Call&, std::span<const std::string>);

struct Mount {
    const char* prefix;
    Service service;
};

constexpr Mount mounts[] = {
    {"identity", keystone}, {"placement", placement}, {"compute", nova},
    {"image", glance},      {"network", neutron},
};

ContextPtr context_of(const Token& token, const Uuid& request, const Request& call) {
    auto context = std::make_shared<Context>();
    context->user_id = token.user->id;
    context->user_name = token.user->name;
    context->project_id = token.project->id;
    context->project_name = token.project->name;
    context->roles = token.roles;
    context->is_admin = token.is_admin();
    context->request = request;
    const std::string_view given = call.header("x-openstack-request-id");
    if (given.starts_with("req-")) context->given = Uuid::parse(given.substr(4));
    return context;
}

std::string action_in(const Request& request) {
    if (request.method != "POST" || request.path.empty() || request.path.back() != "action")
        return "";
    const auto document = nlohmann::json::parse(request.body, nullptr, false);
    return document.is_object() && !document.empty() ? document.begin().key() : "";
}

/// The user that asks for a token; empty if it is not known.
std::string login_name(const Identity& identity, const Request& request) {
    const auto document = nlohmann::json::parse(request.body, nullptr, false);
    try {
        const auto& said = document.at("auth").at("identity");
        if (said.contains("application_credential")) {
            const auto& with = said["application_credential"];
            const auto* credential = identity.credential(with.value("id", ""));
            const User* user = credential ? identity.user(credential->user) : nullptr;
            return user ? user->name : "";
        }
        const auto& with = said.at("password").at("user");
        const User* user = identity.user(with.value("id", ""));
        return user ? user->name : with.value("name", "");
    } catch (const nlohmann::json::exception&) {
        return "";
    }
}

Response made_to_fail(const FaultRule& rule) {
    Response response = json_response(rule.status.value_or(500), rule.body);
    if (response.body.empty())
        response.body = R"({"error":{"code":)" + std::to_string(response.status) +
                        R"(,"message":"made to fail","title":"Fault"}})";
    return response;
}

}  // namespace

Site::Site(Settings settings, std::function<Time()> real, Seeder seeder)
    : real_(std::move(real)),
      seeder_(seeder ? std::move(seeder) : Seeder(seed)),
      world_(std::make_unique<World>(std::move(settings), real_)) {
    lifecycle_ = std::make_unique<Lifecycle>(*world_);
    witness_ = std::make_unique<Witness>(world_->clock, world_->settings.log_limit);
    listen(*witness_);
}

std::string Site::fill() {
    return reset_to_start();
}

void Site::listen(Listener& listener) {
    world_->listeners.push_back(&listener);
}

void Site::reset_to_empty() {
    lifecycle_->clear_servers();
    world_->deletions_to_lose = 0;
    faults_.clear();
    const auto no_user = std::make_shared<const Context>();
    while (!world_->nova.aggregates.empty()) {
        Aggregate& aggregate = *world_->nova.aggregates.back();
        while (!aggregate.hosts.empty())
            lifecycle_->remove_from_aggregate(
                aggregate, *world_->nova.find_host(aggregate.hosts.back()), no_user);
        lifecycle_->delete_aggregate(aggregate, no_user);
    }
    world_->nova.groups.clear();
    for (const auto& host : world_->nova.hosts) {
        host->held = host->agent_down = false;
        if (host->disabled) lifecycle_->set_service(*host, false, {}, no_user);
        if (host->forced_down) lifecycle_->force_down(*host, false, no_user);
    }
}

std::string Site::reset_to_start() {
    const bool manual = world_->clock.manual();
    const double speed = world_->clock.speed();
    auto fresh = std::make_unique<World>(world_->settings, real_);
    auto lifecycle = std::make_unique<Lifecycle>(*fresh);
    std::string wrong = seeder_(*fresh, *lifecycle);
    if (!wrong.empty()) return wrong;
    fresh->identity.adopt_tokens(world_->identity);
    fresh->listeners = std::move(world_->listeners);
    fresh->clock.set_speed(speed);
    fresh->clock.set_manual(manual);
    world_ = std::move(fresh);
    lifecycle_ = std::move(lifecycle);
    witness_->use(world_->clock);
    faults_.clear();
    return {};
}

Response Site::answer(const Request& request, const Token* token) {
    std::span<const std::string> path(request.path);
    bool soft = false;
    if (!path.empty() && path[0] == "soft") {
        soft = true;
        path = path.subspan(1);
    }
    const std::string_view first = path.empty() ? std::string_view() : path[0];
    for (const Mount& mount : mounts) {
        if (first != mount.prefix) continue;
        Call call{*world_, *lifecycle_, request, root_ + (soft ? "/soft/" : "/") + mount.prefix,
                  root_,   nullptr,     token,   world_->rng.uuid(),
                  0,       soft,        {}};
        if (token) call.by = context_of(*token, call.request_id, request);
        return mount.service(call, path.subspan(1));
    }
    return json_response(404, R"({"error":{"code":404,"message":"Nothing is here; try /identity, )"
                              R"(/placement, /compute or /admin","title":"Not Found"}})");
}

void Site::note(const Request& request, const std::string& user, int status) {
    WitnessEntry entry;
    entry.service = request.path.empty() ? "" : request.path[0];
    if (entry.service == "soft" && request.path.size() > 1) entry.service = request.path[1];
    entry.method = request.method;
    entry.path = request.path_text();
    entry.query = request.query_text();
    entry.user = user;
    if (request.method == "POST" && entry.path.ends_with("/auth/tokens"))
        entry.user = login_name(world_->identity, request);
    entry.action = action_in(request);
    entry.status = status;
    witness_->on_request(std::move(entry));
}

Micros Site::delay_of(const Request& request) const {
    const Delays& delays = world_->settings.delays;
    const std::string path = request.path_text();
    const bool lists = request.method == "GET" && path.find("/compute/") != std::string::npos &&
                       (path.ends_with("/servers") || path.ends_with("/servers/detail"));
    return delays.call + (lists ? delays.list : Micros{0});
}

Response Site::handle(const Request& request) {
    world_->clock.run_due();
    if (!request.path.empty() && request.path[0] == "admin") return admin(*this, request);
    const Token* token =
        world_->identity.check(std::string(request.header("x-auth-token")), world_->clock.now());
    // The answer may revoke the token.
    const std::string user = token ? token->user->name : "";
    const auto fault = faults_.take(request, user);
    Response response;
    if (fault && (fault->status || fault->drop))
        response = made_to_fail(*fault);
    else
        response = answer(request, token);
    const auto delay = static_cast<double>(delay_of(request).count());
    response.latency = Micros{static_cast<std::int64_t>(delay / world_->clock.speed())};
    if (fault) {
        response.latency += fault->latency;
        response.truncate_at = fault->truncate_at;
        response.drop = fault->drop || fault->drop_after;
    }
    note(request, user, response.drop ? 0 : response.status);
    world_->clock.run_due();
    return response;
}

}  // namespace reaper::cloudsim
