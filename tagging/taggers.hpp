// The table of taggers, and several of them at once: what holds when they differ.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "tagging/tagger.hpp"

namespace reaper {

// The table of taggers: feeds construction, config errors, `reaper taggers` and the docs.

struct TaggerInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::function<std::variant<std::unique_ptr<Tagger>, ParameterError>(
        const Parameters& parameters)>
        make;
    /// What of the cloud they name; null: nothing.
    std::function<std::vector<NamedThing>(const Parameters& parameters)> names{};
    std::string module{};  ///< which one brings it, with its version; empty: it is built in
};

/// Entries stay where they are.
const std::deque<TaggerInfo>& tagger_table();
/// Of a module (reaper/modules); its name must be new.
void add_tagger(TaggerInfo info);

/// None for an unknown name.
const TaggerInfo* find_tagger(std::string_view name);

// The taggers that there are; each is one file.

TaggerInfo project_tagger();
TaggerInfo resource_tagger();
TaggerInfo flavor_tagger();

/// When is something revocable of which not every tagger says so?
enum class TaggerConflict {
    any,    ///< when at least one says so, whatever others say
    first,  ///< the first of the list that says either, revocable or regular, is right
    all,    ///< when every one says so
};

/// Of `any`, `first` or `all`; none for any other text.
std::optional<TaggerConflict> tagger_conflict_from(std::string_view text);

/// The configured taggers, in the order of the configuration.
class Taggers {
public:
    Taggers() = default;
    explicit Taggers(TaggerConflict rule) : rule_{rule} {}

    void push_back(std::unique_ptr<Tagger> tagger) { list_.push_back(std::move(tagger)); }
    TaggerConflict rule() const noexcept { return rule_; }
    bool empty() const noexcept { return list_.empty(); }
    auto begin() const noexcept { return list_.begin(); }
    auto end() const noexcept { return list_.end(); }

private:
    std::vector<std::unique_ptr<Tagger>> list_;
    TaggerConflict rule_ = TaggerConflict::any;
};

/// Why something is revocable.
struct Tagging {
    std::string because;  ///< the reasons of all taggers that decided it, joined
    std::string by;       ///< their names: `project, flavor`
    friend bool operator==(const Tagging&, const Tagging&) = default;
};

/// None: it is regular.
std::optional<Tagging> tagging_of(const Server& server, const Taggers& taggers,
                                  const TagData& tag_data);
/// The reasons alone.
std::optional<std::string> why_revocable(const Server& server, const Taggers& taggers,
                                         const TagData& tag_data);
std::optional<std::string> why_revocable(const Request& request, const Taggers& taggers,
                                         const TagData& tag_data);

/// Is each server and requester of the project revocable, whatever else it is?
bool is_revocable(const ProjectId& project, const Taggers& taggers, const TagData& tag_data);

/// Notes in the server what the taggers say of it now; true if that is news.
bool tag(Server& server, const Taggers& taggers, const TagData& tag_data);

}  // namespace reaper
