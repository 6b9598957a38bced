// `modules`: what they bring stands in the tables, and its faults are the module's. What they bring
// stays in the tables of this program, so each test has names of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

#include "reaper/modules/loaded_modules.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::modules_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string digest(64, 'a');

/// Throws whatever it is asked, but for what it goes by.
class Broken : public Strategy, public Tagger, public Estimator, public QosController {
public:
    std::string_view name() const override { throw std::runtime_error("broken name"); }
    Selection select(const Problem&) const override { throw std::runtime_error("no memory"); }
    void ask(TaggerInputs&) const override { throw std::runtime_error("no question"); }
    std::optional<std::string> why_revocable(const Server&, const TagData&) const override {
        throw std::runtime_error("no answer");
    }
    std::optional<std::string> why_revocable(const Request&, const TagData&) const override {
        throw 42;
    }
    bool goes_by_project() const override { return true; }
    Estimate estimate(const HostFacts&, const HostUsage&) const override {
        throw std::runtime_error("no figures");
    }
    QosVerdict look(const QosState&, const HostLoad&, TimePoint) const override {
        throw std::runtime_error("no look");
    }
};

std::variant<ModuleParts, ParameterError> make_broken(const Parameters&) {
    ModuleParts parts;
    parts.strategies.push_back(
        {"broken", "fails", {}, [](const Parameters&) { return std::make_unique<Broken>(); }});
    parts.taggers.push_back(
        {"broken", "fails", {}, [](const Parameters&) { return std::make_unique<Broken>(); }});
    parts.estimators.push_back(
        {"broken", "fails", {}, [](const Parameters&) { return std::make_unique<Broken>(); }});
    parts.qos.push_back(
        {"broken", "fails", {}, [](const Parameters&) { return std::make_unique<Broken>(); }});
    return parts;
}

template <class Thing, class Info>
std::unique_ptr<Thing> made(const Info* info) {
    auto either = info->make(with_standards(info->parameters, {}));
    return std::move(std::get<std::unique_ptr<Thing>>(either));
}

class NoHosts : public HostList {
public:
    const HostOption& operator[](std::size_t) const override { throw std::logic_error("none"); }
    bool sketch(std::size_t, HostSketch&) const override { return false; }
};

/// Answers that can't be.
class Lying : public Strategy, public Estimator, public QosController {
public:
    std::string_view name() const override { return "lying"; }
    Selection select(const Problem&) const override {
        Selection selection;
        selection.hosts[7].victims = {0};
        return selection;
    }
    Estimate estimate(const HostFacts&, const HostUsage&) const override {
        Estimate estimate;
        estimate.known = true;
        estimate.rise_to = 9;
        estimate.fall_to = 3;
        return estimate;
    }
    QosVerdict look(const QosState&, const HostLoad&, TimePoint) const override {
        QosVerdict verdict;
        verdict.correction = HostCorrection{HostId{"another"}, true, 0, "because"};
        return verdict;
    }
};

std::variant<ModuleParts, ParameterError> make_lying(const Parameters& parameters) {
    if (std::get<std::int64_t>(parameters.at("size")) < 0)
        return ParameterError{"size", "a number from 0"};
    ModuleParts parts;
    parts.strategies.push_back(
        {"lying", "lies", {}, [](const Parameters&) { return std::make_unique<Lying>(); }});
    parts.estimators.push_back(
        {"lying", "lies", {}, [](const Parameters&) { return std::make_unique<Lying>(); }});
    parts.qos.push_back(
        {"lying", "lies", {}, [](const Parameters&) { return std::make_unique<Lying>(); }});
    return parts;
}

ModuleFile file_of(std::string_view name,
                   std::variant<ModuleParts, ParameterError> (*make)(const Parameters&)) {
    return {"/m/" + std::string{name} + ".so",
            digest,
            {name, "1.0", {{"size", ParameterKind::integer, std::int64_t{4}, "of it"}}, make}};
}

class Modules : public testing::Test {
protected:
    Modules() {
        world_.modules["/m/broken.so"] = file_of("breaking", make_broken);
        world_.modules["/m/lying.so"] = file_of("liar", make_lying);
    }

    /// The mistakes of a file with this entry, and `more`.
    std::vector<std::string> errors(const std::string& entry, const std::string& more = "") {
        return world_.errors(minimal(more + "modules: [" + entry + "]\n"));
    }

    World world_;
};

TEST_F(Modules, WhatTheyBringIsInTheTablesAndNamesItsModule) {
    // The key stands behind the one that needs it.
    const auto settings = world_.good(minimal(
        "strategy: {name: broken}\nmodules: [{path: /m/broken.so, parameters: {size: 5}}]\n"));
    EXPECT_EQ(settings.policy.strategy.name, "broken");
    ASSERT_EQ(settings.modules.size(), 1U);
    EXPECT_EQ(settings.modules[0].parameters.at("size"), ParameterValue{std::int64_t{5}});
    EXPECT_EQ(find_strategy("broken")->module, "breaking 1.0");
    EXPECT_EQ(find_tagger("broken")->module, "breaking 1.0");
    EXPECT_EQ(find_estimator("broken")->module, "breaking 1.0");
    EXPECT_EQ(find_qos("broken")->module, "breaking 1.0");
    EXPECT_EQ(find_strategy("cost")->module, "");
    const auto* const loaded = find_loaded_module("/m/broken.so");
    ASSERT_NE(loaded, nullptr);
    EXPECT_EQ(loaded->parts,
              "strategy broken, tagger broken, estimator broken, QoS controller broken");
    EXPECT_EQ(loaded->sha256, digest);
    EXPECT_THAT(errors("{path: /m/broken.so}"), IsEmpty()) << "as in a reload";
}

TEST_F(Modules, AMistakeIsTheFilesWithItsPlace) {
    EXPECT_THAT(errors("{path: /m/none.so}"),
                ElementsAre(HasSubstr("reaper.yaml:9: modules[0].path: can't find /m/none.so")));
    EXPECT_THAT(errors("{sha256: " + digest + "}"), ElementsAre(HasSubstr("has no path")));
    EXPECT_THAT(errors("{path: /m/lying.so, sha256: beef}"),
                ElementsAre(HasSubstr("modules[0].sha256: is no SHA-256")));
    EXPECT_THAT(errors("{path: /m/lying.so, sha256: " + std::string(64, 'b') + "}"),
                ElementsAre(HasSubstr("another file than was meant")));
    EXPECT_THAT(errors("{path: /m/lying.so, parameters: {sise: 3}}"),
                ElementsAre(HasSubstr("modules[0].parameters.sise: unknown key; expected size")));
    EXPECT_THAT(errors("{path: /m/lying.so, parameters: {size: -3}}"),
                ElementsAre(HasSubstr("modules[0].parameters.size: module liar refuses it; "
                                      "expected a number from 0")));
    EXPECT_THAT(errors("{path: /m/lying.so, colour: red}"),
                ElementsAre(HasSubstr("modules[0].colour: unknown key")));
    EXPECT_EQ(find_strategy("lying"), nullptr) << "of a module that is refused, nothing is there";
}

TEST_F(Modules, ANameThatIsTakenIsRefusedWithAllOfTheModule) {
    world_.modules["/m/cost.so"] = file_of("thief", [](const Parameters&) {
        ModuleParts parts;
        const auto make = [](const Parameters&) { return std::make_unique<Lying>(); };
        parts.estimators.push_back({"thiefs", "lies", {}, make});
        parts.strategies.push_back({"cost", "lies", {}, make});
        return std::variant<ModuleParts, ParameterError>{std::move(parts)};
    });
    EXPECT_THAT(errors("{path: /m/cost.so}"),
                ElementsAre(HasSubstr("there is a strategy 'cost' already")));
    EXPECT_EQ(find_estimator("thiefs"), nullptr);
}

TEST_F(Modules, AFileThatChangedSinceItWasLoadedWantsARestart) {
    ASSERT_THAT(errors("{path: /m/broken.so}"), IsEmpty());
    world_.modules["/m/broken.so"].sha256 = std::string(64, 'c');
    EXPECT_THAT(errors("{path: /m/broken.so}"),
                ElementsAre(HasSubstr("differs from the loaded file")));
}

TEST_F(Modules, WhoseCodeThrowsSelectsAndCallsNothingRevocableAndCorrectsNothing) {
    ASSERT_THAT(errors("{path: /m/broken.so}"), IsEmpty());
    const NoHosts hosts;
    const Problem problem{.shape = {}, .slots = 1, .slots_least = 1, .hosts = hosts};
    const auto selected = made<Strategy>(find_strategy("broken"))->select(problem);
    EXPECT_TRUE(selected.hosts.empty());
    EXPECT_EQ(selected.note, "module breaking 1.0: strategy broken failed: no memory");

    const auto tagger = made<Tagger>(find_tagger("broken"));
    TaggerInputs inputs;
    tagger->ask(inputs);
    EXPECT_EQ(tagger->name(), "broken");
    EXPECT_EQ(tagger->why_revocable(Server{}, {}), std::nullopt) << "no server is deleted for it";
    EXPECT_THAT(tagger->why_regular(Server{}, {}).value_or(""), HasSubstr("no answer"));
    EXPECT_EQ(tagger->why_revocable(Request{}, {}), "module breaking 1.0: tagger broken failed")
        << "a revocable requester never causes a cull";
    EXPECT_TRUE(tagger->goes_by_project()) << "what the module says";

    const auto estimate = made<Estimator>(find_estimator("broken"))->estimate({}, {});
    EXPECT_FALSE(estimate.known);
    EXPECT_EQ(estimate.why, "module breaking 1.0: estimator broken failed: no figures");

    const auto verdict = made<QosController>(find_qos("broken"))->look({}, {}, {});
    EXPECT_EQ(verdict.correction, std::nullopt);
    EXPECT_EQ(verdict.why, "module breaking 1.0: QoS controller broken failed: no look");
}

TEST_F(Modules, AnswersThatCannotBeAreFaultsOfTheModule) {
    ASSERT_THAT(errors("{path: /m/lying.so}"), IsEmpty());
    const NoHosts hosts;
    const Problem problem{.shape = {}, .slots = 1, .slots_least = 1, .hosts = hosts};
    const auto selected = made<Strategy>(find_strategy("lying"))->select(problem);
    EXPECT_TRUE(selected.hosts.empty());
    EXPECT_THAT(selected.note, HasSubstr("selected servers that were not offered"));
    const auto estimate = made<Estimator>(find_estimator("lying"))->estimate({}, {});
    EXPECT_FALSE(estimate.known);
    EXPECT_THAT(estimate.why, HasSubstr("rise_to 9, fall_to 3"));
    HostLoad load;
    load.host = HostId{"asked"};
    const auto verdict = made<QosController>(find_qos("lying"))->look({}, load, {});
    EXPECT_EQ(verdict.correction, std::nullopt);
    EXPECT_THAT(verdict.why, HasSubstr("a host that it was not asked about"));
}

TEST_F(Modules, TheyAreShownAndReadBack) {
    const auto settings =
        world_.good(minimal("modules: [{path: /m/broken.so, sha256: " + digest + "}]\n"));
    const auto shown = to_yaml(settings);
    EXPECT_THAT(shown, HasSubstr("path: /m/broken.so"));
    EXPECT_THAT(shown, HasSubstr("size: 4"));
}

}  // namespace
}  // namespace reaper::config::test::modules_test
