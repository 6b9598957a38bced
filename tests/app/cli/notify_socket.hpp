// Stands for systemd: the socket that NOTIFY_SOCKET names. Read all the time, as systemd does: its
// queue is short, and a sender waits while it is full.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "app/cli/program.hpp"

namespace reaper::test {

class NotifySocket {
public:
    NotifySocket() : path_(directory_.file("notify")), fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
        if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("can't bind " + path_);
        reader_ = std::thread{[this] { read(); }};
    }
    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;
    ~NotifySocket() {
        shutdown(fd_, SHUT_RDWR);
        reader_.join();
        close(fd_);
    }

    const std::string& path() const { return path_; }

    /// The next message; empty after minutes without one.
    std::string next() {
        std::unique_lock lock{mutex_};
        if (!arrived_.wait_for(lock, std::chrono::minutes{4}, [&] { return !messages_.empty(); }))
            return "";
        std::string message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }

    /// Reads messages until one starts with `start`; empty if none comes.
    std::string next_that_starts_with(const std::string& start) {
        while (true) {
            std::string message = next();
            if (message.empty() || message.starts_with(start)) return message;
        }
    }

private:
    void read() {
        char block[4096];
        while (true) {
            const ssize_t got = recv(fd_, block, sizeof block, 0);
            if (got <= 0) return;
            const std::lock_guard lock{mutex_};
            messages_.emplace_back(block, static_cast<std::size_t>(got));
            arrived_.notify_one();
        }
    }

    TemporaryDirectory directory_;
    std::string path_;
    int fd_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> messages_;
    std::thread reader_;
};

}  // namespace reaper::test
