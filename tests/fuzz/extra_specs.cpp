// Extra specs of flavors (`KEY=VALUE` in each line), properties of images (`image:KEY=VALUE`) and
// lists of CPUs.
#include "reaper/request_spec/placement_query.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/resource_request.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace reaper;

void translate(const Flavor& flavor, const ImageProperties& image, NovaRelease release) {
    const ServerSpec spec{flavor, image, false, release};
    SchedulerRules rules;
    rules.image_type_filter = rules.image_metadata_filter = rules.pcpu_fallback = true;
    const auto root = root_traits(spec, rules);
    if (!root) fuzz::require_one_line(root.error().what);
    const auto asked = resource_request(spec);
    if (!asked) {
        fuzz::require_one_line(asked.error().what);
        return;
    }
    Request request;
    request.resources = asked->shape.resources;
    request.groups = asked->groups;
    request.group_policy = asked->group_policy;
    request.fallback = asked->fallback;
    for (const auto& [resource_class, amount] : request.resources)
        fuzz::require(amount > 0, "no amount is 0 or less");
    fuzz::require(!ungrouped_resources(request).any_negative(), "groups are part of the whole");
    fuzz::require(request.groups.size() < 2 || request.group_policy, "several have a policy");
    fuzz::require(placement_queries(request, rules, {}, {}).size() == (asked->fallback ? 2 : 1),
                  "a query, and one for its fallback");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view of_image = "image:";
    auto text = fuzz::text_of(data, size);
    if (const auto cpus = parse_cpu_list(text.substr(0, 1'024))) {
        fuzz::require(!cpus->empty(), "a list of CPUs is not empty");
        fuzz::require(*cpus->begin() >= 0 && *cpus->rbegin() <= 65'535, "CPUs have small numbers");
    }
    Flavor flavor{"f", 4, 1'024, 20, 1, 100, {}};
    ImageProperties image;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto equals = std::min(line.find('='), line.size());
        const auto value = equals < line.size() ? line.substr(equals + 1) : std::string_view();
        std::string key(line.substr(0, equals));
        auto& texts = key.starts_with(of_image) ? image : flavor.extra_specs;
        if (&texts == &image) key.erase(0, of_image.size());
        texts.insert_or_assign(std::move(key), std::string(value));
    }
    image = image_meta(std::move(image));
    translate(flavor, image, NovaRelease::zed);
    translate(flavor, image, NovaRelease::r2026_2);
    return 0;
}
