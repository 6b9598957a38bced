// Under which configurations a recording is decided again.
#pragma once

#include <string>
#include <vector>

#include "config/loader.hpp"
#include "reaper/recording/replay.hpp"

namespace reaper::cli {

/// `NAME` or `NAME:key=value,...`, as the file would say it: `{name: NAME, key: value}`.
/// `bad_input` for another shape.
Result<std::string> strategy_as_yaml(const std::string& text);

/// The same as the file's settings; `bad_input` also for one that is not there, with those that
/// are, and for wrong parameters.
Result<config::Plugin> strategy_of(const std::string& text);

/// `key=value`. `bad_input` for another shape.
Result<config::Override> override_of(const std::string& text);

class ReplayPolicies {
public:
    /// `config_text`: in place of the recorded configuration; empty: that.
    ReplayPolicies(std::string config_name, std::string config_text,
                   std::vector<config::Override> overrides)
        : config_name_(std::move(config_name)),
          config_text_(std::move(config_text)),
          overrides_(std::move(overrides)) {}

    /// As it was recorded. Remembers what it is called.
    Result<recording::ReplayPolicy> recorded(const recording::PolicyLine& line);
    /// With what is asked for.
    Result<recording::ReplayPolicy> asked(const recording::PolicyLine& line);

    const std::string& recorded_title() const { return recorded_title_; }
    std::string asked_title() const;
    /// The last one.
    const config::Policy& recorded_policy() const { return recorded_policy_; }

private:
    std::string config_name_, config_text_;
    std::vector<config::Override> overrides_;
    std::string recorded_title_ = "nothing";
    std::string asked_strategy_;
    config::Policy recorded_policy_;
};

}  // namespace reaper::cli
