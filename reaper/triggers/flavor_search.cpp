#include "reaper/triggers/flavor_search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string known_by(const std::map<std::string, Flavor>& flavors) {
    std::set<std::string> names;
    for (const auto& [id, flavor] : flavors) names.insert(flavor.name);
    return name_list(names);
}

}  // namespace

ResultTask<FlavorSearch> find_flavor(Compute& compute, std::string written) {
    auto flavors = co_await compute.all_flavors();
    if (!flavors) co_return flavors.error();
    auto at = flavors->find(written);
    if (at == flavors->end())
        at = std::find_if(flavors->begin(), flavors->end(),
                          [&](const auto& each) { return each.second.name == written; });
    FlavorSearch search;
    search.why_not = "there is no flavor " + in_quotes(written) +
                     " in this cloud, by id or name; there are: " + known_by(*flavors);
    if (at == flavors->end()) co_return search;
    // The list may come without extra specs.
    std::string id = at->first;
    auto flavor = co_await compute.flavor(std::move(id));
    if (!flavor) co_return flavor.error();
    search.found = std::move(*flavor);
    co_return search;
}

ResultTask<OfFlavor> with_flavor(Compute& compute, Request request, std::string written,
                                 SchedulerRules rules) {
    auto search = co_await find_flavor(compute, std::move(written));
    if (!search) co_return search.error();
    co_return co_await with_found_flavor(compute, std::move(request), std::move(*search),
                                         std::move(rules));
}

ResultTask<OfFlavor> with_found_flavor(Compute& compute, Request request, FlavorSearch search,
                                       SchedulerRules rules) {
    if (!search.found) co_return OfFlavor{UnknownFlavor{std::move(search.why_not)}};
    auto release = co_await compute.release();
    if (!release) co_return release.error();
    auto built = of_flavor(std::move(request), *search.found, *release, rules);
    if (auto* const refused = std::get_if<Refused>(&built))
        co_return OfFlavor{Refused{"flavor: " + refused->reason}};
    co_return OfFlavor{std::get<Request>(std::move(built))};
}

}  // namespace reaper
