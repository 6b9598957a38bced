#include "reaper/controllers/safeguards/cloud_probe.hpp"

#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// No server's: Nova answers 404, Placement that it holds nothing, and both have looked.
constexpr const char* unused_server_id = "00000000-0000-0000-0000-000000000000";

}  // namespace

CloudProbe::CloudProbe(CloudPorts cloud, const LiveSettings& settings)
    : cloud_(cloud), settings_(settings) {
    all_answered();
}

std::vector<PeriodicTask> CloudProbe::tasks() {
    std::vector<PeriodicTask> tasks;
    for (const Which which : {keystone, nova, placement})
        tasks.push_back({std::string{"asking "} + services_[which].name + " whether it answers",
                         [] { return between_questions; }, [this, which] { return ask(which); },
                         between_questions, true});
    return tasks;
}

void CloudProbe::answered(Seen& seen) {
    seen.at = cloud_.clock.steady();
    seen.shown = cloud_.clock.now();
    seen.why.clear();
}

void CloudProbe::all_answered() {
    for (Seen& seen : services_) answered(seen);
}

ResultTask<void> CloudProbe::ask(Which which) {
    auto trouble = co_await trouble_of(which);
    Seen& seen = services_[which];
    if (!trouble) {
        answered(seen);
        // It does not without a token. Keystone may have nothing to be asked for.
        if (which == nova && std::exchange(refused_, false))
            spdlog::info("Keystone accepts our credentials again");
        co_return Result<void>{};
    }
    // The refusal is already logged, with all that Keystone said.
    const bool refuses = trouble->code == Errc::unauthorized;
    if (seen.why.empty()) seen.why = refuses ? "Keystone refuses our credentials" : trouble->what;
    co_return *trouble;
}

Task<std::optional<Error>> CloudProbe::trouble_of(Which which) {
    ServerId id{unused_server_id};
    if (which == keystone) {
        TaggerInputs inputs = settings_.policy->tagger_inputs();
        auto tag_data = co_await read_tag_data(cloud_, std::move(inputs));
        if (!tag_data) co_return tag_data.error();
    } else if (which == nova) {
        auto server = co_await cloud_.compute.server(std::move(id));
        if (!server) co_return server.error();
    } else {
        auto held = co_await cloud_.placement.allocations(std::move(id));
        if (!held) co_return held.error();
    }
    co_return std::nullopt;
}

std::optional<std::string> CloudProbe::why_silent() const {
    for (const Seen& seen : services_) {
        if (cloud_.clock.steady() - seen.at <= valid_for) continue;
        return std::string{seen.name} + " has not answered since " + iso_time(seen.shown) + ": " +
               (seen.why.empty() ? "a call hangs" : seen.why);
    }
    return std::nullopt;
}

}  // namespace reaper
