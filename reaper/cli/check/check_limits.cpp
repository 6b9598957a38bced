// What one request, one project and the cloud may cost.
#include "reaper/cli/check/checks.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::cli {
namespace {

void append(std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
}

/// `at most 100 victims and 25 % of all revocable servers (or 50)`.
std::string most(int number, int percent, int least) {
    std::string text;
    if (number > 0) text = "at most " + reaper::counted(number, "victim");
    if (percent > 0)
        text += (number > 0 ? " and " : "at most ") + std::to_string(percent) +
                " % of all revocable servers (or " + std::to_string(least) + ")";
    return text;
}

}  // namespace

void check_limits(const SafeguardSettings& safeguards, const Report& report) {
    const LimitSettings& limits = safeguards.limits;
    const std::string window = " within " + format_duration(limits.window);
    std::string text;
    const auto tell = [&](const std::string& of, int number, int percent) {
        if (number > 0 || percent > 0)
            append(text, of + ": " + most(number, percent, limits.share_least));
    };
    tell("one request", limits.victims_per_request, limits.share_per_request);
    tell("the requests of one project" + window, 0, limits.share_per_requester);
    tell("all requests" + window, limits.victims_per_window, 0);
    tell("servers of one project" + window, limits.victims_per_project, 0);
    tell("one aggregate" + window, limits.victims_per_aggregate, 0);
    if (text.empty())
        report({Verdict::warn, "limits", "none: nothing bounds what a request may cost"});
    else
        report({Verdict::ok, "limits", text});
    if (safeguards.short_lived.allowance == 0 || safeguards.project_breaker.unproven == 0)
        report({Verdict::warn, "price of harm",
                std::string{safeguards.short_lived.allowance == 0 ? "short_lived.allowance"
                                                                  : "project_breaker.unproven"} +
                    " is 0: one project may have any number of servers deleted for nothing"});
}

}  // namespace reaper::cli
