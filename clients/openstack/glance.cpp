#include "clients/openstack/glance.hpp"

#include <chrono>
#include <map>
#include <utility>

#include "clients/http/transport.hpp"
#include "clients/openstack/reading.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::openstack {

namespace {

constexpr Duration longest_call = std::chrono::seconds(5);
constexpr Duration fresh_for = std::chrono::minutes(1);
constexpr std::size_t max_kept = 1000;

using Found = std::optional<ImageProperties>;

ResultTask<Found> find_image(std::shared_ptr<Session> session, const std::string& id) {
    auto url = co_await session->url_of(CloudService::image);
    if (!url) co_return url.error();
    ServiceCall call;
    call.path = "/images/" + http::escape(id);
    call.deadline = longest_call;
    std::string root = images_root(std::move(*url));
    auto answer = co_await session->call_at(CloudService::image, std::move(root), std::move(call));
    co_return found_in(answer, read_image, *session);
}

constexpr int images_on_a_page = 500;
constexpr int max_image_pages = 100;

ResultTask<std::vector<ServerImage>> list_server_images(std::shared_ptr<Session> session) {
    std::vector<ServerImage> all;
    auto url = co_await session->url_of(CloudService::image);
    if (!url && url.error().code == Errc::bad_input) co_return all;
    if (!url) co_return url.error();
    auto who = co_await session->who();
    if (!who) co_return who.error();
    const std::string root = images_root(std::move(*url));
    const std::string path = "/images?image_type=snapshot&owner=" + http::escape(who->project_id) +
                             "&user_id=" + http::escape(who->user_id) +
                             "&limit=" + std::to_string(images_on_a_page);
    std::string marker;
    for (int number = 0; number < max_image_pages; ++number) {
        ServiceCall call;
        call.path = path + (marker.empty() ? "" : "&marker=" + http::escape(marker));
        std::string place = root;
        auto answer =
            co_await session->call_at(CloudService::image, std::move(place), std::move(call));
        auto page = record_in(answer, read_server_images, *session);
        if (!page) co_return page.error();
        all.insert(all.end(), page->images.begin(), page->images.end());
        if (page->last_id.empty() || page->last_id == marker) co_return all;
        marker = std::move(page->last_id);
    }
    co_return Error{Errc::bad_answer, "glance: the list of images does not end"};
}

ResultTask<bool> remove_image(std::shared_ptr<Session> session, std::string id) {
    if (id.empty()) co_return Error{Errc::bad_input, "glance: delete of an image without an id"};
    auto url = co_await session->url_of(CloudService::image);
    if (!url) co_return url.error();
    ServiceCall call;
    call.method = http::Method::del;
    call.path = "/images/" + http::escape(id);
    std::string root = images_root(std::move(*url));
    auto answer = co_await session->call_at(CloudService::image, std::move(root), std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status == 404) co_return false;
    if (answer->response.status != 204) co_return session->refusal(*answer);
    co_return true;
}

class Glance final : public Images, public std::enable_shared_from_this<Glance> {
public:
    Glance(std::shared_ptr<Session> session, Clock& clock)
        : session_(std::move(session)), clock_(clock) {}

    ResultTask<Found> image(std::string id) override {
        return http::keeping(shared_from_this(), known_or_asked(std::move(id)));
    }
    ResultTask<std::vector<ServerImage>> own_server_images() override {
        return list_server_images(session_);
    }
    ResultTask<bool> delete_image(std::string id) override {
        return remove_image(session_, std::move(id));
    }

private:
    struct Kept {
        Found found;
        Duration until{};
    };

    ResultTask<Found> known_or_asked(std::string id) {
        if (id.empty()) co_return Found{};
        const Duration now = clock_.steady();
        if (const auto kept = kept_.find(id); kept != kept_.end() && now < kept->second.until)
            co_return kept->second.found;
        auto read = co_await find_image(session_, id);
        if (!read) {
            // A cloud without an image service is one of its own kind, and no trouble.
            const bool no_service = read.error().code == Errc::bad_input;
            if (no_service && !std::exchange(told_, true))
                spdlog::info("{}: traits and a res-type that only an image asks for do not count",
                             read.error().what);
            if (no_service) co_return Found{};
            co_return read.error();
        }
        keep(std::move(id), *read);
        co_return std::move(*read);
    }

    void keep(std::string id, const Found& found) {
        const Duration now = clock_.steady();
        if (kept_.size() >= max_kept)
            std::erase_if(kept_, [&](const auto& each) { return each.second.until <= now; });
        if (kept_.size() >= max_kept) kept_.clear();
        kept_[std::move(id)] = Kept{found, now + fresh_for};
    }

    std::shared_ptr<Session> session_;
    Clock& clock_;
    std::map<std::string, Kept> kept_;
    bool told_ = false;  ///< that there is no image service
};

}  // namespace

std::shared_ptr<Images> make_images(std::shared_ptr<Session> session, Clock& clock) {
    return std::make_shared<Glance>(std::move(session), clock);
}

ResultTask<EndpointInfo> glance_info(std::shared_ptr<Session> session) {
    auto url = co_await session->url_of(CloudService::image);
    if (!url) co_return url.error();
    EndpointInfo info;
    info.url = std::move(*url);
    info.version = "2";
    co_return info;
}

Result<ImageProperties> read_image(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        ImageProperties properties;
        top["id"].text();
        top.each_member([&](const std::string& name, const JsonPlace& value) {
            // None that is asked of is longer; what users write beside that is not kept.
            constexpr std::size_t longest = 300;
            if (value.is_text() && value.text().size() <= longest && name.size() <= longest)
                properties.emplace(name, value.text());
        });
        return properties;
    });
}

Result<ServerImagePage> read_server_images(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        ServerImagePage page;
        std::string last;
        top["images"].each([&](const JsonPlace& image) {
            last = image["id"].id();
            std::string server = image.text_or_empty("instance_uuid");
            if (!server.empty())
                page.images.push_back({last, image.text_or_empty("name"),
                                       ServerId{std::move(server)}, image["created_at"].time()});
        });
        if (top.maybe("next")) page.last_id = std::move(last);
        return page;
    });
}

std::string images_root(std::string endpoint) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    const auto slash = endpoint.rfind('/');
    const std::string last = slash == std::string::npos ? "" : endpoint.substr(slash + 1);
    if (last == "v2" || last.starts_with("v2.")) return endpoint;
    return endpoint + "/v2";
}

}  // namespace reaper::openstack
