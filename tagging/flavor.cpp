// flavor: servers and requesters are revocable if their flavor's extra specs carry key=value. Nova
// embeds the flavor in the server as it was when the server was made (or last resized): changing
// the flavor itself changes no server that is there.
#include "tagging/flavor.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "tagging/taggers.hpp"

namespace reaper {
namespace {

using ExtraSpecs = std::map<std::string, std::string>;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_value(const std::string& a, const std::string& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

class FlavorTagger : public Tagger {
public:
    FlavorTagger(std::string key, std::string value)
        : key_{std::move(key)}, value_{std::move(value)} {}

    std::string_view name() const override { return "flavor"; }
    void ask(TaggerInputs& tagger_inputs) const override {
        tagger_inputs.flavor_specs.emplace(key_, value_);
    }

    std::optional<std::string> why_revocable(const Server& server, const TagData&) const override {
        return carries(server.flavor_extra_specs) ? std::optional{why()} : std::nullopt;
    }
    std::optional<std::string> why_revocable(const Request& request,
                                             const TagData&) const override {
        return carries(request.flavor_extra_specs) ? std::optional{why()} : std::nullopt;
    }
    std::optional<std::string> why_regular(const Server& server, const TagData&) const override {
        return denies(server.flavor_extra_specs);
    }
    std::optional<std::string> why_regular(const Request& request, const TagData&) const override {
        return denies(request.flavor_extra_specs);
    }

private:
    std::string why() const { return "its flavor has " + printable(key_ + "=" + value_); }
    bool carries(const ExtraSpecs& specs) const { return has_extra_spec(specs, key_, value_); }
    /// The key with another value says the contrary.
    std::optional<std::string> denies(const ExtraSpecs& specs) const {
        const auto at = specs.find(key_);
        if (at == specs.end() || same_value(at->second, value_)) return std::nullopt;
        return "its flavor has " + printable(key_ + "=" + at->second);
    }

    std::string key_;
    std::string value_;
};

/// Nova's rules: keys of letters, digits, spaces, '_', '-', '.' and ':', up to 255; values up to
/// 255.
bool is_key(const std::string& text) {
    return !text.empty() && text.size() <= 255 && std::ranges::all_of(text, [](char c) {
        const char small = lower(c);
        return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view{" _-.:"}.find(c) != std::string_view::npos;
    });
}

std::variant<std::unique_ptr<Tagger>, ParameterError> make_flavor_tagger(
    const Parameters& parameters) {
    const auto& key = std::get<std::string>(parameters.at("key"));
    const auto& value = std::get<std::string>(parameters.at("value"));
    if (!is_key(key))
        return ParameterError{"key", "1 to 255 letters, digits, spaces and _ - . :, as Nova has"};
    if (value.empty() || value.size() > 255)
        return ParameterError{"value", "a text of 1 to 255 bytes"};
    return std::make_unique<FlavorTagger>(key, value);
}

}  // namespace

bool has_extra_spec(const std::map<std::string, std::string>& specs, const std::string& key,
                    const std::string& value) {
    const auto at = specs.find(key);
    return at != specs.end() && same_value(at->second, value);
}

TaggerInfo flavor_tagger() {
    return {"flavor",
            "a server or requester is revocable if its flavor's extra specs carry the key with the "
            "value; with another value it is regular, as far as this tagger is asked",
            {{"key", ParameterKind::text, std::string{"reaper:revocable"}, "of the extra spec"},
             {"value", ParameterKind::text, std::string{"true"},
              "of the extra spec; case-insensitive"}},
            make_flavor_tagger};
}

}  // namespace reaper
