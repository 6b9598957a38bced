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

class Glance final : public Images, public std::enable_shared_from_this<Glance> {
public:
    Glance(std::shared_ptr<Session> session, Clock& clock)
        : session_(std::move(session)), clock_(clock) {}

    ResultTask<Found> image(std::string id) override {
        return http::keeping(shared_from_this(), known_or_asked(std::move(id)));
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

std::string images_root(std::string endpoint) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    const auto slash = endpoint.rfind('/');
    const std::string last = slash == std::string::npos ? "" : endpoint.substr(slash + 1);
    if (last == "v2" || last.starts_with("v2.")) return endpoint;
    return endpoint + "/v2";
}

}  // namespace reaper::openstack
