#include "reaper/recording/pseudonyms.hpp"

#include <array>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdexcept>
#include <utility>

namespace reaper::recording {
namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t digits_kept = 22;

/// Of the keyed hash, so many hexadecimal digits as a pseudonym takes.
std::string digits_of(const std::string& key, report::NameKind kind, const std::string& name) {
    const std::string text = std::to_string(static_cast<int>(kind)) + ":" + name;
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
    std::string digits;
    for (std::size_t i = 0; i < size && digits.size() < digits_kept; ++i) {
        digits += "0123456789abcdef"[hash[i] >> 4U];
        digits += "0123456789abcdef"[hash[i] & 15U];
    }
    return digits;
}

}  // namespace

report::NameChanger::Rename keyed_pseudonyms() {
    std::string key(key_bytes, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) != 1)
        throw std::runtime_error("there is no randomness");
    return keyed_pseudonyms(std::move(key));
}

report::NameChanger::Rename keyed_pseudonyms(std::string key) {
    return [key = std::move(key)](report::NameKind kind, const std::string& name) {
        return report::pseudonym(kind, name, digits_of(key, kind, name));
    };
}

}  // namespace reaper::recording
