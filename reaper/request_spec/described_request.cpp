#include "reaper/request_spec/described_request.hpp"

#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string shown(std::string_view text) {
    return "'" + printable(text, 100) + "'";
}

Error bad_trait(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

}  // namespace

Result<void> add_trait(DescribedRequest& described, std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (!is_upper_name(name))
        return bad_trait(shown(name) + " is not a trait: they are written like CUSTOM_GPU");
    const std::string_view rule =
        equals == std::string_view::npos ? "required" : text.substr(equals + 1);
    if (rule == "required")
        described.required_traits.emplace_back(name);
    else if (rule == "forbidden")
        described.forbidden_traits.emplace_back(name);
    else
        return bad_trait("trait " + std::string(name) + " is " + shown(rule) +
                         ", expected required or forbidden");
    return {};
}

Request request_of(const DescribedRequest& described, RequestId id, ProjectId project,
                   TimePoint now) {
    Request request;
    request.id = std::move(id);
    request.operation = Operation::manual;
    request.source = RequestSource::operator_;
    request.project = std::move(project);
    request.resources = described.resources;
    request.slots = described.slots;
    request.availability_zone = described.availability_zone;
    for (const auto& name : described.required_traits) request.required_traits.insert(Trait{name});
    for (const auto& name : described.forbidden_traits)
        request.forbidden_traits.insert(Trait{name});
    request.sent_at = now;
    request.phases = described.phases;
    if (!described.res_type.empty())
        request.phases_because = "its description '" + printable(described.res_type, 100) + "'";
    return request;
}

}  // namespace reaper
