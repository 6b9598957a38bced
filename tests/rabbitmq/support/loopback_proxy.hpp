// A TCP proxy on loopback that a test can cut, freeze and point at nothing.
#pragma once

#include <cstdint>
#include <memory>

namespace reaper::test {

/// Runs in a thread of its own; all calls are thread-safe.
class LoopbackProxy {
public:
    /// Forwards to 127.0.0.1:`target`. A target of 0: accepts and closes at once.
    explicit LoopbackProxy(std::uint16_t target);
    ~LoopbackProxy();

    std::uint16_t port() const;
    /// Connections accepted so far.
    int accepted() const;
    /// Reads from the client and from the broker so far.
    int client_reads() const;
    int broker_reads() const;
    /// Closes all connections; new ones are accepted.
    void cut();
    /// Stops forwarding: connections stay open, what is sent on them is lost.
    void freeze();
    /// Forwards again, on new connections; those that stood still are closed.
    void thaw();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace reaper::test
