#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/nova_release.hpp"

namespace reaper::cli::check_releases_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string nova(std::string_view newest, std::optional<NovaRelease> configured = std::nullopt) {
    return to_line(nova_tried(newest, configured), false);
}

/// What does not fit, a line each.
std::string misfit(std::string_view newest, const SchedulerRules& rules) {
    std::string text;
    for (const Finding& finding : misfits(newest, rules)) text += to_line(finding, false);
    return text;
}

std::string version_of(const ReleaseFacts& release) {
    return "2." + std::to_string(release.compute_minor);
}

TEST(TriedReleases, NovaIsKnownByItsApi) {
    EXPECT_EQ(nova("2.93"), "ok   release: Nova 26 (zed), as its API ends at 2.93: tried\n");
    EXPECT_THAT(nova("2.96"),
                HasSubstr("Nova 29 (2024.1) or Nova 30 (2024.2), as its API ends at 2.96: not "
                          "tried (tried: Nova 26 (zed)"));
    EXPECT_THAT(nova("2.90"), HasSubstr("info release: Nova older than Nova 26 (zed)"));
    EXPECT_THAT(nova("2.999"), HasSubstr("warn release: Nova newer than 2026.2, as its API"));
    for (const auto* const unknown : {"an unknown version", "", "2.", "2.x", "3.1", "2.-1"})
        EXPECT_THAT(nova(unknown), HasSubstr("info release: Nova of an unknown version"));
}

TEST(TriedReleases, TheConfiguredOneDecidesBetweenTwo) {
    for (const ReleaseFacts& each : known_releases()) {
        const std::string line = nova(version_of(each), each.release);
        EXPECT_THAT(line, HasSubstr("Nova " + std::to_string(each.nova) + " (" +
                                    std::string{each.name} + "), as"));
        EXPECT_THAT(line, HasSubstr(each.tried ? ": tried" : ": not tried (tried: "));
        EXPECT_TRUE(line.starts_with(each.tried ? "ok " : "info ")) << line;
    }
    EXPECT_EQ(nova("2.93", NovaRelease::r2025_1), nova("2.93")) << "the API shows that it is not";
}

TEST(TriedReleases, EachThatItMayBeIsNamed) {
    for (const ReleaseFacts& each : known_releases()) {
        const auto same = releases_of_api(each.compute_minor);
        const bool differ = std::any_of(same.begin(), same.end(), [&](const ReleaseFacts& other) {
            return other.tried != each.tried;
        });
        const std::string of_its_own = each.tried ? ", tried, " : ", not tried, ";
        EXPECT_THAT(nova(version_of(each)) + " ",
                    HasSubstr("(" + std::string{each.name} + ")" + (differ ? of_its_own : "")));
    }
}

TEST(TriedReleases, PlacementAndTheBrokerToo) {
    const auto placement = [](std::string_view newest) {
        return to_line(placement_tried(newest), false);
    };
    EXPECT_EQ(placement("1.39"), "ok   release: Placement 1.39: tried\n");
    EXPECT_EQ(placement("1.36"), "info release: Placement 1.36: not tried (tried: 1.39)\n");
    EXPECT_EQ(placement("1.40"), "info release: Placement 1.40: not tried (tried: 1.39)\n");
    const auto broker = [](std::string_view product) {
        return to_line(broker_tried(product), false);
    };
    EXPECT_EQ(broker("RabbitMQ 3.10.8"), "ok   release: RabbitMQ 3.10.8: tried\n");
    for (const auto* const other :
         {"RabbitMQ 3.1.5", "RabbitMQ 99.1.0", "Another 3.10.8", "RabbitMQ", "unknown broker"})
        EXPECT_THAT(broker(other), HasSubstr(std::string{"info release: "} + other +
                                             ": not tried (tried: RabbitMQ 3.10"));
}

TEST(Misfits, AConfiguredReleaseOfAnotherApiIsReported) {
    SchedulerRules rules;
    EXPECT_THAT(misfit("2.100", rules), IsEmpty()) << "auto fits all";
    for (const NovaRelease release : {NovaRelease::r2025_1, NovaRelease::r2025_2}) {
        rules.release = release;
        EXPECT_THAT(misfit("2.100", rules), IsEmpty());
    }
    EXPECT_THAT(misfit("an unknown version", rules), IsEmpty());
    rules.release = NovaRelease::r2026_1;
    EXPECT_EQ(misfit("2.100", rules),
              "warn scheduler: nova_release is 2026.1, but the API ends at 2.100 (2025.1 or "
              "2025.2): the reaper requires what Nova does not ask for; set auto\n");
    EXPECT_THAT(misfit("2.104", rules), HasSubstr("(2026.2): keep it only while an upgrade"));
    rules.release = NovaRelease::r2026_2;
    EXPECT_THAT(misfit("2.999", rules), HasSubstr("(newer than 2026.2): keep it only while an"));
    rules.release = NovaRelease::zed;
    EXPECT_THAT(misfit("2.53", rules), IsEmpty()) << "and what came before";
}

TEST(Misfits, DevicesInPlacementNeed2023_1) {
    SchedulerRules rules;
    rules.pci_in_placement = true;
    EXPECT_THAT(misfit("2.93", rules), HasSubstr("warn scheduler: pci_in_placement is on, but"));
    EXPECT_THAT(misfit("2.95", rules), IsEmpty());
}

/// The table of the manual is that of the program.
TEST(TriedReleases, AreThoseOfTheManual) {
    std::ifstream file("deploy/docs/releases.md");
    const std::string manual{std::istreambuf_iterator<char>(file), {}};
    for (const ReleaseFacts& each : known_releases())
        EXPECT_THAT(manual, HasSubstr("\n| " + std::string{each.name} + " | " +
                                      std::to_string(each.nova) + " | " + version_of(each) +
                                      " | 1." + std::to_string(each.placement_minor) + " | " +
                                      (each.tried ? "tried" : "not tried") + " |\n"));
    std::string brokers;
    for (const std::string_view version : tried_rabbitmq())
        brokers += (brokers.empty() ? "" : ", ") + std::string{version};
    EXPECT_THAT(manual, HasSubstr("\nVersions of RabbitMQ that were tried: " + brokers + ".\n"));
}

}  // namespace
}  // namespace reaper::cli::check_releases_test
