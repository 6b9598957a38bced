#include "clients/journal/damage.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "clients/journal/schema.hpp"

namespace reaper::journal {
namespace {

constexpr char sqlite_magic[] = "SQLite format 3";  // with its end

constexpr int max_names = 1'000;

// Of the schema, and of the JSON of requests and plans.
constexpr std::array<std::string_view, 3> our_words{"request_unfinished",
                                                    "\"excluded_hosts\":", "\"slots_requested\":"};
constexpr std::size_t longest_word = 32;
constexpr std::size_t block_bytes = 1 << 20;

constexpr std::array<std::string_view, 1> any_table{"CREATE "};

/// The first bytes of a file.
std::string block_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string block(block_bytes, '\0');
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    block.resize(static_cast<std::size_t>(file.gcount()));
    return block;
}

/// Does the file hold one of the words?
bool holds(const std::string& path, std::span<const std::string_view> words) {
    std::ifstream file{path, std::ios::binary};
    std::string window;
    while (file) {
        // A word may stand across two blocks.
        window.erase(0, window.size() - std::min(window.size(), longest_word));
        const std::size_t kept = window.size();
        window.resize(kept + block_bytes);
        file.read(window.data() + kept, static_cast<std::streamsize>(block_bytes));
        window.resize(kept + static_cast<std::size_t>(file.gcount()));
        for (const auto word : words)
            if (window.find(word) != std::string::npos) return true;
    }
    return false;
}

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

/// `20240501T120000Z`
std::string compact_time(TimePoint now) {
    std::string text;
    for (const char c : iso_time(now).substr(0, 19))
        if (c != '-' && c != ':') text += c;
    return text + "Z";
}

Error cant_move(const std::string& path, const std::string& to) {
    return Error{Errc::storage, "journal " + path + ": is damaged, and can't be renamed to " + to +
                                    " (" + std::strerror(errno) +
                                    "); give the directory to the reaper's user"};
}

void sync_folder(const std::string& path) {
    const std::string parent = std::filesystem::path{path}.parent_path().string();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
}

}  // namespace

bool indicates_damage(const DatabaseFailure& failure) {
    const int code = failure.code & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

void check_whole(SqliteDatabase& database) {
    const std::string found = database.ask("PRAGMA integrity_check(1)");
    if (found != "ok") throw Damage{found};
    const std::string orphan =
        database.ask("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1");
    if (!orphan.empty()) throw Damage{"a row of table " + orphan + " belongs to no request"};
}

bool was_a_journal(const std::string& path) {
    const std::string head = block_of(path);
    // Both stand in the first hundred bytes: SQLite's name at the start, the program's mark at 68.
    const bool sqlite =
        head.size() >= 100 && head.starts_with(std::string_view{sqlite_magic, sizeof sqlite_magic});
    std::uint32_t mark = 0;
    for (std::size_t i = 68; sqlite && i < 72; ++i)
        mark = mark << 8 | static_cast<unsigned char>(head[i]);
    if (mark != 0) return mark == application_id;
    // All zeros, or nothing at all, belongs to no program.
    if (head.find_first_not_of('\0') == std::string::npos) return true;
    if (holds(path, our_words) || holds(path + "-wal", our_words)) return true;
    // A young journal has all its tables in the log, and none are in the file.
    return sqlite && !holds(path, any_table) && !holds(path + "-wal", any_table);
}

// The database first: if we are interrupted, the log that is left behind belongs to no file and is
// set aside the next time.
Result<std::string> set_aside(const std::string& path, TimePoint now) {
    const std::string wanted = path + ".damaged-" + compact_time(now);
    std::string to = wanted;
    for (int i = 2; exists(to) || exists(to + "-wal") || exists(to + "-shm"); ++i) {
        if (i > max_names) {
            errno = EEXIST;
            return cant_move(path, to);
        }
        to = wanted + "-" + std::to_string(i);
    }
    for (const char* const end : {"", "-wal", "-shm"}) {
        if (!exists(path + end)) continue;
        if (::rename((path + end).c_str(), (to + end).c_str()) != 0) return cant_move(path, to);
    }
    sync_folder(path);
    return to;
}

// The write-ahead log, read as SQLite reads it, to see what SQLite would leave out.

namespace {

constexpr std::size_t head_bytes = 32;
constexpr std::size_t frame_head_bytes = 24;

std::uint32_t big_endian(std::span<const unsigned char> bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
           std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

struct Checksum {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    friend bool operator==(const Checksum&, const Checksum&) = default;

    /// Goes on over words of the byte order that the log's magic number names.
    void add(std::span<const unsigned char> bytes, bool big) {
        const auto word = [&](std::size_t at) {
            return big ? big_endian(bytes, at) : __builtin_bswap32(big_endian(bytes, at));
        };
        for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
            first += word(at) + second;
            second += word(at + 4) + first;
        }
    }
};

Checksum stored(std::span<const unsigned char> bytes, std::size_t at) {
    return {big_endian(bytes, at), big_endian(bytes, at + 4)};
}

struct Head {
    bool big = false;
    std::size_t page_bytes = 0;
    Checksum salt, sum;
};

/// None if it is no head of a log.
std::optional<Head> read_head(std::span<const unsigned char> bytes) {
    const std::uint32_t magic = big_endian(bytes, 0);
    if ((magic & ~1U) != 0x377f0682U || big_endian(bytes, 4) != 3'007'000U) return std::nullopt;
    Head head;
    head.big = (magic & 1U) != 0;
    head.page_bytes = big_endian(bytes, 8);
    head.salt = stored(bytes, 16);
    head.sum.add(bytes.first(24), head.big);
    const bool size_good = head.page_bytes >= 512 && head.page_bytes <= 65'536 &&
                           (head.page_bytes & (head.page_bytes - 1)) == 0;
    if (!size_good || head.sum != stored(bytes, 24)) return std::nullopt;
    return head;
}

bool all_zero(std::span<const unsigned char> bytes) {
    for (const unsigned char byte : bytes)
        if (byte != 0) return false;
    return true;
}

/// Commits of this log behind its first wrong frame.
int commits_left_out(std::ifstream& file, const Head& head) {
    std::vector<unsigned char> frame(frame_head_bytes + head.page_bytes);
    const std::span<unsigned char> bytes{frame};
    Checksum sum = head.sum;
    bool valid = true;
    int left_out = 0;
    while (file.read(reinterpret_cast<char*>(frame.data()),
                     static_cast<std::streamsize>(frame.size()))) {
        // Frames of an earlier log may follow: it was begun again from its start.
        const bool ours = stored(bytes, 8) == head.salt;
        if (valid && ours) {
            sum.add(bytes.first(8), head.big);
            sum.add(bytes.subspan(frame_head_bytes), head.big);
        }
        valid = valid && ours && sum == stored(bytes, 16);
        if (!valid && ours && big_endian(bytes, 4) != 0) ++left_out;
    }
    return left_out;
}

}  // namespace

void check_log(const std::string& path) {
    const std::string name = path + "-wal";
    std::ifstream file{name, std::ios::binary};
    std::array<unsigned char, head_bytes> bytes{};
    if (!file || !file.read(reinterpret_cast<char*>(bytes.data()), bytes.size())) return;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_size == 0)
        throw Damage{"its write-ahead log exists, but the file itself does not"};
    // The disk gave the space, and nothing of it was written before the power went.
    if (all_zero(bytes)) return;
    const auto head = read_head(bytes);
    if (!head) throw Damage{"its write-ahead log is invalid"};
    const int left_out = commits_left_out(file, *head);
    if (left_out > 1)
        throw Damage{std::to_string(left_out) + " entries of its write-ahead log can't be read"};
}

}  // namespace reaper::journal
