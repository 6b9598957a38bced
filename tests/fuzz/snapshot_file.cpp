// Snapshot files. What was read is written and read again: the same.
#include "reaper/report/snapshot_file.hpp"

#include <sstream>

#include "tests/fuzz/fuzz.hpp"

namespace {

std::string written(const reaper::report::SnapshotFile& file) {
    std::ostringstream out;
    reaper::report::write_snapshot(out, file);
    return out.str();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::report;
    const auto file = read_snapshot(fuzz::text_of(data, size));
    if (!file) {
        fuzz::require_one_line(file.error().what);
        return 0;
    }
    const std::string first = written(*file);
    const auto again = read_snapshot(first);
    fuzz::require(again.has_value(), "what was written can be read",
                  again ? "" : again.error().what + "\n" + first);
    fuzz::require(written(*again) == first, "a second writing is the same", first);
    return 0;
}
