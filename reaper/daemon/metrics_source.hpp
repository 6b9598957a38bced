// Prometheus as it is configured.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "config/settings.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Sends nothing yet. `bad_input` names the setting that can't work: there is no address, ...
/// `clock` must outlive it.
Result<std::shared_ptr<Metrics>> connect_metrics(boost::asio::any_io_executor executor,
                                                 const config::Prometheus& settings, Clock& clock);

}  // namespace reaper
