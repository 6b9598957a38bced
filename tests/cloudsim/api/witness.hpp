// The independent record of what was asked of the simulated cloud and of what was really done. Its
// memory is bounded: the oldest entries go first.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "tests/cloudsim/core/listener.hpp"

namespace reaper::cloudsim {

class JsonWriter;

struct WitnessEntry {
    std::uint64_t number = 0;
    Time at{};
    bool is_request = false;
    // Of a request
    std::string service;  ///< identity, placement, compute, image, network
    std::string method;
    std::string path;
    std::string query;
    std::string user;    ///< name; empty without a token
    std::string action;  ///< of POST .../action: forceDelete, lock, ...
    int status = 0;
    // Of an effect
    std::string what;
    std::string host;
    std::string project;
    Uuid server;
};

class Witness final : public Listener {
public:
    Witness(const Clock& clock, std::size_t limit) : clock_(&clock), limit_(limit) {}
    void use(const Clock& clock) { clock_ = &clock; }

    void on_effect(const Effect& effect) override;
    void on_request(WitnessEntry entry);

    std::uint64_t last() const { return last_; }
    std::uint64_t requests() const { return requests_; }
    std::uint64_t effects() const { return last_ - requests_; }
    /// Entries after a number, oldest first; `user` and `kind` (`request`, `effect`) choose.
    void write(JsonWriter& json, std::uint64_t since, std::size_t most, std::string_view user,
               std::string_view kind) const;
    const std::deque<WitnessEntry>& entries() const { return entries_; }

private:
    void add(WitnessEntry entry);

    const Clock* clock_;
    std::size_t limit_;
    std::uint64_t last_ = 0;
    std::uint64_t requests_ = 0;
    std::deque<WitnessEntry> entries_;
};

}  // namespace reaper::cloudsim
