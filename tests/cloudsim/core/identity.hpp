// Keystone's books: projects, users, roles, tokens. One domain, `default`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/cloudsim/core/clock.hpp"
#include "tests/cloudsim/core/nova.hpp"

namespace reaper::cloudsim {

struct Project {
    std::string id;  ///< 32 hexadecimal digits
    std::string name;
    std::string description;
    std::string parent = "default";
    bool enabled = true;
    std::vector<std::string> tags;
};

struct User {
    std::string id;
    std::string name;
    std::string password;
    std::string default_project;                           ///< id; where logins without a scope go
    std::set<std::pair<std::string, std::string>> grants;  ///< (project id, role name)
};

struct ApplicationCredential {
    std::string id;
    std::string name;
    std::string secret;
    std::string user;     ///< id
    std::string project;  ///< id
    std::string description;
};

struct Token {
    std::string text;
    std::string method;  ///< password, token, application_credential
    const User* user = nullptr;
    const Project* project = nullptr;
    std::vector<std::string> roles;
    std::string audit;
    Time issued{};
    Time expires{};

    bool is_admin() const;
};

class Identity {
public:
    Identity(SeededRng& rng, Micros token_life) : rng_(rng), token_life_(token_life) {}

    std::vector<std::unique_ptr<Project>> projects;
    std::vector<std::unique_ptr<User>> users;
    std::vector<std::unique_ptr<ApplicationCredential>> credentials;
    /// Name to id. A role implies those after it: admin, member, reader.
    std::map<std::string, std::string> roles;

    Project* project(const std::string& id) const;
    Project* project_named(const std::string& name) const;
    User* user(const std::string& id) const;
    User* user_named(const std::string& name) const;
    ApplicationCredential* credential(const std::string& id) const;

    Project& add_project(const std::string& name, std::vector<std::string> tags = {});
    User& add_user(const std::string& name, const std::string& password);
    const std::string& add_role(const std::string& name);
    std::string new_id() { return rng_.uuid().hex(); }
    /// Roles of a user in a project, with the implied ones.
    std::vector<std::string> roles_of(const User& user, const Project& project) const;
    void remove_project(const std::string& id);
    void remove_user(const std::string& id);

    /// The user has a role there.
    const Token& issue(const User& user, const Project& project, std::string method, Time now);
    /// None: unknown or expired.
    const Token* check(const std::string& text, Time now) const;
    /// Of tokens that are issued from now on.
    void set_token_life(Micros life) { token_life_ = life; }
    void revoke(const std::string& text) { tokens_.erase(text); }
    /// Tokens of another cloud for users and projects that are here, too.
    void adopt_tokens(const Identity& other);

private:
    SeededRng& rng_;
    Micros token_life_;
    std::unordered_map<std::string, std::unique_ptr<Token>> tokens_;
};

}  // namespace reaper::cloudsim
