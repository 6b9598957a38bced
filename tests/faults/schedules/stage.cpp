#include "faults/schedules/stage.hpp"

#include <stdexcept>
#include <utility>

#include "reaper/runtime/backoff.hpp"

namespace reaper::faults {

using cloudsim::Server;
using cloudsim::Uuid;

Stage::Stage(SchedulePlan plan)
    : plan_(std::move(plan)),
      trace_(timeline_, std::getenv("CHURN_TRACE") != nullptr),
      site_(plan_.cloud,
            [this] { return cloudsim::Time{timeline_.true_now().time_since_epoch()}; }),
      network_(timeline_, site_, trace_, counts_, plan_.seed ^ 0x9e37U),
      broker_(timeline_, trace_, counts_, plan_.seed ^ 0x79b9U),
      gateway_(timeline_, site_, network_, trace_, plan_.seed ^ 0x517cU, [] {}),
      notifications_([this]() -> cloudsim::World& { return site_.world(); },
                     [this](cloudsim::Message message) { broker_.publish(std::move(message)); }) {
    site_.set_root("http://cloud.sim:8000");
    if (const std::string wrong = site_.fill(); !wrong.empty()) throw std::runtime_error(wrong);
    site_.listen(notifications_);
    if (plan_.gateway.listen.empty()) return;
    gateway_.watch({[](const auto&...) {}, [](const auto&...) {}, [] {}});
    site_.world().door = &gateway_;
}

void Stage::start_reaper() {
    Backoff::seed(static_cast<unsigned>(plan_.seed));
    process_ = std::make_unique<Process>(plan_, configured_by(plan_), timeline_, network_, broker_,
                                         journal_, pause_, breaker_, site_);
    gateway_.ask_of(process_.get());
}

void Stage::run_for(Duration length) {
    const TimePoint end = now() + length;
    do {
        while (process_ && process_->poll_one()) {
        }
        if (process_ && process_->ended()) throw std::runtime_error(*process_->ended());
    } while (advance(end));
    timeline_.move_to(end);
}

bool Stage::advance(TimePoint end) {
    if (timeline_.run_due()) return true;
    if (world().clock.run_due() > 0) return true;
    auto next = timeline_.next();
    if (const auto cloud = world().clock.until_next()) {
        const TimePoint at = now() + std::chrono::ceil<Duration>(*cloud);
        next = next ? std::min(*next, at) : at;
    }
    if (!next || *next > end) return false;
    timeline_.move_to(*next);
    return true;
}

std::string Stage::project_id(const std::string& name) {
    return world().identity.project_named(name)->id;
}

std::shared_ptr<cloudsim::Context> Stage::user_of(const std::string& project) {
    auto context = std::make_shared<cloudsim::Context>();
    context->user_id = context->user_name = "user-of-" + project;
    context->project_id = project_id(project);
    context->project_name = project;
    context->roles = {"member"};
    context->request = world().rng.uuid();
    return context;
}

std::string Stage::boot(const std::string& project, const std::string& flavor, int servers,
                        std::vector<Uuid>& ids, std::optional<Uuid> given,
                        const cloudsim::Image* image) {
    cloudsim::CreateRequest request;
    request.name = "wanted";
    request.flavor = world().nova.find_flavor_name(flavor);
    request.image = image != nullptr ? image : world().nova.images.front().get();
    request.count = static_cast<std::size_t>(servers);
    const auto by = user_of(project);
    by->given = given;
    for (const Server* server : site_.lifecycle().create(std::move(request), by))
        ids.push_back(server->id);
    return by->global_id();
}

bool Stage::put(const std::string& project, const std::string& flavor, const std::string& host) {
    auto server = std::make_unique<Server>();
    const auto by = user_of(project);
    server->id = world().rng.uuid();
    server->name = "filler";
    server->project = world().names.id(by->project_id);
    server->user = world().names.id(by->user_id);
    server->flavor = world().nova.find_flavor_name(flavor);
    server->image = world().nova.images.front().get();
    server->state = cloudsim::VmState::active;
    server->reservation = "r-" + world().rng.letters(8);
    server->created = cloudsim::to_seconds(world().clock.now());
    server->updated = server->launched = server->created;
    return site_.lifecycle().put(std::move(server), *world().nova.find_host(host)) != nullptr;
}

void Stage::remove(const std::string& project, const Uuid& id) {
    if (Server* const server = find(id))
        site_.lifecycle().remove(*server, cloudsim::DeleteKind::normal, {}, user_of(project));
}

void Stage::set_locked(const std::string& project, const Uuid& id, bool locked) {
    Server* const server = find(id);
    if (server == nullptr) return;
    if (locked)
        site_.lifecycle().lock(*server, "", user_of(project));
    else
        site_.lifecycle().unlock(*server, user_of(project));
}

}  // namespace reaper::faults
