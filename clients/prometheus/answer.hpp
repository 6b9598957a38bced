// What Prometheus answers, from JSON to data. Pure. A text that is no answer of Prometheus is a
// `bad_answer` that says what is wrong with it, or what it is instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/ports/http_client.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper::prometheus {

/// What was found, and what Prometheus remarks on it.
template <class Row>
struct Found {
    std::vector<Row> rows;
    std::vector<std::string> remarks;
};

/// Of a vector or a scalar, with at most so many values, labels counted in.
Result<Found<Sample>> read_samples(std::string_view body, std::size_t most);
/// Of a matrix.
Result<Found<SampleSeries>> read_series(std::string_view body, std::size_t most);

/// An answer that is not 200, in its own words, with what to do about it.
Error refusal(const http::Response& response);

}  // namespace reaper::prometheus
