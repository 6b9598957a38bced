#include "clients/openstack/nova_flavors.hpp"

#include <utility>

#include "clients/http/url.hpp"
#include "clients/openstack/nova_format.hpp"
#include "clients/openstack/reading.hpp"

namespace reaper::openstack {
namespace {

constexpr int flavors_on_a_page = 1000;
constexpr int max_flavor_pages = 1000;

}  // namespace

ResultTask<std::map<std::string, Flavor>> list_flavors(std::shared_ptr<Service> nova) {
    std::map<std::string, Flavor> flavors;
    std::string marker;
    // A page that adds nothing is the end, whatever the links say.
    for (int number = 0; number < max_flavor_pages; ++number) {
        std::string path =
            "/flavors/detail?is_public=None&limit=" + std::to_string(flavors_on_a_page);
        if (!marker.empty()) path += "&marker=" + http::escape(marker);
        auto answer = co_await get(nova, std::move(path));
        // The flavor at the end of the last page is gone: what follows is not known.
        if (answer && answer->response.status == 400 && !marker.empty())
            co_return Error{Errc::conflict, answer->where + ": the list of flavors changes"};
        auto page = record_in(answer, read_flavors, *nova);
        if (!page) co_return page.error();
        const std::size_t before = flavors.size();
        flavors.merge(page->flavors);
        if (flavors.size() == before) co_return flavors;
        marker = page->last_id;
    }
    co_return Error{Errc::bad_answer, "nova: the list of flavors does not end"};
}

}  // namespace reaper::openstack
