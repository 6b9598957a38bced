// What a flavor and an image wish for, each in its own words: the extra spec `hw:tpm_version`, the
// property `hw_tpm_version`.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/flavor.hpp"

namespace reaper {

// An image as Nova's scheduler sees it.

/// Properties by name, as Glance or Nova's messages report them; `disk_format` is one of them.
using ImageProperties = std::map<std::string, std::string>;

/// With Nova's own names and words: old names (`architecture`, `vmware_adaptertype`) become the
/// present ones, and other words for the same thing (`amd64`, `VirtualE1000`) the usual one.
/// Source: nova.objects.image_meta, nova.objects.fields.
ImageProperties image_meta(ImageProperties properties);

/// Flavor and image must outlive it. What Nova would not accept is `bad_input`, in one line.
class Wishes {
public:
    Wishes(const Flavor& flavor, const ImageProperties& image) : flavor_{flavor}, image_{image} {}

    const Flavor& flavor() const { return flavor_; }
    /// What the flavor says of `hw:NAME`, the image of `hw_NAME`.
    std::optional<std::string> of_flavor(std::string_view name,
                                         std::string_view prefix = "hw") const;
    std::optional<std::string> of_image(std::string_view name,
                                        std::string_view prefix = "hw") const;

    /// What either says; both must say the same. One of `words`.
    using Text = Result<std::optional<std::string>>;
    Text of_either(std::string_view name, std::initializer_list<std::string_view> words,
                   std::string_view prefix = "hw") const;
    /// Does either say yes? Both must say the same.
    Result<bool> wanted(std::string_view name) const;

private:
    Error disagree(std::string_view name, std::string_view prefix) const;

    const Flavor& flavor_;
    const ImageProperties& image_;
};

/// `yes`, `True`, `1`, ... Source: oslo_utils.strutils.bool_from_string.
bool means_yes(std::string_view text);

/// `bad_input`: expected one of `words`.
Error not_one_of(const std::string& key, std::string_view value,
                 std::initializer_list<std::string_view> words);

}  // namespace reaper
