#include "strategies/edge_order.hpp"

#include <algorithm>

namespace reaper {
namespace {

/// Put in order at a time.
constexpr std::size_t least_ordered = 256;

}  // namespace

void EdgeOrder::add(const Edge& edge) {
    if (horizon_ && edge < *horizon_)
        first_.insert(edge);
    else if (gone_.erase(edge) == 0)
        rest_.push_back(edge);
}

void EdgeOrder::remove(const Edge& edge) {
    if (first_.erase(edge) == 0) gone_.insert(edge);
}

void EdgeOrder::order_more() {
    if (!gone_.empty()) {
        std::erase_if(rest_, [this](const Edge& edge) { return gone_.contains(edge); });
        gone_.clear();
    }
    const std::size_t count = std::min(rest_.size(), std::max(least_ordered, first_.size()));
    const auto end = rest_.begin() + static_cast<std::ptrdiff_t>(count);
    if (end != rest_.end()) {
        std::nth_element(rest_.begin(), end, rest_.end());
        horizon_ = *end;
    } else if (!rest_.empty()) {
        // What comes later than all of these is a rest again.
        horizon_ = *std::max_element(rest_.begin(), rest_.end());
        ++horizon_->to;
    }
    first_.insert(rest_.begin(), end);
    rest_.erase(rest_.begin(), end);
}

}  // namespace reaper
