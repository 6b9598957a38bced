// Rights that are missing, also where the tests run as root, whom no mode of a file keeps out.
#pragma once

#include <stdexcept>
#include <string>
#include <unistd.h>

namespace reaper::test {

/// While it lives, root acts as nobody; others act as they are.
class AsNobody {
public:
    /// `owned`: folders that are to be nobody's.
    explicit AsNobody(std::initializer_list<std::string> owned) : root_(::geteuid() == 0) {
        if (!root_) return;
        for (const auto& path : owned)
            if (::chown(path.c_str(), nobody, nobody) != 0)
                throw std::runtime_error("can't give away " + path);
        if (::seteuid(nobody) != 0) throw std::runtime_error("can't become nobody");
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;
    ~AsNobody() {
        if (root_ && ::seteuid(0) != 0) ::_exit(1);
    }

private:
    static constexpr uid_t nobody = 65534;
    bool root_;
};

}  // namespace reaper::test
