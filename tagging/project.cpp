// project: servers and requesters are revocable if their Keystone project carries a tag.
#include "reaper/model/project_names.hpp"
#include "tagging/taggers.hpp"

namespace reaper {
namespace {

class ProjectTagger : public Tagger {
public:
    explicit ProjectTagger(std::string tag) : tag_{std::move(tag)} {}

    std::string_view name() const override { return "project"; }
    void ask(TaggerInputs& tagger_inputs) const override {
        tagger_inputs.project_tags.insert(tag_);
    }

    bool goes_by_project() const override { return true; }

    std::optional<std::string> why_revocable(const Server& server,
                                             const TagData& tag_data) const override {
        return why(server.project, {}, tag_data);
    }
    std::optional<std::string> why_revocable(const Request& request,
                                             const TagData& tag_data) const override {
        return why(request.project, request.project_name, tag_data);
    }

private:
    /// `name`: empty where it is not known.
    std::optional<std::string> why(const ProjectId& project, const std::string& name,
                                   const TagData& tag_data) const {
        const auto projects = tag_data.projects_by_tag.find(tag_);
        if (project.empty() || projects == tag_data.projects_by_tag.end() ||
            !projects->second.contains(project))
            return std::nullopt;
        return "its project " + project_text(project, name) + " carries the tag '" + tag_ + "'";
    }

    std::string tag_;
};

/// Keystone's rules: 1 to 255 characters, no '/' and no ','.
bool is_tag(const std::string& text) {
    return !text.empty() && text.size() <= 255 && text.find_first_of("/,") == std::string::npos;
}

std::variant<std::unique_ptr<Tagger>, ParameterError> make_project_tagger(
    const Parameters& parameters) {
    const auto& tag = std::get<std::string>(parameters.at("tag"));
    if (!is_tag(tag)) return ParameterError{"tag", "1 to 255 characters without '/' and ','"};
    return std::make_unique<ProjectTagger>(tag);
}

std::vector<NamedThing> names_of_project_tagger(const Parameters& parameters) {
    return {{NamedThing::Kind::project_tag, "tag", std::get<std::string>(parameters.at("tag"))}};
}

}  // namespace

TaggerInfo project_tagger() {
    return {"project",
            "a server or requester is revocable if its Keystone project carries the tag",
            {{"tag", ParameterKind::text, std::string{"preemptible"}, "tag of the project"}},
            make_project_tagger,
            names_of_project_tagger};
}

}  // namespace reaper
