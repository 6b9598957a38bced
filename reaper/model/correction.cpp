#include "reaper/model/correction.hpp"

#include <string_view>

namespace reaper {
namespace {

constexpr std::string_view of_qos = "qos-";
constexpr std::string_view of_estimator = "estimator-";

}  // namespace

RequestId correction_request_id(CorrectionSource source, TimePoint now, unsigned number) {
    const std::string_view prefix = source == CorrectionSource::qos ? of_qos : of_estimator;
    return RequestId{std::string{prefix} + std::to_string(now.time_since_epoch().count()) + "-" +
                     std::to_string(number)};
}

}  // namespace reaper
