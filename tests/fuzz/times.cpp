// Times and durations as others write them.
#include "reaper/notifications/utc_time.hpp"
#include "clients/openstack/fields.hpp"
#include "config/values.hpp"
#include "reaper/report/time_text.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto text = fuzz::text_of(data, size);
    (void)amqp::parse_utc_time(text);
    TimePoint time;
    (void)openstack::parse_time(text, time);
    if (const auto duration = config::duration_of(text)) {
        fuzz::require(duration->count() >= 0, "no duration is negative");
        fuzz::require(config::duration_of(config::duration_text(*duration)) == duration,
                      "a duration is read as it is written");
    }
    (void)config::integer_of(text);
    return 0;
}
