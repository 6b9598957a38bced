// What the gateway logged last of each request.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace reaper::faults {

/// In place of the program's log, while it lives.
class LastWords {
public:
    LastWords();
    ~LastWords();
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;

    std::string of(const std::string& request) const;

private:
    class Sink;
    std::shared_ptr<Sink> sink_;
};

}  // namespace reaper::faults
