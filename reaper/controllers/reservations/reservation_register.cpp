#include "reaper/controllers/reservations/reservation_register.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {
namespace {

/// Read side by side.
constexpr std::size_t at_a_time = 8;

Task<void> read_one(Placement& placement, ServerId id, RegisterReading& into,
                    std::optional<Error>& failed) {
    auto record = co_await placement.consumer(id);
    if (!record) {
        failed = record.error();
        co_return;
    }
    if (record->holds.empty()) co_return;  // it is gone since
    auto reservation = reservation_of(id, *record);
    if (!reservation) {
        into.remarks.push_back(reservation.error().what);
        co_return;
    }
    RegisteredReservation found{std::move(*reservation), std::move(*record)};
    into.reservations.emplace(ReservationId{id.str()}, std::move(found));
}

}  // namespace

ResultTask<RegisterReading> read_register(Placement& placement) {
    RegisterReading reading;
    ProviderId provider{reservation_register::provider_id};
    auto state = co_await placement.room(std::move(provider));
    if (!state && state.error().code == Errc::not_found) {
        reading.set_up = false;
        co_return reading;
    }
    if (!state) co_return state.error();
    std::vector<ServerId> ids;
    for (const auto& each : state->allocations) ids.push_back(each.first);
    std::optional<Error> failed;
    for (std::size_t from = 0; from < ids.size() && !failed; from += at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + at_a_time, ids.size()); ++i)
            some.push_back(read_one(placement, ids[i], reading, failed));
        co_await run_all(std::move(some));
    }
    if (failed) co_return std::move(*failed);
    std::sort(reading.remarks.begin(), reading.remarks.end());
    co_return reading;
}

ResultTask<Consumer> read_reservation(Placement& placement, ReservationId id) {
    co_return co_await placement.consumer(consumer_id_of(id));
}

}  // namespace reaper
