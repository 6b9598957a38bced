#include "clients/http/request_id.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace reaper::http {

std::string make_request_id(std::mt19937_64& random) {
    const std::uint64_t high = (random() & ~0xF000ULL) | 0x4000ULL;
    const std::uint64_t low = (random() & ~(3ULL << 62U)) | (2ULL << 62U);
    std::array<char, 41> text{};
    std::snprintf(text.data(), text.size(), "req-%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32U), static_cast<unsigned>(high >> 16U & 0xFFFFU),
                  static_cast<unsigned>(high & 0xFFFFU), static_cast<unsigned>(low >> 48U),
                  static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
    return text.data();
}

}  // namespace reaper::http
