// The configured policy, compiled: taggers and strategy as objects.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/tagger_table.hpp"

namespace reaper {

struct CompiledPolicy {
    std::vector<std::unique_ptr<Tagger>> taggers;
    std::unique_ptr<Strategy> strategy;
    std::string strategy_name;
    int alternatives = 1;

    TagQuestions questions() const;
    /// Why the requester is revocable, in the words of the first tagger that says so.
    std::optional<std::string> why_revocable(const Request& request, const TagFacts& facts) const;
};

/// `bad_input` names the plugin or the parameter that can't be used.
Result<std::shared_ptr<const CompiledPolicy>> compile_policy(const config::Policy& policy);

}  // namespace reaper
