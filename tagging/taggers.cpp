#include "tagging/taggers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

namespace {

std::deque<TaggerInfo>& all_taggers() {
    static std::deque<TaggerInfo> table{
        project_tagger(),
        resource_tagger(),
        flavor_tagger(),
    };
    return table;
}

}  // namespace

const std::deque<TaggerInfo>& tagger_table() {
    return all_taggers();
}

void add_tagger(TaggerInfo info) {
    all_taggers().push_back(std::move(info));
}

const TaggerInfo* find_tagger(std::string_view name) {
    const auto& table = tagger_table();
    const auto at = std::ranges::find(table, name, &TaggerInfo::name);
    return at == table.end() ? nullptr : &*at;
}

namespace {

constexpr std::array<std::pair<TaggerConflict, std::string_view>, 3> conflict_names{
    {{TaggerConflict::any, "any"}, {TaggerConflict::first, "first"}, {TaggerConflict::all, "all"}}};

void add(std::optional<Tagging>& all, const Tagger& tagger, std::string why) {
    if (!all) {
        all = Tagging{std::move(why), std::string{tagger.name()}};
        return;
    }
    all->because += ", and " + why;
    all->by += ", " + std::string{tagger.name()};
}

template <class Subject>
std::optional<Tagging> by_first(const Subject& subject, const Taggers& taggers,
                                const TagData& tag_data) {
    std::optional<Tagging> found;
    for (const auto& tagger : taggers) {
        if (auto why = tagger->why_revocable(subject, tag_data)) {
            add(found, *tagger, std::move(*why));
            return found;
        }
        if (tagger->why_regular(subject, tag_data)) return std::nullopt;
    }
    return std::nullopt;
}

template <class Subject>
std::optional<Tagging> decided(const Subject& subject, const Taggers& taggers,
                               const TagData& tag_data) {
    if (taggers.rule() == TaggerConflict::first) return by_first(subject, taggers, tag_data);
    std::optional<Tagging> found;
    for (const auto& tagger : taggers) {
        auto why = tagger->why_revocable(subject, tag_data);
        if (!why && taggers.rule() == TaggerConflict::all) return std::nullopt;
        if (why) add(found, *tagger, std::move(*why));
    }
    return found;
}

template <class Subject>
std::optional<std::string> reasons(const Subject& subject, const Taggers& taggers,
                                   const TagData& tag_data) {
    auto found = decided(subject, taggers, tag_data);
    if (!found) return std::nullopt;
    return std::move(found->because);
}

}  // namespace

std::optional<TaggerConflict> tagger_conflict_from(std::string_view text) {
    return value_in(conflict_names, text);
}

std::optional<Tagging> tagging_of(const Server& server, const Taggers& taggers,
                                  const TagData& tag_data) {
    return decided(server, taggers, tag_data);
}

std::optional<std::string> why_revocable(const Server& server, const Taggers& taggers,
                                         const TagData& tag_data) {
    return reasons(server, taggers, tag_data);
}

std::optional<std::string> why_revocable(const Request& request, const Taggers& taggers,
                                         const TagData& tag_data) {
    return reasons(request, taggers, tag_data);
}

bool is_revocable(const ProjectId& project, const Taggers& taggers, const TagData& tag_data) {
    if (taggers.empty()) return false;
    const bool one_is_enough =
        taggers.rule() == TaggerConflict::any || std::next(taggers.begin()) == taggers.end();
    Request of_the_project;
    of_the_project.project = project;
    return one_is_enough && std::ranges::any_of(taggers, [&](const auto& tagger) {
               return tagger->goes_by_project() && tagger->why_revocable(of_the_project, tag_data);
           });
}

bool tag(Server& server, const Taggers& taggers, const TagData& tag_data) {
    std::optional<SharedText> because;
    SharedText by;
    if (auto found = tagging_of(server, taggers, tag_data)) {
        because = SharedText{std::move(found->because)};
        by = SharedText{std::move(found->by)};
    }
    if (because == server.revocable_because && by == server.revocable_by) return false;
    server.revocable_because = std::move(because);
    server.revocable_by = std::move(by);
    return true;
}

}  // namespace reaper
