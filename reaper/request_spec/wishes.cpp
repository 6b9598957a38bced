#include "reaper/request_spec/wishes.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

/// Old names of what the scheduler looks at, and their present ones.
constexpr Word old_names[] = {{"architecture", "hw_architecture"}};

constexpr Word architectures[] = {{"i386", "i686"},   {"i486", "i686"},    {"i586", "i686"},
                                  {"x86_32", "i686"}, {"x86_32p", "i686"}, {"amd64", "x86_64"}};

constexpr Word network_models[] = {
    {"virtuale1000", "e1000"},   {"virtuale1000e", "e1000e"},
    {"virtualpcnet32", "pcnet"}, {"virtualsriovethernetcard", "sriov"},
    {"virtualvmxnet", "vmxnet"}, {"virtualvmxnet3", "vmxnet3"}};

/// In lower case, and the usual word.
template <std::size_t n>
void put_usual(ImageProperties& properties, const char* name, const Word (&words)[n]) {
    const auto at = properties.find(name);
    if (at == properties.end()) return;
    std::string& value = at->second;
    value = to_lower(value);
    for (const auto& [other, usual] : words)
        if (value == other) value = usual;
}

}  // namespace

ImageProperties image_meta(ImageProperties properties) {
    for (const auto& [old_name, name] : old_names)
        if (const auto at = properties.find(std::string{old_name}); at != properties.end())
            properties.emplace(name, at->second);  // where both are, the present one counts
    const auto adapter = properties.find("vmware_adaptertype");
    if (adapter != properties.end() && !adapter->second.empty())
        properties.emplace("hw_disk_bus", adapter->second == "ide" ? "ide" : "scsi");
    put_usual(properties, "hw_architecture", architectures);
    put_usual(properties, "hw_emulation_architecture", architectures);
    put_usual(properties, "hw_vif_model", network_models);
    return properties;
}

namespace {

std::optional<std::string> find(const std::map<std::string, std::string>& texts,
                                const std::string& key) {
    const auto at = texts.find(key);
    if (at == texts.end()) return std::nullopt;
    return at->second;
}

std::string key_of(std::string_view prefix, char between, std::string_view name) {
    return std::string{prefix} + between + std::string{name};
}

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, value) != words.end();
}

}  // namespace

bool means_yes(std::string_view text) {
    return is_one_of(to_lower(trimmed(text)), {"1", "t", "true", "on", "y", "yes"});
}

Error not_one_of(const std::string& key, std::string_view value,
                 std::initializer_list<std::string_view> words) {
    return Error{Errc::bad_input,
                 key + " is " + in_quotes(value) + "; Nova takes one of: " + joined(words)};
}

std::optional<std::string> Wishes::of_flavor(std::string_view name, std::string_view prefix) const {
    return find(flavor_.extra_specs, key_of(prefix, ':', name));
}

std::optional<std::string> Wishes::of_image(std::string_view name, std::string_view prefix) const {
    return find(image_, key_of(prefix, '_', name));
}

Error Wishes::disagree(std::string_view name, std::string_view prefix) const {
    return Error{Errc::bad_input, "the flavor's " + key_of(prefix, ':', name) + " is " +
                                      in_quotes(*of_flavor(name, prefix)) + " and the image's " +
                                      key_of(prefix, '_', name) + " is " +
                                      in_quotes(*of_image(name, prefix)) + ": Nova refuses that"};
}

Wishes::Text Wishes::of_either(std::string_view name, std::initializer_list<std::string_view> words,
                               std::string_view prefix) const {
    const auto flavor = of_flavor(name, prefix);
    const auto image = of_image(name, prefix);
    const bool both = flavor && image && !flavor->empty() && !image->empty();
    if (both && *flavor != *image) return disagree(name, prefix);
    auto said = flavor && !flavor->empty() ? flavor : image;
    if (said && !is_one_of(*said, words))
        return not_one_of(key_of(prefix, ':', name), *said, words);
    return said;
}

Result<bool> Wishes::wanted(std::string_view name) const {
    const auto flavor = of_flavor(name);
    const auto image = of_image(name);
    if (flavor && image && means_yes(*flavor) != means_yes(*image)) return disagree(name, "hw");
    return (flavor && means_yes(*flavor)) || (image && means_yes(*image));
}

}  // namespace reaper
