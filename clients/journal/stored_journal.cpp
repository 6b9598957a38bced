#include "clients/journal/stored_journal.hpp"

#include <algorithm>
#include <thread>

namespace reaper::journal {

bool Retries::wait() {
    using std::chrono::steady_clock;
    if (end_ == steady_clock::time_point{}) end_ = steady_clock::now() + longest_;
    if (steady_clock::now() + pause_ > end_) return false;
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, longest_pause);
    return true;
}

Group StoredJournal::group() {
    Group group;
    group.begin = [this] {
        return guarded<void>(path_, [this]() -> Result<void> {
            return tried<void>([this]() -> Result<void> {
                store_->begin_group();
                return {};
            });
        });
    };
    group.end = [this] {
        return guarded<void>(path_, [this]() -> Result<void> {
            store_->end_group();
            return store_->check_ownership();
        });
    };
    group.still_open = [this] { return store_->in_group(); };
    return group;
}

}  // namespace reaper::journal
