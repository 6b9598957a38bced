#include "tests/cloudsim/core/identity.hpp"

#include <algorithm>

namespace reaper::cloudsim {

namespace {

constexpr std::size_t most_tokens = 20'000;

template <class Things>
auto* first(const Things& things, auto condition) {
    const auto found = std::find_if(things.begin(), things.end(),
                                    [&](const auto& each) { return condition(*each); });
    return found == things.end() ? nullptr : found->get();
}

}  // namespace

bool Token::is_admin() const {
    return std::find(roles.begin(), roles.end(), "admin") != roles.end();
}

Project* Identity::project(const std::string& id) const {
    return first(projects, [&](const Project& each) { return each.id == id; });
}

Project* Identity::project_named(const std::string& name) const {
    return first(projects, [&](const Project& each) { return each.name == name; });
}

User* Identity::user(const std::string& id) const {
    return first(users, [&](const User& each) { return each.id == id; });
}

User* Identity::user_named(const std::string& name) const {
    return first(users, [&](const User& each) { return each.name == name; });
}

ApplicationCredential* Identity::credential(const std::string& id) const {
    return first(credentials, [&](const ApplicationCredential& each) { return each.id == id; });
}

Project& Identity::add_project(const std::string& name, std::vector<std::string> tags) {
    auto made = std::make_unique<Project>();
    made->id = new_id();
    made->name = name;
    made->tags = std::move(tags);
    projects.push_back(std::move(made));
    return *projects.back();
}

User& Identity::add_user(const std::string& name, const std::string& password) {
    auto made = std::make_unique<User>();
    made->id = new_id();
    made->name = name;
    made->password = password;
    users.push_back(std::move(made));
    return *users.back();
}

const std::string& Identity::add_role(const std::string& name) {
    std::string& id = roles[name];
    if (id.empty()) id = new_id();
    return id;
}

std::vector<std::string> Identity::roles_of(const User& user, const Project& project) const {
    const std::vector<std::string> ladder{"admin", "member", "reader"};
    std::vector<std::string> found;
    bool implied = false;
    for (const std::string& role : ladder) {
        implied = implied || user.grants.contains({project.id, role});
        if (implied) found.push_back(role);
    }
    for (const auto& [where, role] : user.grants)
        if (where == project.id && std::find(ladder.begin(), ladder.end(), role) == ladder.end())
            found.push_back(role);
    return found;
}

void Identity::remove_project(const std::string& id) {
    std::erase_if(tokens_, [&](const auto& each) { return each.second->project->id == id; });
    std::erase_if(projects, [&](const auto& each) { return each->id == id; });
}

void Identity::remove_user(const std::string& id) {
    std::erase_if(tokens_, [&](const auto& each) { return each.second->user->id == id; });
    std::erase_if(credentials, [&](const auto& each) { return each->user == id; });
    std::erase_if(users, [&](const auto& each) { return each->id == id; });
}

const Token& Identity::issue(const User& user, const Project& project, std::string method,
                             Time now) {
    if (tokens_.size() >= most_tokens)
        std::erase_if(tokens_, [&](const auto& each) { return each.second->expires <= now; });
    if (tokens_.size() >= most_tokens) tokens_.erase(tokens_.begin());
    auto made = std::make_unique<Token>();
    made->text = "gAAAAAB" + rng_.letters(60);
    made->method = std::move(method);
    made->user = &user;
    made->project = &project;
    made->roles = roles_of(user, project);
    made->audit = rng_.letters(22);
    made->issued = to_seconds(now);
    made->expires = made->issued + token_life_;
    const std::string text = made->text;
    return *(tokens_[text] = std::move(made));
}

void Identity::adopt_tokens(const Identity& other) {
    for (const auto& [text, token] : other.tokens_) {
        const User* its_user = user(token->user->id);
        const Project* its_project = project(token->project->id);
        if (!its_user || !its_project) continue;
        auto copy = std::make_unique<Token>(*token);
        copy->user = its_user;
        copy->project = its_project;
        tokens_[text] = std::move(copy);
    }
}

const Token* Identity::check(const std::string& text, Time now) const {
    const auto found = tokens_.find(text);
    if (found == tokens_.end() || found->second->expires <= now) return nullptr;
    return found->second.get();
}

}  // namespace reaper::cloudsim
