// The cloud as the configuration reaches it, each host read by itself, with what the journal
// knows: for commands that answer from one look at all of it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <variant>

#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/cloud/reading.hpp"

namespace reaper::cli {

/// Neither copied nor moved: its parts refer to each other.
struct ExactReading {
    ExactReading(boost::asio::io_context& io, const config::Settings& settings,
                 const CloudToLookAt& reached, std::unique_ptr<Journal> nobodys,
                 const Terminal& terminal);

    Safeguards safeguards;
    std::unique_ptr<Journal> journal;  ///< of nobody
    CloudReading reading;
};

/// Shows its progress. Else how to end: why was told. The arguments must outlive it.
std::variant<std::unique_ptr<ExactReading>, ExitCode> read_exactly(boost::asio::io_context& io,
                                                                   const config::Settings& settings,
                                                                   const CloudToLookAt& reached,
                                                                   const Terminal& terminal);

}  // namespace reaper::cli
