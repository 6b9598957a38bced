// resource: servers are revocable if they hold a custom resource class in Placement, on the host's
// own provider or on a nested one; requesters, if their flavor asks for it. Where a host has not
// been read yet, what its servers hold follows from their flavors (`resources:` extra specs).
#include <algorithm>

#include "tagging/taggers.hpp"

namespace reaper {
namespace {

class ResourceTagger : public Tagger {
public:
    ResourceTagger(ResourceClass marker, bool held) : marker_{std::move(marker)}, held_{held} {}

    std::string_view name() const override { return "resource"; }
    void ask(TaggerInputs&) const override {}

    std::optional<std::string> why_revocable(const Server& server, const TagData&) const override {
        const bool holds = std::ranges::any_of(
            server.allocations, [&](const auto& held) { return held.second.get(marker_) > 0; });
        if (!holds) return std::nullopt;
        return "it holds " + marker_.str() + " in Placement";
    }
    std::optional<std::string> why_revocable(const Request& request,
                                             const TagData&) const override {
        if (request.resources.get(marker_) <= 0) return std::nullopt;
        return "it asks for " + marker_.str();
    }
    std::optional<ResourceClass> marker_class() const override { return marker_; }
    std::optional<ResourceClass> held_class() const override {
        return held_ ? std::optional{marker_} : std::nullopt;
    }

private:
    ResourceClass marker_;
    bool held_;
};

/// A custom class (Placement: `CUSTOM_`, then upper-case letters, digits and `_`, 255 in all):
/// every server holds the standard ones.
bool is_custom_class(const std::string& text) {
    return text.size() <= 255 && text.size() > 7 && text.rfind("CUSTOM_", 0) == 0 &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}

std::variant<std::unique_ptr<Tagger>, ParameterError> make_resource_tagger(
    const Parameters& parameters) {
    const auto& name = std::get<std::string>(parameters.at("class"));
    if (!is_custom_class(name))
        return ParameterError{"class", "CUSTOM_ and upper-case letters, digits and '_'"};
    const auto& freed = std::get<std::string>(parameters.at("freed_room"));
    if (freed != "held" && freed != "open") return ParameterError{"freed_room", "held or open"};
    return std::make_unique<ResourceTagger>(ResourceClass{name}, freed == "held");
}

std::vector<NamedThing> names_of_resource_tagger(const Parameters& parameters) {
    const auto& name = std::get<std::string>(parameters.at("class"));
    return {{NamedThing::Kind::resource_class, "class", name}};
}

}  // namespace

TaggerInfo resource_tagger() {
    return {
        "resource",
        "a server is revocable if it holds the resource class in Placement, a requester if its "
        "flavor asks for it",
        {{"class", ParameterKind::text, std::string{"CUSTOM_PREEMPTIBLE"}, "custom resource class"},
         {"freed_room", ParameterKind::text, std::string{"held"},
          "held: while freed room is promised to a request, the class is reserved on its host, "
          "so that no new revocable server takes the room (needs Placement's policy "
          "placement:resource_providers:inventories:update); open: one may"}},
        make_resource_tagger,
        names_of_resource_tagger};
}

}  // namespace reaper
