// Keystone as the Identity port.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clients/http/failure.hpp"
#include "clients/openstack/keystone_format.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/reading.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::openstack {

// Which project is meant by what a user wrote: an id, a name, or DOMAIN/NAME. Ids match in any
// case, with or without dashes. Names match exactly as Keystone writes them, because some databases
// return `spot` for `SPOT`. Names may hold slashes: each is tried as the end of a domain first.

struct QualifiedName {
    std::string domain;  ///< id or name; empty: any
    std::string project;
};

namespace {

constexpr std::size_t digits_of_an_id = 32;
constexpr std::size_t longest_shown = 100;

/// The id as Keystone writes it, of any spelling of it; empty: it is no such id.
std::string canonical_id(const std::string& text) {
    std::string digits = to_lower(text);
    std::erase(digits, '-');
    const bool is_id = digits.size() == digits_of_an_id &&
                       digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    return is_id ? digits : std::string{};
}

std::string in_quotes(const std::string& text) {
    return "'" + one_line(text, longest_shown) + "'";
}

}  // namespace

class ProjectMatches {
public:
    explicit ProjectMatches(std::string written) : written_(std::move(written)) {}

    /// What Keystone is to be asked for, in this order, until something is found.
    std::vector<std::string> possible_ids() const {
        std::vector<std::string> ids;
        // Every text but one with a slash may be an id: Keystone's own are not the only ones.
        if (!written_.empty() && written_.find('/') == std::string::npos) ids.push_back(written_);
        if (auto id = canonical_id(written_); !id.empty() && id != written_)
            ids.push_back(std::move(id));
        return ids;
    }

    std::vector<QualifiedName> possible_names() const {
        std::vector<QualifiedName> names;
        for (auto slash = written_.find('/'); slash != std::string::npos;
             slash = written_.find('/', slash + 1)) {
            QualifiedName name{written_.substr(0, slash), written_.substr(slash + 1)};
            if (!name.domain.empty() && !name.project.empty()) names.push_back(std::move(name));
        }
        if (!written_.empty()) names.push_back({"", written_});
        return names;
    }

    bool any() const { return !found_.empty(); }

    /// Keystone's answer to one of the ids.
    void add(Project project) {
        const std::string& id = project.id.str();
        // A database that compares loosely may answer with another one.
        if (id != written_ && id != canonical_id(written_)) return;
        found_.insert_or_assign(project.id, std::move(project));
    }

    /// One of its answers to a name, in the right domain.
    void add_named(Project project, const std::string& name) {
        if (project.name == name)
            found_.insert_or_assign(project.id, std::move(project));
        else if (to_lower(project.name) == to_lower(name))
            near_ = project.name;
    }

    ProjectSearch result() && {
        ProjectSearch search;
        if (found_.size() == 1)
            search.found = std::move(found_.begin()->second);
        else
            search.why_not = found_.empty() ? none() : several();
        search.several = found_.size() > 1;
        return search;
    }

private:
    std::string none() const {
        if (written_.empty()) return "no name or id of a project is given";
        std::string text = "Keystone has no project of the id or name " + in_quotes(written_) +
                           " (nor DOMAIN/NAME)";
        if (!near_.empty()) text += "; there is " + in_quotes(near_) + ": names are case-sensitive";
        return text;
    }

    std::string several() const {
        constexpr std::size_t at_most = 5;
        std::string text = "Keystone has " + std::to_string(found_.size()) + " projects that " +
                           in_quotes(written_) + " may mean: write DOMAIN/NAME, or the id of one: ";
        std::size_t told = 0;
        for (const auto& [id, project] : found_) {
            if (told == at_most) return text + ", ...";
            text += (told++ == 0 ? "" : ", ") + one_line(id.str(), 64) + " (domain " +
                    one_line(project.domain, 64) + ")";
        }
        return text;
    }

    std::string written_;
    std::map<ProjectId, Project> found_;
    std::string near_;  ///< a name that differs in its letters' case alone
};

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
                        "project tag \"" + one_line(tag, 100) +
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
