#include "reaper/model/order_record.hpp"

namespace reaper {

std::string_view to_string(OrderProgress progress) {
    switch (progress) {
        case OrderProgress::begun: break;
        case OrderProgress::waiting: return "waiting";
        case OrderProgress::applied: return "applied";
        case OrderProgress::failed: return "failed";
        case OrderProgress::not_done: return "not-done";
    }
    return "begun";
}

OrderProgress order_progress_of(std::string_view word) {
    for (const OrderProgress each : {OrderProgress::waiting, OrderProgress::applied,
                                     OrderProgress::failed, OrderProgress::not_done})
        if (word == to_string(each)) return each;
    return OrderProgress::begun;
}

}  // namespace reaper
