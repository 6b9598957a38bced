#include "reaper/request_spec/image_meta.hpp"

#include <algorithm>
#include <string_view>
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

}  // namespace reaper
