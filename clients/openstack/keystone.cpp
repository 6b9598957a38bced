// Keystone as the Identity port.
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/refusal.hpp"
#include "clients/http/text.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/keystone_format.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/project_matches.hpp"

namespace reaper::openstack {

namespace {

class Keystone {
public:
    explicit Keystone(std::shared_ptr<Session> session) : session_(std::move(session)) {}

    ResultTask<std::vector<Project>> projects_with_tag(std::string tag) {
        // A comma would ask for projects with several tags.
        if (tag.empty() || tag.find_first_of(",/") != std::string::npos)
            co_return Error{Errc::bad_input,
                            "project tag \"" + http::one_line(tag, 100) +
                                "\": Keystone's tags are not empty and have no comma or slash"};
        std::string path = "/projects?tags=" + http::escape(tag) + "&enabled=true";
        auto projects = co_await list(std::move(path), Listed::enabled);
        // A filter that Keystone does not know is ignored silently: what has no tag is not ours.
        if (projects)
            std::erase_if(*projects,
                          [&](const Project& project) { return !project.tags.contains(tag); });
        co_return projects;
    }

    ResultTask<ProjectSearch> find_project(std::string written) {
        ProjectMatches matches{written};
        for (const std::string& id : matches.possible_ids()) {
            auto found = co_await by_id(id);
            if (!found) co_return found.error();
            if (*found) matches.add(std::move(**found));
        }
        for (const QualifiedName& name : matches.possible_names()) {
            // The first way of reading it that leads anywhere is the right one: nobody takes it
            // over with a project whose name is another's id, or has a domain's in front.
            if (matches.any()) break;
            auto found = co_await add_named(name, matches);
            if (!found) co_return found.error();
        }
        co_return std::move(matches).result();
    }

    ResultTask<ProjectNames> names_of_projects() {
        ServiceCall call;
        call.path = "/projects";
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return session_->refusal(*answer);
        co_return read_project_names(answer->response.body, answer->where);
    }

    ResultTask<std::string> own_user() {
        auto who = co_await session_->who();
        if (!who) co_return who.error();
        co_return who->user_id;
    }

    ResultTask<std::optional<TimePoint>> credential_expires() {
        auto who = co_await session_->who();
        if (!who) co_return who.error();
        if (who->application_credential.empty()) co_return who->password_expires;
        ServiceCall call;
        call.path = "/users/" + http::escape(who->user_id) + "/application_credentials/" +
                    http::escape(who->application_credential);
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        // A right that nothing else needs.
        if (status == 403 || status == 404) co_return std::optional<TimePoint>();
        if (status != 200) co_return session_->refusal(*answer);
        co_return read_credential_expires(answer->response.body, answer->where);
    }

    ResultTask<std::optional<TokenOwner>> owner_of(std::string token) {
        ServiceCall call;
        call.path = "/auth/tokens?nocatalog";
        call.headers.push_back({"X-Subject-Token", token});
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return std::optional<TokenOwner>();
        if (answer->response.status != 200) {
            Error refusal = session_->refusal(*answer);
            refusal.what = http::without(std::move(refusal.what), token);
            co_return refusal;
        }
        auto owner = read_token_owner(answer->response.body, answer->where);
        if (!owner) co_return owner.error();
        co_return std::optional<TokenOwner>(std::move(*owner));
    }

private:
    ResultTask<std::vector<Project>> list(std::string path, Listed listed) {
        ServiceCall call;
        call.path = std::move(path);
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return session_->refusal(*answer);
        co_return read_projects(answer->response.body, answer->where, listed);
    }

    ResultTask<void> add_named(const QualifiedName& name, ProjectMatches& matches) {
        std::string path = "/projects?name=" + http::escape(name.project);
        auto projects = co_await list(std::move(path), Listed::all);
        if (!projects) co_return projects.error();
        for (Project& project : *projects) {
            auto there = co_await is_in(project.domain, name.domain);
            if (!there) co_return there.error();
            if (*there) matches.add_named(std::move(project), name.project);
        }
        co_return Result<void>{};
    }

    ResultTask<std::optional<Project>> by_id(std::string id) {
        ServiceCall call;
        call.path = "/projects/" + http::escape(id);
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return std::optional<Project>();
        if (answer->response.status != 200) co_return session_->refusal(*answer);
        auto project = read_project(answer->response.body, answer->where);
        if (!project) co_return project.error();
        co_return std::optional<Project>(std::move(*project));
    }

    /// Is the domain of this id the one that is meant? None meant: any is.
    ResultTask<bool> is_in(std::string id, std::string meant) {
        if (meant.empty() || meant == id) co_return true;
        ServiceCall call;
        call.path = "/domains/" + http::escape(id);
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return false;
        if (answer->response.status != 200) co_return session_->refusal(*answer);
        auto name = read_domain_name(answer->response.body, answer->where);
        if (!name) co_return name.error();
        co_return *name == meant;
    }

    std::shared_ptr<Session> session_;
};

class KeystoneIdentity final : public Identity {
public:
    explicit KeystoneIdentity(std::shared_ptr<Session> session)
        : keystone_(std::make_shared<Keystone>(std::move(session))) {}
    ResultTask<std::vector<Project>> projects_with_tag(std::string tag) override {
        return http::keeping(keystone_, keystone_->projects_with_tag(std::move(tag)));
    }
    ResultTask<ProjectSearch> find_project(std::string written) override {
        return http::keeping(keystone_, keystone_->find_project(std::move(written)));
    }

    ResultTask<ProjectNames> names_of_projects() override {
        return http::keeping(keystone_, keystone_->names_of_projects());
    }
    ResultTask<std::string> own_user() override {
        return http::keeping(keystone_, keystone_->own_user());
    }
    ResultTask<std::optional<TimePoint>> credential_expires() override {
        return http::keeping(keystone_, keystone_->credential_expires());
    }
    ResultTask<std::optional<TokenOwner>> owner_of(std::string token) override {
        return http::keeping(keystone_, keystone_->owner_of(std::move(token)));
    }

private:
    std::shared_ptr<Keystone> keystone_;
};

}  // namespace

std::unique_ptr<Identity> make_identity(std::shared_ptr<Session> session) {
    return std::make_unique<KeystoneIdentity>(std::move(session));
}

ResultTask<EndpointInfo> keystone_info(std::shared_ptr<Session> session) {
    auto url = co_await session->url_of(CloudService::identity);
    if (!url) co_return url.error();
    ServiceCall call;
    auto answer = co_await session->call_at(CloudService::identity, *url, std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status != 200) co_return session->refusal(*answer);
    auto version = read_keystone_version(answer->response.body, answer->where);
    if (!version) co_return version.error();
    EndpointInfo info;
    info.url = std::move(*url);
    info.version = "3";
    info.service_version = std::move(*version);
    co_return info;
}

}  // namespace reaper::openstack
