// What changed, for those who keep something in step with it: each asks for what came since it
// asked last, and so its work grows with the changes, not with what there is. Bounded: a reader
// that has not asked for long looks at everything once. Pure, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace reaper {

template <class Key>
class ChangeLog {
public:
    static constexpr std::size_t max_kept = 16'384;

    /// How far a reader has read, and in which log.
    class Reader {
        friend class ChangeLog;
        std::shared_ptr<const char> log_;
        std::uint64_t read_ = 0;
    };

    ChangeLog() = default;
    /// A copy goes its own way: its readers begin again. So do those of a log that is moved from.
    ChangeLog(const ChangeLog& /*other*/) : ChangeLog() {}
    ChangeLog(ChangeLog&& other) noexcept : ChangeLog() { swap(other); }
    ChangeLog& operator=(ChangeLog other) noexcept {
        swap(other);
        return *this;
    }
    ~ChangeLog() = default;

    void add(Key key) {
        if (!kept_.empty() && kept_.back() == key && last_unread_) return;
        if (kept_.size() >= max_kept) {
            kept_.erase(kept_.begin(), kept_.begin() + max_kept / 2);
            dropped_ += max_kept / 2;
        }
        kept_.push_back(std::move(key));
        last_unread_ = true;
    }

    /// Calls `visit` with each key that changed since the reader asked last. False if that is no
    /// longer known: then everything may have changed.
    template <class Visit>
    bool read(Reader& reader, Visit visit) const {
        const bool known = reader.log_ == identity_ && reader.read_ >= dropped_;
        if (known)
            for (std::size_t i = reader.read_ - dropped_; i < kept_.size(); ++i) visit(kept_[i]);
        reader.log_ = identity_;
        reader.read_ = dropped_ + kept_.size();
        last_unread_ = false;
        return known;
    }

private:
    void swap(ChangeLog& other) noexcept {
        std::swap(identity_, other.identity_);
        std::swap(kept_, other.kept_);
        std::swap(dropped_, other.dropped_);
        std::swap(last_unread_, other.last_unread_);
    }

    std::shared_ptr<const char> identity_ = std::make_shared<const char>();
    std::vector<Key> kept_;
    std::uint64_t dropped_ = 0;         // before those that are kept
    mutable bool last_unread_ = false;  // by any reader
};

}  // namespace reaper
