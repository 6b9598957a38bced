// One writer for one journal in a file: a lock on a file beside it and one on the file itself,
// which the kernel drops with its process; and whether the file is still where it was.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <sys/types.h>

#include "clients/journal/store.hpp"

namespace reaper::journal {

class FileLease final : public Ownership {
public:
    /// Takes the lock of the journal at `path`, or says which process has it.
    static Result<FileLease> take(const std::string& path);

    /// Did a reaper that had this lock have a journal here?
    bool had_journal() const noexcept { return had_journal_; }

    FileLease(FileLease&& other) noexcept;
    FileLease& operator=(FileLease&& other) noexcept;
    ~FileLease() override;

    /// Creates the journal's file if there is none, and locks it too: removing the lock file
    /// lets no second reaper in. Again after the file was set aside. Close no connection to the
    /// database after the lease: closing a file drops what SQLite has locked in it.
    Result<void> lock_file();
    /// Call it when the database is open: remembers which files these are, and the journal.
    void remember_files();
    /// Tells the next start that there is a journal. Call it before one is refused: an operator may
    /// move it away then.
    void remember_journal();
    /// Are the file and its write-ahead log those that were opened, by device and inode? A few
    /// microseconds. What is written to a removed or replaced file is lost.
    Result<void> check() override;
    Result<void> read_back(std::int64_t step, const ServerId& server) override;

private:
    struct Identity {
        dev_t device{};
        ino_t inode{};
        bool operator==(const Identity&) const = default;
    };
    static std::optional<Identity> identity_of(const std::string& path);
    bool write_lock() const;

    FileLease(int lock, std::string path) : lock_(lock), path_(std::move(path)) {}

    int lock_;
    int file_ = -1;
    bool had_journal_ = false;
    std::string path_;
    std::array<std::optional<Identity>, 2> files_{};  ///< the file, its log
};

}  // namespace reaper::journal
