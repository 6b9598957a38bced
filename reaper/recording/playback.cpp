#include "reaper/recording/playback.hpp"

#include <optional>
#include <utility>

#include "reaper/recording/gzip_lines.hpp"
#include "reaper/recording/segments.hpp"

namespace reaper::recording {

Result<PlaybackEnd> play_back(const std::string& directory,
                              const std::function<void(Line line)>& visit) {
    const auto segments = segments_in(directory);
    if (!segments) return segments.error();
    if (segments->empty())
        return Error{Errc::bad_input,
                     directory +
                         " holds no recording (no recording-*.jsonl.gz); the daemon makes "
                         "one where record.directory says"};
    PlaybackEnd end;
    for (const Segment& segment : *segments) {
        std::optional<std::string> wrong;
        std::size_t number = 0;
        const auto read = read_gzip_lines(segment.path, [&](std::string_view text) {
            ++number;
            auto line = line_from(text);
            // The first line says what it is, and of which version.
            if (line && number == 1 && !std::holds_alternative<Begin>(*line))
                line = Error{Errc::bad_input, "is not the beginning of a recording"};
            if (line)
                visit(std::move(*line));
            else
                wrong = line.error().what;
            return !wrong;
        });
        if (!read) return read.error();
        ++end.segments;
        if (wrong)
            end.remarks.push_back(segment.path + ": line " + std::to_string(number) + " " + *wrong +
                                  "; the rest of it is skipped");
        else if (!read->whole)
            end.remarks.push_back(segment.path +
                                  ": ends amid a piece (the daemon was killed, or "
                                  "still writes): that piece is skipped");
    }
    return end;
}

}  // namespace reaper::recording
