// The gateway's patience: how many calls it looks into, how long Nova may take to say whose call it
// is, and why it helps none for a while.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reaper/gateway/gateway_call.hpp"
#include "reaper/gateway/gateway_log.hpp"
#include "reaper/gateway/gateway_ports.hpp"
#include "reaper/gateway/waiting_room.hpp"

namespace reaper {

/// References must outlive it.
class Patience {
public:
    /// How long Nova may take to name the requester: as long as the call has, or less where
    /// nova-scheduler has hosts without that.
    static constexpr Duration whole_call = Duration::max();
    static constexpr Duration short_look{3'000};

    Patience(const GatewayPorts& ports, GatewayLog& log, WaitingRoom& waiting_room)
        : ports_(ports), log_(log), waiting_room_(waiting_room) {}

    /// Why everything passes through; none if not.
    std::optional<std::string> passes_through() const;
    /// Why no call more is looked into now; none if one may be.
    std::optional<std::string> why_busy() const;
    bool is_full() const { return waiting_room_.held() >= ports_.settings().max_held; }
    /// Nova's lists took too long lately for a search to wait for them: where hosts can be offered
    /// without, none is read for a while.
    bool lists_are_slow() const { return ports_.steady() < lists_slow_until_; }
    void note_slow_list();

    /// A look into the cloud that goes on by itself; empty until it ends.
    template <class T>
    using Lookup = std::shared_ptr<std::optional<Result<T>>>;
    template <class T>
    Lookup<T> begin(ResultTask<T> lookup) {
        auto said = std::make_shared<std::optional<Result<T>>>();
        ports_.spawn(keep_shared(std::move(lookup), said));
        return said;
    }
    /// What the look says, if it ends while the call waits and within `longest`; else `timeout`.
    template <class T>
    ResultTask<T> in_time(GatewayCall& call, Lookup<T> lookup, Duration longest);

private:
    void note_unanswered(const GatewayCall& call, Duration waited);
    void note_nova(const std::optional<Error>& trouble);

    const GatewayPorts& ports_;
    GatewayLog& log_;
    WaitingRoom& waiting_room_;
    Duration nova_silent_until_{};  ///< on the steady clock
    Duration lists_slow_until_{};   ///< the same
    std::string nova_trouble_;
};

template <class T>
ResultTask<T> Patience::in_time(GatewayCall& call, Lookup<T> lookup, Duration longest) {
    Clock& clock = ports_.cloud.clock;
    const Duration began = clock.steady();
    const Duration until =
        longest < call.until() - began ? began + longest : std::max(call.until(), began);
    Duration pause{1};
    while (!*lookup && !call.client_gone() && !ports_.stopping && clock.steady() < until) {
        co_await clock.sleep(pause);
        pause = std::min(2 * pause, GatewayCall::poll_interval);
    }
    if (*lookup) {
        std::optional<Error> trouble;
        if (!**lookup) trouble = (*lookup)->error();
        note_nova(trouble);
        co_return std::move(**lookup);
    }
    note_unanswered(call, clock.steady() - began);
    co_return Error{Errc::timeout, "Nova did not name the requester in time"};
}

}  // namespace reaper
