#include "reaper/request_spec/extra_specs.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::size_t longest_group = 64;

/// Source: os_resource_classes.STANDARDS.
constexpr std::string_view standard_classes[] = {"VCPU",
                                                 "MEMORY_MB",
                                                 "DISK_GB",
                                                 "PCI_DEVICE",
                                                 "SRIOV_NET_VF",
                                                 "NUMA_SOCKET",
                                                 "NUMA_CORE",
                                                 "NUMA_THREAD",
                                                 "NUMA_MEMORY_MB",
                                                 "IPV4_ADDRESS",
                                                 "VGPU",
                                                 "VGPU_DISPLAY_HEAD",
                                                 "NET_BW_EGR_KILOBIT_PER_SEC",
                                                 "NET_BW_IGR_KILOBIT_PER_SEC",
                                                 "PCPU",
                                                 "MEM_ENCRYPTION_CONTEXT",
                                                 "FPGA",
                                                 "PGPU",
                                                 "NET_PACKET_RATE_KILOPACKET_PER_SEC",
                                                 "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
                                                 "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC"};

bool is_group_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

}  // namespace

std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix) {
    if (!key.starts_with(prefix)) return std::nullopt;
    key.remove_prefix(prefix.size());
    const auto colon = key.find(':');
    if (colon > longest_group) return std::nullopt;  // or there is none
    const auto group = key.substr(0, colon);
    if (!std::all_of(group.begin(), group.end(), is_group_character)) return std::nullopt;
    return GroupedKey{group, key.substr(colon + 1)};
}

bool is_resource_class(std::string_view name) {
    return name.starts_with("CUSTOM_") ||
           std::find(std::begin(standard_classes), std::end(standard_classes), name) !=
               std::end(standard_classes);
}

std::string custom_name(std::string_view name) {
    std::string text;
    for (const char c : to_upper(name)) {
        const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (kept || !text.ends_with('_')) text += kept ? c : '_';
    }
    return "CUSTOM_" + text;
}

std::optional<Amount> amount_of(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    Amount amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (text.empty() || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range)
        return text.starts_with('-') ? std::nullopt
                                     : std::optional{std::numeric_limits<Amount>::max()};
    if (error != std::errc{} || amount < 0) return std::nullopt;
    return amount;
}

}  // namespace reaper
