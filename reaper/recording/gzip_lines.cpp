#include "reaper/recording/gzip_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <zlib.h>

namespace reaper::recording {
namespace {

constexpr int gzip_window = 15 + 16;  // the largest, with gzip's head and tail
constexpr std::size_t chunk = 64UL * 1024;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Hands out the lines of what it is fed with.
class LineSplitter {
public:
    explicit LineSplitter(const std::function<bool(std::string_view)>& visit) : visit_(visit) {}

    /// False: no more is wanted, or the line is too long.
    bool feed(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            if (end == std::string_view::npos) {
                kept_ += text;
                too_long_ = kept_.size() > max_line;
                return !too_long_;
            }
            kept_ += text.substr(0, end);
            text.remove_prefix(end + 1);
            const bool more = visit_(kept_);
            kept_.clear();
            if (!more) return false;
        }
        return true;
    }
    bool too_long() const { return too_long_; }
    bool amid_a_line() const { return !kept_.empty(); }

private:
    const std::function<bool(std::string_view)>& visit_;
    std::string kept_;
    bool too_long_ = false;
};

class Inflater {
public:
    Inflater() { ready_ = inflateInit2(&stream_, gzip_window) == Z_OK; }
    ~Inflater() {
        if (ready_) inflateEnd(&stream_);
    }
    Inflater& operator=(Inflater&&) = delete;

    enum class End { more, damaged, stopped };

    End feed(unsigned char* data, std::size_t size, LineSplitter& lines) {
        if (!ready_) return End::damaged;
        stream_.next_in = data;
        stream_.avail_in = static_cast<unsigned>(size);
        // Without input as long as the last call had no place for all that it made.
        while (stream_.avail_in > 0 || (!between_members_ && stream_.avail_out == 0)) {
            between_members_ = false;
            std::array<unsigned char, chunk> out;  // NOLINT: filled before it is read
            stream_.next_out = out.data();
            stream_.avail_out = static_cast<unsigned>(out.size());
            const int result = inflate(&stream_, Z_NO_FLUSH);
            const std::size_t made = out.size() - stream_.avail_out;
            if (!lines.feed({reinterpret_cast<const char*>(out.data()), made}))
                return lines.too_long() ? End::damaged : End::stopped;
            if (result == Z_STREAM_END) {
                if (inflateReset2(&stream_, gzip_window) != Z_OK) return End::damaged;
                between_members_ = true;
            } else if (result == Z_BUF_ERROR && made == 0) {
                return End::more;  // it needs more to go on
            } else if (result != Z_OK && result != Z_BUF_ERROR) {
                return End::damaged;
            }
        }
        return End::more;
    }
    bool between_members() const { return between_members_; }

private:
    z_stream stream_{};
    bool ready_ = false;
    bool between_members_ = true;
};

}  // namespace

Result<std::string> gzip_member(std::string_view text) {
    constexpr int memory_level = 8;
    const Error no_memory{Errc::storage, "there is no memory to compress with"};
    if (text.size() > std::numeric_limits<unsigned>::max() / 2)
        return Error{Errc::storage, "too much to compress at once"};
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return no_memory;
    std::string member(deflateBound(&stream, text.size()), '\0');
    // zlib's interface is older than const.
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<unsigned>(text.size());
    stream.next_out = reinterpret_cast<unsigned char*>(member.data());
    stream.avail_out = static_cast<unsigned>(member.size());
    const int result = deflate(&stream, Z_FINISH);
    member.resize(member.size() - stream.avail_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) return no_memory;
    return member;
}

Result<LinesEnd> read_gzip_lines(const std::string& path,
                                 const std::function<bool(std::string_view line)>& visit) {
    const std::unique_ptr<std::FILE, CloseFile> file{std::fopen(path.c_str(), "rbe")};
    if (!file) return Error{Errc::storage, path + " can't be read (" + std::strerror(errno) + ")"};
    Inflater inflater;
    LineSplitter lines(visit);
    std::array<unsigned char, chunk> data;  // NOLINT: filled before it is read
    while (const std::size_t size = std::fread(data.data(), 1, data.size(), file.get())) {
        const auto end = inflater.feed(data.data(), size, lines);
        if (end == Inflater::End::stopped) return LinesEnd{true, true};
        if (end == Inflater::End::damaged) return LinesEnd{false, false};
    }
    if (std::ferror(file.get()) != 0)
        return Error{Errc::storage, path + " can't be read (" + std::strerror(errno) + ")"};
    return LinesEnd{inflater.between_members() && !lines.amid_a_line(), false};
}

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
    std::ranges::sort(all, {}, &Segment::path);
    return all;
}

}  // namespace reaper::recording
