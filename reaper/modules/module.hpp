// What a module is made of: a shared object that brings strategies, taggers, estimators or QoS
// controllers of its own. The program loads it by the configuration's `modules`; what it brings
// stands in the same tables as the built-in ones.
//
// A module is compiled against these headers as they are installed (openstack-reaper-dev), with
// C++20 and libstdc++, and linked with no library of ours: the program has the functions. It runs
// in the program, with all its rights, and is never unloaded. What the program calls must return
// soon: nothing else runs meanwhile. An exception is reported as a fault of the module.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "reaper/modules/interface.hpp"
#include "reaper/oversubscription/parameter_text.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/oversubscription/qos_controller.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"

namespace reaper {

/// What a module adds to the tables. Texts must live as long as the program.
struct ModuleParts {
    std::vector<StrategyInfo> strategies{};
    std::vector<TaggerInfo> taggers{};
    std::vector<EstimatorInfo> estimators{};
    std::vector<QosInfo> qos{};
};

struct ModuleInfo {
    std::string_view name;     ///< for people
    std::string_view version;  ///< the module's own
    std::vector<ParameterSpec> parameters{};
    /// Called once, with complete parameters: those of the entry of `modules`.
    std::variant<ModuleParts, ParameterError> (*make)(const Parameters& parameters) = nullptr;
};

/// The one symbol that the program looks for, `reaper_module`. Its first three members never change
/// their places, so that a module of another version is refused before anything of it is called.
struct ModuleEntry {
    unsigned interface_version;    ///< of this struct
    const char* interface_digest;  ///< of the headers that the module was compiled with
    const char* program_version;   ///< whose headers they are
    ModuleInfo (*info)();
};

inline constexpr unsigned module_interface_version = 1;

}  // namespace reaper

/// In one source of a module, outside of namespaces: REAPER_MODULE(function that returns the
/// ModuleInfo)
#define REAPER_MODULE(info_function)                                                             \
    extern "C" __attribute__((visibility("default"))) const ::reaper::ModuleEntry reaper_module; \
    const ::reaper::ModuleEntry reaper_module {                                                  \
        ::reaper::module_interface_version, REAPER_INTERFACE_DIGEST, REAPER_INTERFACE_VERSION,   \
            info_function                                                                        \
    }
