// Ids of the simulated cloud: UUIDs as values, seeded chance, and names as small numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reaper::cloudsim {

/// 128 bits. Written with dashes by Nova and Placement, without by Keystone.
struct Uuid {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    bool empty() const { return high == 0 && low == 0; }
    std::string text() const;  ///< `335ec9a8-ba39-4138-b807-859a56184961`
    std::string hex() const;   ///< `335ec9a8ba394138b807859a56184961`
    void append_to(std::string& out) const;
    /// With or without dashes; none if it is not a UUID.
    static std::optional<Uuid> parse(std::string_view text);

    friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

struct UuidHash {
    std::size_t operator()(const Uuid& id) const noexcept {
        return static_cast<std::size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15ULL));
    }
};

/// Chance from a seed: the same seed gives the same cloud.
class SeededRng {
public:
    explicit SeededRng(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    /// 0 .. bound - 1; bound is at least 1.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    Uuid uuid();                         ///< version 4
    std::string letters(std::size_t n);  ///< lower case letters and digits

private:
    std::uint64_t state_;
};

using NameId = std::uint32_t;

/// Texts that occur in many places (projects, classes, traits), each kept once. Id 0 is "".
class Names {
public:
    Names() { id(""); }
    NameId id(std::string_view text);
    std::optional<NameId> find(std::string_view text) const;
    const std::string& text(NameId id) const { return texts_[id]; }
    std::size_t size() const { return texts_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::vector<std::string> texts_;
    std::unordered_map<std::string, NameId, Hash, std::equal_to<>> ids_;
};

}  // namespace reaper::cloudsim
