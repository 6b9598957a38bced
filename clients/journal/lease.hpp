// One writer for one journal: a lock on a file beside it, which the kernel drops with its process.
#pragma once

#include <string>

#include "reaper/model/error.hpp"

namespace reaper::journal {

class Lease {
public:
    /// Takes the lock of the journal at `path`, or says who has it.
    static Result<Lease> take(const std::string& path);

    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

private:
    explicit Lease(int file) : file_(file) {}
    int file_;
};

}  // namespace reaper::journal
