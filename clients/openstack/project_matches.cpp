#include "clients/openstack/project_matches.hpp"

#include <utility>

#include "clients/http/text.hpp"
#include "reaper/model/text.hpp"

namespace reaper::openstack {
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
    return "'" + http::one_line(text, longest_shown) + "'";
}

}  // namespace

std::vector<std::string> ProjectMatches::possible_ids() const {
    std::vector<std::string> ids;
    // Every text but one with a slash may be an id: Keystone's own are not the only ones.
    if (!written_.empty() && written_.find('/') == std::string::npos) ids.push_back(written_);
    if (auto id = canonical_id(written_); !id.empty() && id != written_)
        ids.push_back(std::move(id));
    return ids;
}

std::vector<QualifiedName> ProjectMatches::possible_names() const {
    std::vector<QualifiedName> names;
    for (auto slash = written_.find('/'); slash != std::string::npos;
         slash = written_.find('/', slash + 1)) {
        QualifiedName name{written_.substr(0, slash), written_.substr(slash + 1)};
        if (!name.domain.empty() && !name.project.empty()) names.push_back(std::move(name));
    }
    if (!written_.empty()) names.push_back({"", written_});
    return names;
}

void ProjectMatches::add(Project project) {
    const std::string& id = project.id.str();
    // A database that compares loosely may answer with another one.
    if (id != written_ && id != canonical_id(written_)) return;
    found_.insert_or_assign(project.id, std::move(project));
}

void ProjectMatches::add_named(Project project, const std::string& name) {
    if (project.name == name)
        found_.insert_or_assign(project.id, std::move(project));
    else if (to_lower(project.name) == to_lower(name))
        near_ = project.name;
}

ProjectSearch ProjectMatches::result() && {
    ProjectSearch search;
    if (found_.size() == 1)
        search.found = std::move(found_.begin()->second);
    else
        search.why_not = found_.empty() ? none() : several();
    search.several = found_.size() > 1;
    return search;
}

std::string ProjectMatches::none() const {
    if (written_.empty()) return "no name or id of a project is given";
    std::string text =
        "Keystone has no project of the id or name " + in_quotes(written_) + " (nor DOMAIN/NAME)";
    if (!near_.empty()) text += "; there is " + in_quotes(near_) + ": names are case-sensitive";
    return text;
}

std::string ProjectMatches::several() const {
    constexpr std::size_t at_most = 5;
    std::string text = "Keystone has " + std::to_string(found_.size()) + " projects that " +
                       in_quotes(written_) + " may mean: write DOMAIN/NAME, or the id of one: ";
    std::size_t told = 0;
    for (const auto& [id, project] : found_) {
        if (told == at_most) return text + ", ...";
        text += (told++ == 0 ? "" : ", ") + http::one_line(id.str(), 64) + " (domain " +
                http::one_line(project.domain, 64) + ")";
    }
    return text;
}

}  // namespace reaper::openstack
