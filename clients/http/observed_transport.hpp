// A transport that tells of each try: for whoever counts calls and how long they take.
#pragma once

#include <memory>

#include "clients/http/transport.hpp"

namespace reaper::http {

/// Tells `observer` when a try has ended, but of those that were never sent because nobody wanted
/// them any more.
std::shared_ptr<Transport> observed(std::shared_ptr<Transport> inner, CallObserver observer);

}  // namespace reaper::http
