// What was read of a connection and not used yet. It grows up to a fixed size, and is nothing while
// a connection is idle.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace reaper::proxy {

class InputBuffer {
public:
    static constexpr std::size_t largest = 64 * 1024;
    static constexpr std::size_t smallest = 4 * 1024;

    std::string_view text() const { return {bytes_.get() + begin_, size()}; }
    std::span<char> bytes() { return {bytes_.get() + begin_, size()}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }
    bool full() const { return size() == largest; }

    /// Where the next bytes go; not empty unless it is full. Moves what `text` and `bytes` gave.
    boost::asio::mutable_buffer room() {
        if (begin_ == end_) begin_ = end_ = 0;
        if (end_ == capacity_ && begin_ > 0) {
            std::memmove(bytes_.get(), bytes_.get() + begin_, size());
            end_ -= begin_;
            begin_ = 0;
        }
        if (end_ == capacity_ || hungry_) grow();
        return {bytes_.get() + end_, capacity_ - end_};
    }
    /// So many bytes were read into `room`.
    void added(std::size_t count) {
        hungry_ = count > 0 && end_ + count == capacity_;
        end_ += count;
    }
    /// They stay where they are until `room` is asked for.
    void consume(std::size_t count) { begin_ += count; }
    /// Gives the memory back, if nothing is left in it.
    void release() {
        if (!empty()) return;
        bytes_.reset();
        begin_ = end_ = capacity_ = 0;
        hungry_ = false;
    }

private:
    void grow() {
        hungry_ = false;
        if (capacity_ == largest) return;
        const std::size_t wanted = std::min(largest, std::max(smallest, capacity_ * 4));
        auto larger = std::make_unique_for_overwrite<char[]>(wanted);
        if (!empty()) std::memcpy(larger.get(), bytes_.get() + begin_, size());
        end_ -= begin_;
        begin_ = 0;
        bytes_ = std::move(larger);
        capacity_ = wanted;
    }

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
    bool hungry_ = false;  ///< the last reading filled it: there is more
};

}  // namespace reaper::proxy
