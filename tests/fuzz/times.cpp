// Times and durations as others write them.
#include "config/values.hpp"
#include "reaper/model/time.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    constexpr TimePoint first = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
    constexpr TimePoint end = std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1};
    const auto text = fuzz::text_of(data, size);
    // A zone may lead out of the years of four digits.
    const auto time = parse_time_or_date(text);
    if (time && *time >= first && *time < end)
        fuzz::require(parse_time(iso_time(*time)) == time, "a time is read as it is written");
    if (const auto duration = parse_duration(text)) {
        fuzz::require(duration->count() >= 0, "no duration is negative");
        fuzz::require(parse_duration(exact_duration(*duration)) == duration,
                      "a duration is read as it is written");
    }
    (void)config::integer_of(text);
    return 0;
}
