#include "reaper/recording/segments.hpp"

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace reaper::recording {
namespace {

namespace fs = std::filesystem;

bool is_segment(const std::string& name) {
    return name.starts_with("recording-") && name.ends_with(".jsonl.gz");
}

}  // namespace

std::string segment_name(std::time_t begun, int number) {
    std::tm utc{};
    gmtime_r(&begun, &utc);
    char text[64];
    std::strftime(text, sizeof text, "recording-%Y%m%dT%H%M%SZ", &utc);
    char suffix[32];
    std::snprintf(suffix, sizeof suffix, "-%03d.jsonl.gz", number);
    return std::string{text} + suffix;
}

Result<std::vector<Segment>> segments_in(const std::string& directory) {
    std::error_code failed;
    std::vector<Segment> all;
    fs::directory_iterator entry(directory, failed);
    for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (!is_segment(entry->path().filename().string())) continue;
        std::error_code trouble;
        Segment segment{entry->path().string(), 0, {}};
        const bool regular = entry->is_regular_file(trouble);
        if (!trouble && regular) segment.bytes = entry->file_size(trouble);
        if (!trouble && regular) segment.written_at = entry->last_write_time(trouble);
        if (!trouble && regular) all.push_back(std::move(segment));
        // It may be gone by now. A directory may be one that can be listed, and not entered.
        if (trouble && trouble != std::errc::no_such_file_or_directory) failed = trouble;
        if (failed) break;
    }
    if (failed)
        return Error{Errc::storage, directory + " can't be read (" + failed.message() + ")"};
    std::sort(all.begin(), all.end(),
              [](const Segment& a, const Segment& b) { return a.path < b.path; });
    return all;
}

}  // namespace reaper::recording
