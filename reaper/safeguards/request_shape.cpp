#include "reaper/safeguards/request_shape.hpp"

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Parts are distinguished by their length: no text of a user's can look like two.
void add(std::string& shape, char kind, const std::string& text) {
    shape += kind + std::to_string(text.size()) + ':' + text;
}

}  // namespace

std::string request_shape(const Request& request) {
    // Asked for as its fallback, it is the same shape.
    if (request.fallback) return request_shape(by_fallback(request));
    std::string shape;
    for (const auto& [resource_class, amount] : request.resources)
        add(shape, 'r', resource_class.str() + '=' + std::to_string(amount));
    add(shape, 'i', request.image);
    if (request.availability_zone) add(shape, 'z', *request.availability_zone);
    for (const auto& trait : request.required_traits) add(shape, 't', trait.str());
    for (const auto& trait : request.forbidden_traits) add(shape, 'f', trait.str());
    for (const auto& [key, value] : request.flavor_extra_specs) {
        add(shape, 'k', key);
        add(shape, 'v', value);
    }
    const PlacementConstraints& placement = request.placement;
    add(shape, 'g', placement.group.id);
    if (!placement.only_offered)
        for (const auto& host : placement.only_hosts) add(shape, 'h', host);
    for (const auto& server : placement.with) add(shape, 'w', server.str());
    for (const auto& server : placement.apart_from) add(shape, 'd', server.str());
    return shape;
}

std::string shape_text(const Request& request) {
    std::string text = to_string(request.resources);
    if (!request.image.empty()) text += ", image " + printable(request.image, 64);
    if (request.availability_zone) text += ", zone " + printable(*request.availability_zone, 64);
    return text;
}

}  // namespace reaper
