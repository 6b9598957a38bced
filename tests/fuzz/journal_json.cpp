// What the journal keeps as JSON: requests and decisions, read from a file that a disk damaged.
#include <nlohmann/json.hpp>

#include "reaper/report/json.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

template <class Read>
void check(const nlohmann::json& json, Read read) {
    const auto value = read(json);
    if (!value) {
        reaper::fuzz::require_one_line(value.error().what);
        return;
    }
    const auto again = read(reaper::report::to_json(*value));
    reaper::fuzz::require(again.has_value(), "what was written can be read");
    reaper::fuzz::require(reaper::report::to_json(*again) == reaper::report::to_json(*value),
                          "it is the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::report;
    // As the journal does.
    const auto json = nlohmann::json::parse(fuzz::text_of(data, size), nullptr, false);
    check(json, request_from_json);
    check(json, decision_from_json);
    return 0;
}
