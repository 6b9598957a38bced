#include "reaper/model/project_names.hpp"

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::size_t most_of_a_name = 64;

}  // namespace

std::string name_of_project(const ProjectNames& known, const ProjectId& project) {
    const auto its = known.find(project);
    return its == known.end() ? std::string{} : its->second;
}

std::string project_text(const ProjectId& project, const std::string& name) {
    const std::string id = printable(project.str(), most_of_a_name);
    return name.empty() || name == project.str()
               ? id
               : printable(name, most_of_a_name) + " (" + id + ")";
}

std::vector<ProjectId> projects_named(const ProjectNames& known, const std::string& name) {
    std::vector<ProjectId> found;
    for (const auto& [id, its_name] : known)
        if (its_name == name) found.push_back(id);
    return found;
}

std::string several_projects(const std::string& name, const std::vector<ProjectId>& projects) {
    constexpr std::size_t most = 5;
    std::string text = std::to_string(projects.size()) + " projects are called " + in_quotes(name) +
                       ": write the id of one: ";
    for (std::size_t i = 0; i < projects.size(); ++i) {
        if (i == most) return text + ", ...";
        text += (i == 0 ? "" : ", ") + printable(projects[i].str(), most_of_a_name);
    }
    return text;
}

}  // namespace reaper
