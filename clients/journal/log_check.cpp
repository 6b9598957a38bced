// The write-ahead log, read as SQLite reads it, to see what SQLite would leave out.
#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <sys/stat.h>
#include <vector>

#include "clients/journal/damage.hpp"

namespace reaper::journal {
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
