#include "reaper/eviction/plan_executor.hpp"

namespace reaper {

Task<Execution> DryRunExecutor::carry_out(Request, Plan plan, std::map<ServerId, Progress>,
                                          std::shared_ptr<const CompiledPolicy>) {
    Execution execution;
    execution.end = Execution::End::reported;
    execution.reason = "dry run: " + summary(Decision{plan});
    co_return execution;
}

}  // namespace reaper
