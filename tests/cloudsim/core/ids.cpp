#include "tests/cloudsim/core/ids.hpp"

namespace reaper::cloudsim {

namespace {

constexpr char digits[] = "0123456789abcdef";

void append_hex(std::string& out, std::uint64_t value, int from, int count) {
    for (int at = from; at < from + count; ++at)
        out += digits[(value >> static_cast<unsigned>(60 - 4 * at)) & 0xf];
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

void Uuid::append_to(std::string& out) const {
    append_hex(out, high, 0, 8);
    out += '-';
    append_hex(out, high, 8, 4);
    out += '-';
    append_hex(out, high, 12, 4);
    out += '-';
    append_hex(out, low, 0, 4);
    out += '-';
    append_hex(out, low, 4, 12);
}

std::string Uuid::text() const {
    std::string out;
    out.reserve(36);
    append_to(out);
    return out;
}

std::string Uuid::hex() const {
    std::string out;
    out.reserve(32);
    append_hex(out, high, 0, 16);
    append_hex(out, low, 0, 16);
    return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
    if (text.size() != 36 && text.size() != 32) return std::nullopt;
    const bool dashed = text.size() == 36;
    Uuid id;
    int count = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (dashed && (at == 8 || at == 13 || at == 18 || at == 23)) {
            if (text[at] != '-') return std::nullopt;
            continue;
        }
        const int digit = hex_digit(text[at]);
        if (digit < 0) return std::nullopt;
        std::uint64_t& half = count < 16 ? id.high : id.low;
        half = (half << 4) | static_cast<std::uint64_t>(digit);
        ++count;
    }
    return id;
}

std::uint64_t SeededRng::next() {  // splitmix64, public domain (Vigna)
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

Uuid SeededRng::uuid() {
    Uuid id{next(), next()};
    id.high = (id.high & ~0xf000ULL) | 0x4000ULL;
    id.low = (id.low & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;
    return id;
}

std::string SeededRng::letters(std::size_t n) {
    constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::string out;
    while (out.size() < n) out += alphabet[below(alphabet.size())];
    return out;
}

NameId Names::id(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto made = static_cast<NameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(std::string(text), made);
    return made;
}

std::optional<NameId> Names::find(std::string_view text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
}

}  // namespace reaper::cloudsim
