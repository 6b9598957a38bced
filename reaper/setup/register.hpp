// The register of reservations in Placement: a resource class of ours, and a provider of ours that
// is no host, on which each reservation holds one unit
// (reaper/reservations/reservation_record.hpp). This file says what is to be changed to get there,
// or to undo it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "reaper/model/records.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper {

/// What there is now.
struct RegisterView {
    bool class_exists = false;
    std::vector<ProviderRecord> providers;  ///< all of the cloud
    std::optional<ProviderState> state;     ///< of the register, if it is there
};

/// The provider with the id of the register.
const ProviderRecord* find_register(const std::vector<ProviderRecord>& providers);

/// The class first.
std::vector<SlotStep> register_to_set_up(const RegisterView& view);

/// The class last. While reservations hold units, both stay.
std::vector<SlotStep> register_to_undo(const RegisterView& view);

}  // namespace reaper
