#include "clients/openstack/keystone.hpp"

#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/text.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/keystone_format.hpp"

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
        std::string path = "/projects?tags=" + http::escape(tag);
        auto projects = co_await list(std::move(path));
        // A filter that Keystone does not know is ignored silently: what has no tag is not ours.
        if (projects)
            std::erase_if(*projects,
                          [&](const Project& project) { return !project.tags.contains(tag); });
        co_return projects;
    }

    ResultTask<std::optional<Project>> find_project(std::string id_or_name) {
        if (id_or_name.empty()) co_return Error{Errc::bad_input, "project: no name or id given"};
        ServiceCall by_id;
        by_id.path = "/projects/" + http::escape(id_or_name);
        auto answer = co_await session_->call(CloudService::identity, std::move(by_id));
        if (!answer) co_return answer.error();
        if (answer->response.status == 200) {
            auto project = read_project(answer->response.body, answer->where);
            if (!project) co_return project.error();
            co_return std::optional<Project>(std::move(*project));
        }
        if (answer->response.status != 404) co_return session_->refusal(*answer);
        std::string path = "/projects?name=" + http::escape(id_or_name);
        auto projects = co_await list(std::move(path));
        if (!projects) co_return projects.error();
        std::erase_if(*projects,
                      [&](const Project& project) { return project.name != id_or_name; });
        co_return only(std::move(*projects), id_or_name);
    }

    ResultTask<std::string> own_user() {
        auto who = co_await session_->who();
        if (!who) co_return who.error();
        co_return who->user_id;
    }

private:
    ResultTask<std::vector<Project>> list(std::string path) {
        ServiceCall call;
        call.path = std::move(path);
        auto answer = co_await session_->call(CloudService::identity, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return session_->refusal(*answer);
        co_return read_projects(answer->response.body, answer->where);
    }

    static Result<std::optional<Project>> only(std::vector<Project> projects,
                                               const std::string& name) {
        if (projects.empty()) return std::optional<Project>();
        if (projects.size() == 1) return std::optional<Project>(std::move(projects.front()));
        std::string text = "project " + http::one_line(name, 100) + ": there are " +
                           std::to_string(projects.size()) + " of that name; give the id of one:";
        for (const Project& project : projects)
            text += ' ' + http::one_line(project.id.str(), 64) + " (domain " +
                    http::one_line(project.domain, 64) + ')';
        return Error{Errc::bad_input, http::one_line(text, 600)};
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
    ResultTask<std::optional<Project>> find_project(std::string id_or_name) override {
        return http::keeping(keystone_, keystone_->find_project(std::move(id_or_name)));
    }

    ResultTask<std::string> own_user() override {
        return http::keeping(keystone_, keystone_->own_user());
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
