#include "reaper/request_spec/admitted_room.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

constexpr const char* flavor_prefix = "reaper:";
constexpr std::string_view trait_prefix = "trait:";

/// What one place says.
struct Written {
    std::vector<std::string> values;
    std::string last;  ///< as `key=value`, for people
};

Written written_in(const TextMap& texts, const std::string& prefix, bool traits) {
    Written written;
    for (const auto key : res_type_keys) {
        const auto at = texts.find(prefix + std::string{key});
        if (at == texts.end()) continue;
        written.values.push_back(at->second);
        written.last = printable(at->first + "=" + at->second, 100);
    }
    for (const auto& [name, value] : texts) {
        if (!traits || !name.starts_with(trait_prefix)) continue;
        const bool required = value == "required";
        if (!required && value != "forbidden") continue;
        auto said = res_type_constraint_of(name.substr(trait_prefix.size()), required);
        if (!said) continue;
        written.values.push_back(std::move(*said));
        written.last = printable(name + "=" + value, 100);
    }
    return written;
}

}  // namespace

std::optional<ResType> mark_in(const TextMap& metadata) {
    for (const auto key : res_type_keys) {
        const auto at = metadata.find(std::string{key});
        if (at == metadata.end()) continue;
        if (const auto type = res_type_from(at->second)) return type;
    }
    return std::nullopt;
}

TextMap without_marks(TextMap metadata) {
    for (const auto key : res_type_keys) {
        const auto at = metadata.find(std::string{key});
        if (at != metadata.end() && res_type_from(at->second)) metadata.erase(at);
    }
    return metadata;
}

std::variant<AdmittedRoom, Refused> admitted_room(const TextMap& metadata,
                                                  const TextMap& extra_specs,
                                                  const TextMap& image_properties, bool traits) {
    struct Place {
        const TextMap& texts;
        const char* prefix;
        const char* name;
        bool traits;
    };
    for (const Place& place : {Place{metadata, "", "the server's metadata", false},
                               Place{extra_specs, flavor_prefix, "the flavor's extra spec", traits},
                               Place{image_properties, "", "the image's property", traits}}) {
        const Written written = written_in(place.texts, place.prefix, place.traits);
        if (written.values.empty()) continue;
        const auto phases = phases_of(written.values);
        if (!phases) return Refused{std::string{place.name} + ": " + phases.error().what};
        return AdmittedRoom{*phases, std::string{place.name} + " " + written.last};
    }
    return AdmittedRoom{};
}

}  // namespace reaper
