// Resources: amounts per resource class, as Placement counts them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/ids.hpp"

namespace reaper {

/// One amount, in the unit that Placement uses for its class (VCPU: pieces, MEMORY_MB: MiB,
/// DISK_GB: GiB, CUSTOM_*: the operator's own).
using Amount = std::int64_t;

/// A vector over resource classes. A class that is absent counts as 0; zeros are not stored, so
/// equal vectors compare equal. Iterates in the order of the class names. Amounts may become
/// negative by subtraction (a deficit); sums saturate at the 64-bit limits instead of wrapping.
class Resources {
public:
    using Entry = std::pair<ResourceClass, Amount>;

    Resources() = default;
    Resources(std::initializer_list<std::pair<const char*, Amount>> entries);

    Amount get(const ResourceClass& resource_class) const noexcept;
    void set(const ResourceClass& resource_class, Amount amount);
    void add(const ResourceClass& resource_class, Amount amount);
    void reserve(std::size_t classes) { entries_.reserve(classes); }

    Resources& operator+=(const Resources& other);
    Resources& operator-=(const Resources& other);
    friend Resources operator+(Resources a, const Resources& b) { return a += b; }
    friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
    /// Every amount times `factor`.
    friend Resources operator*(Resources a, Amount factor);

    /// True if every class here is at most what `room` has of it.
    bool fits_in(const Resources& room) const noexcept;
    bool empty() const noexcept { return entries_.empty(); }
    bool any_negative() const noexcept;

    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }

    friend bool operator==(const Resources&, const Resources&) = default;

private:
    std::vector<Entry> entries_;  // sorted by class, no zeros
};

// Of two vectors, class by class. What is negative counts as none.
Resources above_none(const Resources& amounts);
/// The lesser of both.
Resources common(const Resources& a, const Resources& b);
/// Of the classes of `amounts`, what it has more than `others`.
Resources more_than(const Resources& amounts, const Resources& others);

/// For people: `VCPU=4 MEMORY_MB=2048 DISK_GB=20` (VCPU, memory and disk first, then by name);
/// `nothing` when empty.
std::string to_string(const Resources& resources);

/// For sentences: `2 VCPU, 512 MEMORY_MB`; `nothing`.
std::string amounts_text(const Resources& resources);

// Arithmetic on amounts that saturates at the 64-bit limits instead of wrapping.

inline Amount saturating_add(Amount a, Amount b) {
    Amount sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b > 0 ? std::numeric_limits<Amount>::max() : std::numeric_limits<Amount>::min();
}

inline Amount saturating_subtract(Amount a, Amount b) {
    Amount difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? std::numeric_limits<Amount>::max() : std::numeric_limits<Amount>::min();
}

inline Amount saturating_multiply(Amount a, Amount b) {
    Amount product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a > 0) == (b > 0) ? std::numeric_limits<Amount>::max()
                              : std::numeric_limits<Amount>::min();
}

/// a / b rounded up; both above 0.
inline Amount divide_up(Amount a, Amount b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace reaper
