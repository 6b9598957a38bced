#include "reaper/model/correction.hpp"

#include <string_view>

namespace reaper {
namespace {

std::string_view prefix_of(CorrectionSource source) {
    switch (source) {
        case CorrectionSource::qos: return "qos-";
        case CorrectionSource::estimator: return "estimator-";
        case CorrectionSource::watermark: return "watermark-";
        case CorrectionSource::life_span: return "life-span-";
    }
    return "";
}

}  // namespace

RequestId correction_request_id(CorrectionSource source, TimePoint now, unsigned number) {
    return RequestId{std::string{prefix_of(source)} +
                     std::to_string(now.time_since_epoch().count()) + "-" + std::to_string(number)};
}

bool is_from(CorrectionSource source, const RequestId& id) {
    return id.str().starts_with(prefix_of(source));
}

}  // namespace reaper
