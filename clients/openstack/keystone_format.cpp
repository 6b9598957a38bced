#include "clients/openstack/keystone_format.hpp"

#include <algorithm>
#include <set>

#include "clients/openstack/reading.hpp"
#include "reaper/model/text.hpp"

namespace reaper::openstack {

namespace {

using Endpoints = std::vector<const CatalogEndpoint*>;

/// `compute`; old catalogs have the version in the type.
bool is_type(std::string_view type, CloudService service) {
    const std::string_view wanted = to_string(service);
    if (type == wanted) return true;
    return (service == CloudService::compute && type == "computev21") ||
           (service == CloudService::identity && type == "identityv3");
}

template <class Member>
std::set<std::string> all(const Endpoints& endpoints, Member member) {
    std::set<std::string> values;
    for (const CatalogEndpoint* endpoint : endpoints) values.insert((endpoint->*member));
    return values;
}

std::string listed(const std::set<std::string>& values) {
    const std::string list = joined(values);
    return list.empty() ? "nothing" : one_line(list, 300);
}

Endpoints where(const Endpoints& endpoints, auto condition) {
    Endpoints found;
    std::ranges::copy_if(endpoints, std::back_inserter(found),
                         [&](const CatalogEndpoint* endpoint) { return condition(*endpoint); });
    return found;
}

Error no_endpoint(CloudService service, const std::string& what) {
    const std::string name(to_string(service));
    return {Errc::bad_input, "no endpoint for " + name + ": " + what};
}

}  // namespace

Result<std::string> choose_endpoint(const Catalog& catalog, CloudService service,
                                    const std::string& region, const std::string& interface) {
    Endpoints everything;
    for (const CatalogEndpoint& endpoint : catalog.endpoints) everything.push_back(&endpoint);
    const std::string name(to_string(service));

    const auto regions = all(everything, &CatalogEndpoint::region);
    if (region.empty() && regions.size() > 1)
        return no_endpoint(service, "the catalog has several regions (" + listed(regions) +
                                        "); set cloud.region to one of them");
    if (!region.empty() && !everything.empty() && !regions.contains(region))
        return no_endpoint(service, "there is no region " + one_line(region, 100) +
                                        "; the catalog has " + listed(regions) +
                                        "; change cloud.region");
    const Endpoints typed = where(everything, [&](const CatalogEndpoint& endpoint) {
        return is_type(endpoint.type, service);
    });
    if (typed.empty())
        return no_endpoint(service, "the catalog has no such service, only " +
                                        listed(all(everything, &CatalogEndpoint::type)) +
                                        "; register it in Keystone or set cloud.endpoints." + name);
    const Endpoints here = where(typed, [&](const CatalogEndpoint& endpoint) {
        return region.empty() || endpoint.region == region;
    });
    if (here.empty())
        return no_endpoint(service, "it is not in region " + region + " but in " +
                                        listed(all(typed, &CatalogEndpoint::region)) +
                                        "; change cloud.region or set cloud.endpoints." + name);
    const Endpoints chosen = where(here, [&](const CatalogEndpoint& endpoint) {
        return endpoint.interface == interface || endpoint.interface == interface + "URL";
    });
    if (chosen.empty())
        return no_endpoint(service, "it has no " + interface + " interface, only " +
                                        listed(all(here, &CatalogEndpoint::interface)) +
                                        "; change cloud.interface");
    return chosen.front()->url;
}

namespace {

Project project_from(const JsonPlace& row) {
    Project project;
    project.id = ProjectId(row["id"].id());
    project.name = row["name"].text();
    project.domain = row.text_or_empty("domain_id");  // null for a domain itself
    project.parent = ProjectId(row.text_or_empty("parent_id"));
    if (const auto tags = row.maybe("tags")) project.tags = tags->text_set();
    return project;
}

Catalog catalog_from(const JsonPlace& services) {
    Catalog catalog;
    services.each([&](const JsonPlace& service) {
        const std::string type = service["type"].text();
        service["endpoints"].each([&](const JsonPlace& endpoint) {
            std::string region = endpoint.text_or_empty("region_id");
            if (region.empty()) region = endpoint.text_or_empty("region");
            catalog.endpoints.push_back({type, std::move(region), endpoint["interface"].text(),
                                         endpoint.text_or_empty("url")});
        });
    });
    return catalog;
}

TokenBody token_from(const JsonPlace& token) {
    TokenBody body;
    const JsonPlace user = token["user"];
    body.info.user_id = user["id"].text();
    body.info.user_name = user["name"].text();
    if (const auto expires = user.maybe("password_expires_at"))
        body.info.password_expires = expires->time();
    if (const auto credential = token.maybe("application_credential"))
        body.info.application_credential = (*credential)["id"].text();
    const JsonPlace domain = user["domain"];
    body.info.user_domain = domain["name"].text();
    const auto project = token.maybe("project");
    if (!project) token.fail("for no project; set project_name");
    body.info.project_id = (*project)["id"].text();
    body.info.project_name = (*project)["name"].text();
    const JsonPlace project_domain = (*project)["domain"];
    body.info.project_domain = project_domain["name"].text();
    token["roles"].each(
        [&](const JsonPlace& role) { body.info.roles.push_back(role["name"].text()); });
    body.info.expires = token["expires_at"].time();
    body.issued = token["issued_at"].time();
    body.catalog = catalog_from(token["catalog"]);
    return body;
}

TokenOwner token_owner_from(const JsonPlace& token) {
    TokenOwner owner;
    const JsonPlace user = token["user"];
    owner.user = user["name"].text();
    const JsonPlace domain = user["domain"];
    owner.user_domain = domain["name"].text();
    if (const auto project = token.maybe("project"))
        owner.project = ProjectId{(*project)["id"].text()};
    // A token for nothing has none.
    if (const auto roles = token.maybe("roles"))
        roles->each([&](const JsonPlace& role) { owner.roles.push_back(role["name"].text()); });
    owner.expires = token["expires_at"].time();
    return owner;
}

}  // namespace

Result<TokenBody> read_token(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) { return token_from(top["token"]); });
}

Result<TokenOwner> read_token_owner(std::string_view body, const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return token_owner_from(top["token"]); });
}

Result<std::optional<TimePoint>> read_credential_expires(std::string_view body,
                                                         const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace credential = top["application_credential"];
        const auto expires = credential.maybe("expires_at");
        return expires ? std::optional{expires->time()} : std::nullopt;
    });
}

Result<std::vector<Project>> read_projects(std::string_view body, const std::string& where,
                                           Listed listed) {
    return read_answer(body, where, [listed](const JsonPlace& top) {
        if (top.boolean_or("truncated", false))
            top.fail("only a part of the list (truncated); raise list_limit in Keystone");
        if (top.has("links") && top["links"].has("next"))
            top.fail("only a part of the list (it has a next page)");
        std::vector<Project> projects;
        top["projects"].each([&](const JsonPlace& row) {
            Project project = project_from(row);
            if (listed == Listed::all || row.boolean_or("enabled", true))
                projects.push_back(std::move(project));
        });
        return projects;
    });
}

Result<ProjectNames> read_project_names(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        ProjectNames names;
        top["projects"].each([&](const JsonPlace& row) {
            names.insert_or_assign(ProjectId(row["id"].id()), row["name"].text());
        });
        return names;
    });
}

Result<Project> read_project(std::string_view body, const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return project_from(top["project"]); });
}

Result<std::string> read_domain_name(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace domain = top["domain"];
        return domain["name"].text();
    });
}

Result<std::string> read_keystone_version(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace version = top["version"];
        const std::string id = version["id"].text();
        return id.starts_with('v') ? id.substr(1) : id;
    });
}

}  // namespace reaper::openstack
