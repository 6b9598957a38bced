// One try of a call: what is below the retries. The real one has sockets; tests give answers of
// their own, so that retries, Retry-After and deadlines are exercised without a network.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <variant>

#include "clients/http/client.hpp"
#include "clients/http/failure.hpp"
#include "clients/http/url.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

/// What goes out: a request whose URL is taken apart, under our own name for it.
struct Outgoing {
    Request request;
    Url url;
    std::string our_id;         ///< X-Openstack-Request-Id
    Duration allowed{};         ///< for all tries together, for the words of a failure
    bool may_be_heard = false;  ///< a former try went out
};

class Transport {
public:
    using Try = std::variant<Response, Failure>;

    virtual ~Transport() = default;
    /// The clock of limits: steady, of no date.
    virtual TimeLimit now() const = 0;
    /// Sends the call once and reads all of the answer; a Failure with `timeout` at the limit.
    /// Asks `still_wanted` right before it writes; if it is not, a Failure with `unwanted`.
    virtual Task<Try> exchange(const Outgoing& call, TimeLimit limit) = 0;
};

/// Keep-alive connections, pooled per endpoint. `bad_input` if a certificate or key can't be read.
Result<std::shared_ptr<Transport>> make_pooled_transport(boost::asio::any_io_executor executor,
                                                         const Options& options);

/// Calls `observer` when a try has ended, but not for one that was never sent because it was no
/// longer wanted.
std::shared_ptr<Transport> observed(std::shared_ptr<Transport> inner, CallObserver observer);

/// The client's retries over a given transport.
std::unique_ptr<Client> make_client(std::shared_ptr<Transport> transport, Options options,
                                    Clock& clock);

}  // namespace reaper::http
