// Keystone as the Identity port.
#include <utility>

#include "clients/http/refusal.hpp"
#include "clients/http/text.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/keystone_format.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/project_matches.hpp"
#include "clients/openstack/reading.hpp"

namespace reaper::openstack {

namespace {

using SessionPtr = std::shared_ptr<Session>;

Result<std::vector<Project>> read_all_projects(std::string_view body, const std::string& where) {
    return read_projects(body, where, Listed::all);
}

Result<std::vector<Project>> read_enabled_projects(std::string_view body,
                                                   const std::string& where) {
    return read_projects(body, where, Listed::enabled);
}

ResultTask<std::vector<Project>> list_tagged(SessionPtr keystone, std::string tag) {
    // A comma would ask for projects with several tags.
    if (tag.empty() || tag.find_first_of(",/") != std::string::npos)
        co_return Error{Errc::bad_input,
                        "project tag \"" + http::one_line(tag, 100) +
                            "\": Keystone's tags are not empty and have no comma or slash"};
    std::string path = "/projects?tags=" + http::escape(tag) + "&enabled=true";
    auto projects = co_await read(std::move(keystone), std::move(path), read_enabled_projects);
    // A filter that Keystone does not know is ignored silently: what has no tag is not ours.
    if (projects)
        std::erase_if(*projects,
                      [&](const Project& project) { return !project.tags.contains(tag); });
    co_return projects;
}

/// Is the domain of this id the one that is meant? None meant: any is.
ResultTask<bool> is_in(SessionPtr keystone, std::string id, std::string meant) {
    if (meant.empty() || meant == id) co_return true;
    std::string path = "/domains/" + http::escape(id);
    auto name = co_await find(std::move(keystone), std::move(path), read_domain_name);
    if (!name) co_return name.error();
    co_return name->has_value() && **name == meant;
}

ResultTask<void> add_named(SessionPtr keystone, const QualifiedName& name,
                           ProjectMatches& matches) {
    std::string path = "/projects?name=" + http::escape(name.project);
    auto projects = co_await read(keystone, std::move(path), read_all_projects);
    if (!projects) co_return projects.error();
    for (Project& project : *projects) {
        auto there = co_await is_in(keystone, project.domain, name.domain);
        if (!there) co_return there.error();
        if (*there) matches.add_named(std::move(project), name.project);
    }
    co_return Result<void>{};
}

ResultTask<ProjectSearch> search_project(SessionPtr keystone, std::string written) {
    ProjectMatches matches{written};
    for (const std::string& id : matches.possible_ids()) {
        std::string path = "/projects/" + http::escape(id);
        auto found = co_await find(keystone, std::move(path), read_project);
        if (!found) co_return found.error();
        if (*found) matches.add(std::move(**found));
    }
    for (const QualifiedName& name : matches.possible_names()) {
        // The first way of reading it that leads anywhere is the right one: no user can take it
        // over with a project whose name is another's id, or has a domain's in front.
        if (matches.any()) break;
        auto found = co_await add_named(keystone, name, matches);
        if (!found) co_return found.error();
    }
    co_return std::move(matches).result();
}

ResultTask<std::string> read_own_user(SessionPtr keystone) {
    auto who = co_await keystone->who();
    if (!who) co_return who.error();
    co_return who->user_id;
}

ResultTask<std::optional<TimePoint>> find_credential_expires(SessionPtr keystone) {
    auto who = co_await keystone->who();
    if (!who) co_return who.error();
    if (who->application_credential.empty()) co_return who->password_expires;
    std::string path = "/users/" + http::escape(who->user_id) + "/application_credentials/" +
                       http::escape(who->application_credential);
    auto answer = co_await get(keystone, std::move(path));
    const int status = answer ? answer->response.status : 0;
    // A right that nothing else needs.
    if (status == 403 || status == 404) co_return std::optional<TimePoint>();
    co_return record_in(answer, read_credential_expires, *keystone);
}

ResultTask<std::optional<TokenOwner>> find_token_owner(SessionPtr keystone, std::string token) {
    ServiceCall call;
    call.path = "/auth/tokens?nocatalog";
    call.headers.push_back({"X-Subject-Token", token});
    auto answer = co_await keystone->call(CloudService::identity, std::move(call));
    auto owner = found_in(answer, read_token_owner, *keystone);
    if (!owner && answer && answer->response.status != 200) {
        Error refusal = owner.error();
        refusal.what = http::without(std::move(refusal.what), token);
        co_return refusal;
    }
    co_return owner;
}

/// Its calls keep the session: they may go on when it is destroyed.
class Keystone final : public Identity {
public:
    explicit Keystone(SessionPtr session) : session_(std::move(session)) {}

    ResultTask<std::vector<Project>> projects_with_tag(std::string tag) override {
        return list_tagged(session_, std::move(tag));
    }
    ResultTask<ProjectSearch> find_project(std::string written) override {
        return search_project(session_, std::move(written));
    }
    ResultTask<ProjectNames> names_of_projects() override {
        return read(session_, "/projects", read_project_names);
    }
    ResultTask<std::string> own_user() override { return read_own_user(session_); }
    ResultTask<std::optional<TimePoint>> credential_expires() override {
        return find_credential_expires(session_);
    }
    ResultTask<std::optional<TokenOwner>> owner_of(std::string token) override {
        return find_token_owner(session_, std::move(token));
    }

private:
    SessionPtr session_;
};

}  // namespace

std::unique_ptr<Identity> make_identity(std::shared_ptr<Session> session) {
    return std::make_unique<Keystone>(std::move(session));
}

ResultTask<EndpointInfo> keystone_info(std::shared_ptr<Session> session) {
    auto url = co_await session->url_of(CloudService::identity);
    if (!url) co_return url.error();
    ServiceCall call;
    auto answer = co_await session->call_at(CloudService::identity, *url, std::move(call));
    auto version = record_in(answer, read_keystone_version, *session);
    if (!version) co_return version.error();
    EndpointInfo info;
    info.url = std::move(*url);
    info.version = "3";
    info.service_version = std::move(*version);
    co_return info;
}

}  // namespace reaper::openstack
