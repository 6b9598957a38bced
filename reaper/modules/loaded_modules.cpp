#include "reaper/modules/loaded_modules.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/modules/module.hpp"

namespace reaper {

// Between the program and a module's parts: what they throw, and answers that can't be, are logged
// as faults of the module, and no server is deleted for them. A strategy then selects nothing, a
// tagger calls no server revocable and no request regular, an estimator knows nothing, and a QoS
// controller corrects nothing. A call that takes long is logged too; a crash or an endless loop
// ends the program (systemd's watchdog starts it again).

namespace {

/// Nothing else runs in the meantime.
constexpr std::chrono::seconds long_call{1};

/// Faults of one part, and the log of them.
class Faults {
public:
    Faults(std::string module, std::string part)
        : who_{"module " + std::move(module) + ": " + std::move(part)} {}

    /// The line that was logged. Of many, the 1st, 2nd, 4th, 8th ... are logged.
    std::string tell(const std::string& what) {
        ++count_;
        std::string line = who_ + " " + what;
        if ((count_ & (count_ - 1)) == 0)
            spdlog::error("{}{}", line,
                          count_ == 1 ? "" : " (fault " + std::to_string(count_) + ")");
        return line;
    }

    /// What `call` returns; where it fails, what `instead` makes of the line.
    template <class Call, class Instead>
    auto guarded(Call call, Instead instead) -> decltype(call()) {
        const auto begun = std::chrono::steady_clock::now();
        try {
            auto answer = call();
            const auto took = std::chrono::steady_clock::now() - begun;
            if (took >= long_call)
                spdlog::warn("{} took {} s, in which nothing else ran", who_,
                             std::chrono::duration_cast<std::chrono::seconds>(took).count());
            return answer;
        } catch (const std::exception& exception) {
            return instead(tell(std::string{"failed: "} + exception.what()));
        } catch (...) {
            return instead(tell("failed"));
        }
    }

private:
    std::string who_;
    unsigned long count_ = 0;
};

using SharedFaults = std::shared_ptr<Faults>;

class GuardedStrategy final : public Strategy {
public:
    GuardedStrategy(std::unique_ptr<Strategy> inner, SharedFaults faults)
        : inner_{std::move(inner)}, faults_{std::move(faults)} {}

    Selection select(const Problem& problem) const override {
        const auto nothing = [](std::string line) {
            Selection none;
            none.note = std::move(line);
            return none;
        };
        auto selection = faults_->guarded([&] { return inner_->select(problem); }, nothing);
        for (const auto& [host, on_host] : selection.hosts)
            if (!offered(problem, host, on_host.victims))
                return nothing(faults_->tell("selected servers that were not offered"));
        std::erase_if(selection.passed, [&](const Selection::Passed& passed) {
            return passed.host >= problem.hosts.size();
        });
        return selection;
    }
    std::size_t warm(const Problem& problem, std::size_t hosts) const override {
        return faults_->guarded([&] { return inner_->warm(problem, hosts); },
                                [](const std::string&) { return std::size_t{0}; });
    }
    std::string why_not_instead(const Problem& problem, const Rivals& rivals) const override {
        return faults_->guarded([&] { return inner_->why_not_instead(problem, rivals); },
                                [](const std::string&) { return std::string{}; });
    }

private:
    static bool offered(const Problem& problem, std::size_t host,
                        std::vector<std::size_t> victims) {
        std::ranges::sort(victims);
        return host < problem.hosts.size() &&
               std::ranges::adjacent_find(victims) == victims.end() &&
               (victims.empty() || victims.back() < problem.hosts[host].candidates.size());
    }

    std::unique_ptr<Strategy> inner_;
    SharedFaults faults_;
};

class GuardedTagger final : public Tagger {
public:
    GuardedTagger(std::unique_ptr<Tagger> inner, std::string name, SharedFaults faults)
        : inner_{std::move(inner)}, name_{std::move(name)}, faults_{std::move(faults)} {}

    std::string_view name() const override { return name_; }
    void ask(TaggerInputs& inputs) const override {
        inputs = faults_->guarded(
            [&] {
                TaggerInputs asked = inputs;
                inner_->ask(asked);
                return asked;
            },
            [&](const std::string&) { return inputs; });
    }
    std::optional<std::string> why_revocable(const Server& server,
                                             const TagData& tag_data) const override {
        return said([&] { return inner_->why_revocable(server, tag_data); }, false);
    }
    std::optional<std::string> why_revocable(const Request& request,
                                             const TagData& tag_data) const override {
        return said([&] { return inner_->why_revocable(request, tag_data); }, true);
    }
    std::optional<std::string> why_regular(const Server& server,
                                           const TagData& tag_data) const override {
        return said(
            [&] {
                // A module that can't say why a server is revocable says why it is not.
                static_cast<void>(inner_->why_revocable(server, tag_data));
                return inner_->why_regular(server, tag_data);
            },
            true);
    }
    std::optional<std::string> why_regular(const Request& request,
                                           const TagData& tag_data) const override {
        return said([&] { return inner_->why_regular(request, tag_data); }, false);
    }
    bool goes_by_project() const override {
        return faults_->guarded([&] { return inner_->goes_by_project(); },
                                [](const std::string&) { return false; });
    }
    std::optional<ResourceClass> marker_class() const override {
        return of_class([&] { return inner_->marker_class(); });
    }
    std::optional<ResourceClass> held_class() const override {
        return of_class([&] { return inner_->held_class(); });
    }

private:
    template <class Call>
    std::optional<std::string> said(Call call, bool if_it_fails) const {
        return faults_->guarded(call, [&](std::string line) {
            return if_it_fails ? std::optional{std::move(line)} : std::nullopt;
        });
    }
    template <class Call>
    std::optional<ResourceClass> of_class(Call call) const {
        return faults_->guarded(call,
                                [](const std::string&) { return std::optional<ResourceClass>{}; });
    }

    std::unique_ptr<Tagger> inner_;
    std::string name_;
    SharedFaults faults_;
};

class GuardedEstimator final : public Estimator {
public:
    GuardedEstimator(std::unique_ptr<Estimator> inner, std::string name, SharedFaults faults)
        : inner_{std::move(inner)}, name_{std::move(name)}, faults_{std::move(faults)} {}

    std::string_view name() const override { return name_; }
    bool measures() const override {
        return faults_->guarded([&] { return inner_->measures(); },
                                [](const std::string&) { return false; });
    }
    UsageWindows windows() const override {
        return faults_->guarded([&] { return inner_->windows(); },
                                [](const std::string&) { return UsageWindows{}; });
    }
    std::vector<NamedHosts> named() const override {
        return faults_->guarded([&] { return inner_->named(); },
                                [](const std::string&) { return std::vector<NamedHosts>{}; });
    }
    Estimate estimate(const HostFacts& facts, const HostUsage& usage) const override {
        const auto unknown = [](std::string line) {
            Estimate none;
            none.why = std::move(line);
            return none;
        };
        auto estimate = faults_->guarded([&] { return inner_->estimate(facts, usage); }, unknown);
        if (!estimate.known || (estimate.rise_to >= 0 && estimate.rise_to <= estimate.fall_to &&
                                estimate.keep_to >= 0 && std::isfinite(estimate.coverage)))
            return estimate;
        return unknown(faults_->tell("gave an impossible estimate: rise_to " +
                                     std::to_string(estimate.rise_to) + ", fall_to " +
                                     std::to_string(estimate.fall_to) + ", keep_to " +
                                     std::to_string(estimate.keep_to)));
    }

private:
    std::unique_ptr<Estimator> inner_;
    std::string name_;
    SharedFaults faults_;
};

class GuardedQos final : public QosController {
public:
    GuardedQos(std::unique_ptr<QosController> inner, std::string name, SharedFaults faults)
        : inner_{std::move(inner)}, name_{std::move(name)}, faults_{std::move(faults)} {}

    std::string_view name() const override { return name_; }
    LoadFigures figures() const override {
        return faults_->guarded([&] { return inner_->figures(); },
                                [](const std::string&) { return LoadFigures{}; });
    }
    QosVerdict look(const QosState& state, const HostLoad& load, TimePoint now) const override {
        const auto none = [&](std::string line) {
            QosVerdict verdict;
            verdict.state = state;
            verdict.why = std::move(line);
            return verdict;
        };
        auto verdict = faults_->guarded([&] { return inner_->look(state, load, now); }, none);
        if (!verdict.correction) return verdict;
        if (verdict.correction->host != load.host)
            return none(faults_->tell("corrects a host that it was not asked about"));
        if (!verdict.correction->all && verdict.correction->shed_vcpus < 1)
            return none(faults_->tell("corrects a host, and by no vCPU"));
        if (!load.known()) return none(faults_->tell("corrects a host of which nothing is known"));
        return verdict;
    }

private:
    std::unique_ptr<QosController> inner_;
    std::string name_;
    SharedFaults faults_;
};

/// The part's own `make`, whose product is put behind a guard.
template <class Info, class Thing, class Wrap>
void guard_make(Info& info, const std::string& title, const char* kind, Wrap wrap) {
    info.module = title;
    auto faults = std::make_shared<Faults>(title, std::string{kind} + " " + std::string{info.name});
    info.make =
        [make = info.make, faults, wrap](
            const Parameters& parameters) -> std::variant<std::unique_ptr<Thing>, ParameterError> {
        using Made = std::variant<std::unique_ptr<Thing>, ParameterError>;
        auto made = faults->guarded(
            [&] { return make(parameters); },
            [](std::string line) {
                return Made{ParameterError{"name", "another one: " + std::move(line)}};
            });
        auto* const thing = std::get_if<std::unique_ptr<Thing>>(&made);
        if (thing == nullptr) return made;
        if (*thing == nullptr)
            return ParameterError{"name", "another one: " + faults->tell("makes nothing")};
        return wrap(std::move(*thing), faults);
    };
}

/// Both name what of the cloud a part's parameters mean.
template <class Info>
void guard_names(Info& info, const std::string& title) {
    if (!info.names) return;
    auto faults = std::make_shared<Faults>(title, std::string{info.name});
    info.names = [names = info.names, faults](const Parameters& parameters) {
        return faults->guarded([&] { return names(parameters); },
                               [](const std::string&) { return std::vector<NamedThing>{}; });
    };
}

void guard_project_ids(StrategyInfo& info, const std::string& title) {
    if (!info.with_project_ids) return;
    auto faults = std::make_shared<Faults>(title, std::string{info.name});
    info.with_project_ids = [with = info.with_project_ids, faults](Parameters parameters,
                                                                   const ProjectIds& ids) {
        return faults->guarded([&] { return with(parameters, ids); },
                               [&](const std::string&) { return parameters; });
    };
}

}  // namespace

/// Each of them with the module's title, and with what it makes guarded.
void guard(ModuleParts& parts, const std::string& title) {
    for (auto& info : parts.strategies) {
        guard_make<StrategyInfo, Strategy>(
            info, title, "strategy",
            [](std::unique_ptr<Strategy> inner, SharedFaults faults) -> std::unique_ptr<Strategy> {
                return std::make_unique<GuardedStrategy>(std::move(inner), std::move(faults));
            });
        guard_names(info, title);
        guard_project_ids(info, title);
    }
    for (auto& info : parts.taggers) {
        guard_make<TaggerInfo, Tagger>(
            info, title, "tagger",
            [name = std::string{info.name}](std::unique_ptr<Tagger> inner,
                                            SharedFaults faults) -> std::unique_ptr<Tagger> {
                return std::make_unique<GuardedTagger>(std::move(inner), name, std::move(faults));
            });
        guard_names(info, title);
    }
    for (auto& info : parts.estimators)
        guard_make<EstimatorInfo, Estimator>(
            info, title, "estimator",
            [name = std::string{info.name}](std::unique_ptr<Estimator> inner,
                                            SharedFaults faults) -> std::unique_ptr<Estimator> {
                return std::make_unique<GuardedEstimator>(std::move(inner), name,
                                                          std::move(faults));
            });
    for (auto& info : parts.qos)
        guard_make<QosInfo, QosController>(
            info, title, "QoS controller",
            [name = std::string{info.name}](std::unique_ptr<QosController> inner,
                                            SharedFaults faults) -> std::unique_ptr<QosController> {
                return std::make_unique<GuardedQos>(std::move(inner), name, std::move(faults));
            });
}

namespace {

std::deque<LoadedModule>& all() {
    static std::deque<LoadedModule> modules;
    return modules;
}

template <class Info>
bool is_taken(const std::vector<Info>& parts, std::size_t at,
              const Info* (*find)(std::string_view)) {
    const auto end = parts.begin() + static_cast<std::ptrdiff_t>(at);
    return find(parts[at].name) != nullptr ||
           std::any_of(parts.begin(), end,
                       [&](const Info& before) { return before.name == parts[at].name; });
}

/// Why they can't be in the table, if so.
template <class Info>
std::optional<ParameterError> refusal(const char* kind, const std::vector<Info>& parts,
                                      const Info* (*find)(std::string_view)) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string what = std::string{kind} + " '" + std::string{parts[i].name} + "'";
        if (parts[i].name.empty() || !parts[i].make)
            return ParameterError{"", "a name and a `make` of each part: " + what + " lacks one"};
        if (is_taken(parts, i, find))
            return ParameterError{"", "names of its own: there is a " + what + " already"};
    }
    return std::nullopt;
}

std::optional<ParameterError> refusal(const ModuleParts& parts) {
    if (auto wrong = refusal("strategy", parts.strategies, find_strategy)) return wrong;
    if (auto wrong = refusal("tagger", parts.taggers, find_tagger)) return wrong;
    if (auto wrong = refusal("estimator", parts.estimators, find_estimator)) return wrong;
    if (auto wrong = refusal("QoS controller", parts.qos, find_qos)) return wrong;
    if (parts.strategies.empty() && parts.taggers.empty() && parts.estimators.empty() &&
        parts.qos.empty())
        return ParameterError{"", "a strategy, tagger, estimator or QoS controller in it"};
    return std::nullopt;
}

template <class Info>
void add(const char* kind, std::vector<Info>& parts, void (*add_one)(Info), LoadedModule& module) {
    for (Info& info : parts) {
        module.parts +=
            (module.parts.empty() ? "" : ", ") + (std::string{kind} + " " + std::string{info.name});
        add_one(std::move(info));
    }
}

std::variant<ModuleParts, ParameterError> made(const ModuleInfo& info,
                                               const Parameters& parameters) {
    try {
        return info.make(parameters);
    } catch (const std::exception& exception) {
        return ParameterError{"", std::string{"that it starts; it fails: "} + exception.what()};
    } catch (...) {
        return ParameterError{"", "that it starts; it fails"};
    }
}

}  // namespace

const std::deque<LoadedModule>& loaded_modules() {
    return all();
}

const LoadedModule* find_loaded_module(const std::string& path) {
    const auto at = std::find_if(all().begin(), all().end(),
                                 [&](const LoadedModule& each) { return each.path == path; });
    return at == all().end() ? nullptr : &*at;
}

std::optional<ParameterError> add_module(const std::string& path, const ModuleFile& file,
                                         const Parameters& parameters) {
    auto either = made(file.info, parameters);
    if (auto* const wrong = std::get_if<ParameterError>(&either)) return std::move(*wrong);
    auto& parts = std::get<ModuleParts>(either);
    if (auto wrong = refusal(parts)) return wrong;
    LoadedModule module{path,
                        file.sha256,
                        std::string{file.info.name},
                        std::string{file.info.version},
                        file.info.parameters,
                        {}};
    guard(parts, module.title());
    add("strategy", parts.strategies, add_strategy, module);
    add("tagger", parts.taggers, add_tagger, module);
    add("estimator", parts.estimators, add_estimator, module);
    add("QoS controller", parts.qos, add_qos, module);
    all().push_back(std::move(module));
    return std::nullopt;
}

}  // namespace reaper
