// Arithmetic on amounts that saturates at the 64-bit limits instead of wrapping.
#pragma once

#include <limits>

#include "reaper/model/resources.hpp"

namespace reaper {

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
