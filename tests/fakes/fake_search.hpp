// What nova-scheduler asks, searches for a host and claims: a call through the gateway, answered by
// the fake cloud as Placement would.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_cloud.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper::test {

/// What Placement says to `GET /allocation_candidates?resources=...`: one candidate for each host
/// with enough room (`in_tree`: of that host), and at most as many as it asks for.
/// At most `most` in any case.
std::string candidates_of(FakeCloud& cloud, const std::string& target,
                          std::optional<std::size_t> most = std::nullopt);

class FakeSearch final : public ProxyCall {
public:
    explicit FakeSearch(FakeCloud& cloud) : cloud_(cloud) {}

    /// Begins it; `done` tells when it has its answer.
    void begin(boost::asio::io_context& io, std::shared_ptr<ProxyHandler> handler,
               HttpRequest request);
    bool done() const { return body.has_value() || failed; }
    /// nova-scheduler waits no more.
    void leave();

    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override;
    bool client_gone() const override { return gone_; }
    void on_client_gone(std::function<void()> told) override;

    int status = 200;                 ///< that Placement answers with
    std::string says = "{}";          ///< with it
    std::optional<std::size_t> most;  ///< candidates that Placement names
    bool hangs = false;               ///< it does not answer as long as this is set
    std::vector<std::string> asked;   ///< targets
    std::optional<std::string> body;  ///< of the answer
    int answered = 0;                 ///< its status
    bool own = false;                 ///< it is not Placement's
    bool failed = false;

private:
    Task<void> run(std::shared_ptr<ProxyHandler> handler, HttpRequest request);

    FakeCloud& cloud_;
    bool gone_ = false;
    std::function<void()> told_;
};

}  // namespace reaper::test
