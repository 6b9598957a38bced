#include "reaper/model/resources.hpp"

#include <algorithm>
#include <array>

namespace reaper {
namespace {

Amount saturating_negate(Amount a) {
    return a == std::numeric_limits<Amount>::min() ? std::numeric_limits<Amount>::max() : -a;
}

template <class Entries>
auto lower_bound_of(Entries& entries, const ResourceClass& resource_class) {
    return std::ranges::lower_bound(entries, resource_class, {}, &Resources::Entry::first);
}

}  // namespace

Resources::Resources(std::initializer_list<std::pair<const char*, Amount>> entries) {
    for (const auto& [name, amount] : entries) add(ResourceClass{name}, amount);
}

Amount Resources::get(const ResourceClass& resource_class) const noexcept {
    const auto at = lower_bound_of(entries_, resource_class);
    return at != entries_.end() && at->first == resource_class ? at->second : 0;
}

void Resources::set(const ResourceClass& resource_class, Amount amount) {
    const auto at = lower_bound_of(entries_, resource_class);
    const bool found = at != entries_.end() && at->first == resource_class;
    if (amount == 0) {
        if (found) entries_.erase(at);
    } else if (found) {
        at->second = amount;
    } else {
        entries_.emplace(at, resource_class, amount);
    }
}

void Resources::add(const ResourceClass& resource_class, Amount amount) {
    set(resource_class, saturating_add(get(resource_class), amount));
}

Resources& Resources::operator+=(const Resources& other) {
    for (const auto& [resource_class, amount] : Resources{other}) add(resource_class, amount);
    return *this;
}

Resources& Resources::operator-=(const Resources& other) {
    for (const auto& [resource_class, amount] : Resources{other})
        add(resource_class, saturating_negate(amount));
    return *this;
}

Resources operator*(Resources a, Amount factor) {
    Resources product;
    for (const auto& [resource_class, amount] : a)
        product.set(resource_class, saturating_multiply(amount, factor));
    return product;
}

bool Resources::fits_in(const Resources& room) const noexcept {
    return std::all_of(begin(), end(),
                       [&](const Entry& entry) { return entry.second <= room.get(entry.first); });
}

bool Resources::any_negative() const noexcept {
    return std::any_of(begin(), end(), [](const Entry& entry) { return entry.second < 0; });
}

namespace {

/// In the order that people expect: cores, memory, disk, then the others.
template <class Append>
void for_each_usual(const Resources& resources, Append append) {
    static const std::array<ResourceClass, 3> usual{
        ResourceClass{"VCPU"}, ResourceClass{"MEMORY_MB"}, ResourceClass{"DISK_GB"}};
    for (const auto& resource_class : usual)
        if (const Amount amount = resources.get(resource_class); amount != 0)
            append(resource_class, amount);
    for (const auto& [resource_class, amount] : resources)
        if (std::ranges::find(usual, resource_class) == usual.end()) append(resource_class, amount);
}

}  // namespace

Resources above_none(const Resources& amounts) {
    Resources left;
    for (const auto& [name, amount] : amounts) left.set(name, std::max<Amount>(amount, 0));
    return left;
}

Resources common(const Resources& a, const Resources& b) {
    Resources both;
    for (const auto& [name, amount] : a)
        both.set(name, std::max<Amount>(std::min(amount, b.get(name)), 0));
    return both;
}

Resources more_than(const Resources& amounts, const Resources& others) {
    Resources more;
    for (const auto& [name, amount] : amounts)
        more.set(name, std::max<Amount>(amount - others.get(name), 0));
    return more;
}

std::string to_string(const Resources& resources) {
    std::string text;
    for_each_usual(resources, [&](const ResourceClass& resource_class, Amount amount) {
        if (!text.empty()) text += ' ';
        text += resource_class.str() + '=' + std::to_string(amount);
    });
    return text.empty() ? "nothing" : text;
}

std::string amounts_text(const Resources& resources) {
    std::string text;
    for_each_usual(resources, [&](const ResourceClass& resource_class, Amount amount) {
        if (!text.empty()) text += ", ";
        text += std::to_string(amount) + ' ' + resource_class.str();
    });
    return text.empty() ? "nothing" : text;
}

}  // namespace reaper
