#include "reaper/safeguards/unproven_culls.hpp"

namespace reaper {

void UnprovenCulls::add(const RequestId& request, Cull cull) {
    erase(request);
    of_project_[cull.project] += cull.slots;
    ++of_shape_[cull.shape];
    if (cull.moves_from) moves_.emplace(request, *cull.moves_from);
    all_.emplace(request, std::move(cull));
}

void UnprovenCulls::erase(const RequestId& request) {
    const auto cull = all_.extract(request);
    if (!cull) return;
    count_less(of_project_, cull.mapped().project, cull.mapped().slots);
    count_less(of_shape_, cull.mapped().shape, 1);
    moves_.erase(request);
}

}  // namespace reaper
