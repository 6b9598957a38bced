// Keystone's answers as records. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/openstack/openstack.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/identity.hpp"

namespace reaper::openstack {

// Keystone's catalog: which service is where. Pure.

struct CatalogEndpoint {
    std::string type;  ///< of its service
    std::string region;
    std::string interface;
    std::string url;
};

struct Catalog {
    std::vector<CatalogEndpoint> endpoints;
};

/// The one endpoint of that service in that region (empty: there must be only one in the catalog)
/// and interface. `bad_input` says what there is instead, and which setting to change.
Result<std::string> choose_endpoint(const Catalog& catalog, CloudService service,
                                    const std::string& region, const std::string& interface);

/// `{"domain": {"name": ...}}`
Result<std::string> read_domain_name(std::string_view body, const std::string& where);
/// The body of an answer of `POST /v3/auth/tokens`; the token itself is in a header.
struct TokenBody {
    AuthInfo info;
    TimePoint issued{};
    Catalog catalog;
};

/// `where` names the call in the error, as for all functions here: `GET keystone ...`.
Result<TokenBody> read_token(std::string_view body, const std::string& where);
/// The body of an answer of `GET /v3/auth/tokens`, whatever the token is for.
Result<TokenOwner> read_token_owner(std::string_view body, const std::string& where);
enum class Listed { all, enabled };
/// `{"projects": [...]}`. A part of a list is `bad_answer`.
Result<std::vector<Project>> read_projects(std::string_view body, const std::string& where,
                                           Listed listed = Listed::all);
/// The same, of which a part will do.
Result<ProjectNames> read_project_names(std::string_view body, const std::string& where);
/// `{"project": {...}}`
Result<Project> read_project(std::string_view body, const std::string& where);
/// `{"application_credential": {"expires_at": ...}}`; none: never.
Result<std::optional<TimePoint>> read_credential_expires(std::string_view body,
                                                         const std::string& where);
/// `{"version": {"id": "v3.14"}}`: 3.14
Result<std::string> read_keystone_version(std::string_view body, const std::string& where);

}  // namespace reaper::openstack
