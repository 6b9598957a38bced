// Which providers of a host may give which part of a slot, and how the parts fit onto them. For
// shapes with parts (shape.hpp) only.
#pragma once

#include <memory>

#include "reaper/rooms/room.hpp"

namespace reaper {

/// Why a part of a slot can come from no provider of the host, however much room there is; of
/// several reasons the last in this order, which is that of the provider that comes nearest.
enum class Unfit { fits, no_such_class, units, required_trait, forbidden_trait, elsewhere };
Unfit why_unfit(const Host& host, const Shape& shape, const SlotPart& part);

/// May some part take the need from the provider, were it empty?
bool may_give(const Host& host, const Provider& provider, const Shape& shape, std::size_t need);

/// Null where each class by itself tells the same. `room` has its pools and promises.
std::shared_ptr<const Packing> packing_of(const Host& host, const Shape& shape,
                                          const HostRoom& room);

}  // namespace reaper
