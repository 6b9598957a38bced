// Which CPUs a server is to have: shared ones (VCPU), its own (PCPU), or some of each.
#pragma once

#include "reaper/request_spec/wishes.hpp"

namespace reaper {

struct CpuWishes {
    enum class Policy { none, shared, dedicated, mixed } policy = Policy::none;
    Amount shared = 0;     ///< of a mixed server
    Amount dedicated = 0;  ///< with one for the emulator, if that has its own
    /// Of a host with two threads for each core.
    enum class Threads { any, required, forbidden } threads = Threads::any;

    bool pinned() const { return policy == Policy::dedicated; }
};

/// `bad_input`: Nova would refuse it. Source: nova.virt.hardware, ResourceRequest's
/// _translate_pinning_policies.
Result<CpuWishes> cpu_wishes(const Wishes& wishes);

}  // namespace reaper
