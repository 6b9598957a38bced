// Placement's query parameters.
#include "tests/cloudsim/api/placement_parts.hpp"

namespace reaper::cloudsim {

namespace {

NameId known_trait(const Call& call, const std::string& name) {
    if (!call.world.placement.knows_trait(name))
        throw ApiError(400, "No such trait(s): " + name + ".");
    return call.world.names.id(name);
}

}  // namespace

Uuid uuid_in(const std::string& text, const std::string& message) {
    const auto id = Uuid::parse(text);
    if (!id) throw ApiError(400, message);
    return *id;
}

std::vector<std::pair<NameId, std::int64_t>> resources_in(const Call& call,
                                                          const std::string& text) {
    std::vector<std::pair<NameId, std::int64_t>> resources;
    for (const std::string& part : split(text)) {
        const auto colon = part.find(':');
        const std::string malformed =
            "Badly formed resources parameter. Expected resources query "
            "string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024."
            " Got: " +
            text + ".";
        if (colon == std::string::npos) throw ApiError(400, malformed);
        const std::string name = part.substr(0, colon);
        const auto amount = number_in(part.substr(colon + 1), malformed);
        if (amount < 1)
            throw ApiError(400, "Requested resource " + name +
                                    " requires a positive amount. Got: " + std::to_string(amount));
        if (!call.world.placement.knows_class(name))
            throw ApiError(400,
                           "Invalid resource class in resources parameter: No such resource "
                           "class " +
                               name + ".");
        resources.emplace_back(call.world.names.id(name), amount);
    }
    return resources;
}

void add_required(const Call& call, const std::string& text, RequestGroup& group) {
    if (text.starts_with("in:")) {
        std::set<NameId> any;
        for (const std::string& name : split(text.substr(3))) any.insert(known_trait(call, name));
        group.required.push_back(std::move(any));
        return;
    }
    for (const std::string& name : split(text)) {
        if (name.starts_with('!'))
            group.forbidden.insert(known_trait(call, name.substr(1)));
        else
            group.required.push_back({known_trait(call, name)});
    }
}

void add_member_of(const std::string& text, RequestGroup& group) {
    const bool forbidden = text.starts_with('!');
    std::string list = forbidden ? text.substr(1) : text;
    if (list.starts_with("in:")) list.erase(0, 3);
    std::set<Uuid> any;
    for (const std::string& id : split(list))
        any.insert(uuid_in(id, "Expected 'member_of' parameter to contain valid UUID(s)."));
    if (forbidden)
        group.not_member_of.insert(any.begin(), any.end());
    else
        group.member_of.push_back(std::move(any));
}

}  // namespace reaper::cloudsim
