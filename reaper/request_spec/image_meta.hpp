// An image as Nova's scheduler sees it.
#pragma once

#include <map>
#include <string>

namespace reaper {

/// Properties by name, as Glance or Nova's messages report them; `disk_format` is one of them.
using ImageProperties = std::map<std::string, std::string>;

/// With Nova's own names and words: old names (`architecture`, `vmware_adaptertype`) become the
/// present ones, and other words for the same thing (`amd64`, `VirtualE1000`) the usual one.
/// Source: nova.objects.image_meta, nova.objects.fields.
ImageProperties image_meta(ImageProperties properties);

}  // namespace reaper
