// The body of a request on its way to the upstream, while the answer may come already. Internal to
// clients/http_proxy.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "clients/http_proxy/call_guard.hpp"
#include "clients/http_proxy/client_watch.hpp"

namespace reaper::proxy {

struct Upload {
    enum class Outcome {
        running,
        whole,          ///< all of it was sent
        client_left,    ///< or stalled
        bad,            ///< its framing is broken
        upstream_left,  ///< it takes no more; it may have answered before
    };

    Upload(const boost::asio::any_io_executor& executor, CallGuard& whose)
        : ended(executor, boost::asio::steady_timer::time_point::max()), guard(whose) {}

    void end(Outcome how) {
        outcome = how;
        ended.cancel();
    }
    /// Who has sent all of it may leave before the answer.
    void watch_client(http::SocketStream& stream) {
        watch.emplace(stream, [this] { guard.give_up(); });
    }

    Outcome outcome = Outcome::running;
    boost::asio::steady_timer ended;
    CallGuard& guard;
    std::optional<ClientWatch> watch;
    bool stopped = false;    ///< by ourselves: the rest is of no use to anybody
    bool abandoned = false;  ///< the call is over; the guard is no more
};

/// Owned by the call.
class UploadInProgress {
public:
    explicit UploadInProgress(std::shared_ptr<Upload> upload) : upload_(std::move(upload)) {}
    UploadInProgress(const UploadInProgress&) = delete;
    UploadInProgress& operator=(const UploadInProgress&) = delete;
    ~UploadInProgress() {
        upload_->abandoned = true;
        upload_->watch.reset();
    }
    Upload* operator->() const { return upload_.get(); }
    Upload& operator*() const { return *upload_; }

private:
    std::shared_ptr<Upload> upload_;
};

}  // namespace reaper::proxy
