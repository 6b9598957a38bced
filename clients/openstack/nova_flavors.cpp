#include "clients/openstack/nova_flavors.hpp"

#include <utility>

#include "clients/http/url.hpp"
#include "clients/openstack/nova_format.hpp"

namespace reaper::openstack {
namespace {

constexpr int flavors_on_a_page = 1000;
constexpr int max_flavor_pages = 1000;

}  // namespace

ResultTask<std::set<std::string>> list_flavor_names(std::shared_ptr<Service> nova) {
    std::set<std::string> names;
    std::string marker;
    // A page that adds nothing is the end, whatever the links say.
    for (int number = 0; number < max_flavor_pages; ++number) {
        ServiceCall call;
        call.path = "/flavors?is_public=None&limit=" + std::to_string(flavors_on_a_page);
        if (!marker.empty()) call.path += "&marker=" + http::escape(marker);
        auto answer = co_await nova->call(std::move(call));
        if (!answer) co_return answer.error();
        // The flavor at the end of the last page is gone: what follows is not known.
        if (answer->response.status == 400 && !marker.empty())
            co_return Error{Errc::conflict, answer->where + ": the list of flavors changes"};
        if (answer->response.status != 200) co_return nova->refusal(*answer);
        auto page = read_flavors(answer->response.body, answer->where);
        if (!page) co_return page.error();
        const std::size_t before = names.size();
        names.insert(page->names.begin(), page->names.end());
        if (names.size() == before) co_return names;
        marker = page->last_id;
    }
    co_return Error{Errc::bad_answer, "nova: the list of flavors does not end"};
}

}  // namespace reaper::openstack
