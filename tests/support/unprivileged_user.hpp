// Rights that are missing, also where the tests run as root, whom no mode of a file keeps out.
#pragma once

#include <stdexcept>
#include <string>
#include <unistd.h>

namespace reaper::test {

/// While it lives, root acts as an unprivileged user; other users stay as they are.
class UnprivilegedUser {
public:
    /// `owned`: folders to give to that user.
    explicit UnprivilegedUser(std::initializer_list<std::string> owned) : root_(::geteuid() == 0) {
        if (!root_) return;
        for (const auto& path : owned)
            if (::chown(path.c_str(), uid, uid) != 0)
                throw std::runtime_error("can't give away " + path);
        if (::seteuid(uid) != 0) throw std::runtime_error("can't become an unprivileged user");
    }
    UnprivilegedUser(const UnprivilegedUser&) = delete;
    UnprivilegedUser& operator=(const UnprivilegedUser&) = delete;
    ~UnprivilegedUser() {
        if (root_ && ::seteuid(0) != 0) ::_exit(1);
    }

private:
    static constexpr uid_t uid = 65534;  ///< the unprivileged user of Debian
    bool root_;
};

}  // namespace reaper::test
