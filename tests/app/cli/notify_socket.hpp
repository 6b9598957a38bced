// Stands for systemd: the socket that NOTIFY_SOCKET names.
#pragma once

#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
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
    }
    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;
    ~NotifySocket() { close(fd_); }

    const std::string& path() const { return path_; }

    /// The next message; empty after a minute.
    std::string next() const {
        pollfd ready{fd_, POLLIN, 0};
        if (poll(&ready, 1, 60'000) <= 0) return "";
        char block[4096];
        const ssize_t got = recv(fd_, block, sizeof block, 0);
        return got > 0 ? std::string(block, static_cast<std::size_t>(got)) : "";
    }

    /// Reads messages until one starts with `start`; empty if none comes.
    std::string next_that_starts_with(const std::string& start) const {
        while (true) {
            std::string message = next();
            if (message.empty() || message.starts_with(start)) return message;
        }
    }

private:
    TemporaryDirectory directory_;
    std::string path_;
    int fd_;
};

}  // namespace reaper::test
