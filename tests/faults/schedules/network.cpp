#include "faults/schedules/network.hpp"

#include <algorithm>
#include <cctype>

#include "faults/schedules/answers.hpp"

namespace reaper::faults {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

cloudsim::Request request_of(const http::Outgoing& call) {
    cloudsim::Request request;
    request.method = http::to_string(call.request.method);
    request.set_target(call.url.target());
    for (const auto& header : call.request.headers) {
        std::string name = header.name;
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        request.headers.emplace_back(std::move(name), header.value);
    }
    request.body = call.request.body;
    return request;
}

http::Response response_of(const cloudsim::Response& from) {
    http::Response response;
    response.status = from.status;
    response.body = from.body;
    if (!from.content_type.empty()) response.headers.push_back({"Content-Type", from.content_type});
    for (const auto& [name, value] : from.headers) response.headers.push_back({name, value});
    return response;
}

bool is_write(const http::Outgoing& call) {
    return call.request.method != http::Method::get &&
           call.url.path.find("/auth/tokens") == std::string::npos;
}

bool never_arrives(std::optional<Kind> fault) {
    if (!fault) return false;
    switch (*fault) {
        case Kind::status_500:
        case Kind::status_502:
        case Kind::status_503:
        case Kind::busy_429:
        case Kind::reset_before:
        case Kind::forbidden_403:
        case Kind::conflict_409: return true;
        default: return false;  // 504: the gateway gave up on a call that the service carries out
    }
}

}  // namespace

class Network::SimTransport final : public http::Transport {
public:
    explicit SimTransport(Network& network) : network_(network), process_(network.processes_) {}
    http::TimeLimit now() const override { return http::TimeLimit{network_.timeline_.steady()}; }
    Task<Try> exchange(const http::Outgoing& out, http::TimeLimit limit) override;

private:
    Network& network_;
    const std::uint64_t process_;
};

Task<http::Transport::Try> Network::SimTransport::exchange(const http::Outgoing& out,
                                                           http::TimeLimit limit) {
    Network& net = network_;
    if (out.request.still_wanted && !out.request.still_wanted(out.may_be_heard)) {
        http::Failure failure{Errc::cancelled, "not sent: it is no longer wanted", false};
        failure.unwanted = true;
        failure.sent = false;
        co_return failure;
    }
    const auto fault = net.fate(out);
    const auto call = std::make_shared<Exchange>();
    call->request = request_of(out);
    call->number = ++net.calls_;
    call->process = process_;
    call->sent_at = net.timeline_.true_now();
    if (net.watcher_) net.watcher_->on_sent(*call);
    Duration there = milliseconds{net.chance_.between(1, 8)};
    Duration back = milliseconds{net.chance_.between(1, 8)};
    if (fault == Kind::latency) {
        const Duration slowly = milliseconds{net.chance_.between(500, 40'000)};
        (net.chance_.percent(50) ? there : back) += slowly;
    }
    const Duration worked_on = std::chrono::floor<Duration>(net.site_.delay_of(call->request));
    there += worked_on / 2;
    back += worked_on / 2;
    if (!never_arrives(fault))
        net.timeline_.after(there, [&net, call, fault] { net.execute(call, fault); });
    const Duration left = std::chrono::floor<Duration>(limit - now());
    if (there + back > left) {
        co_await net.timeline_.sleep(left);
        net.trace_.line("#" + std::to_string(call->number) + " timeout");
        co_return http::Failure{Errc::timeout, "no answer in time"};
    }
    const Duration both = there + back;
    co_await net.timeline_.sleep(both);
    auto answer = broken_answer(fault, call->response, net.chance_);
    if (answer.failure) {
        net.trace_.line("#" + std::to_string(call->number) + " " + answer.failure->cause);
        co_return std::move(*answer.failure);
    }
    call->untrue = answer.untrue;
    if (net.watcher_ && call->executed && !answer.replaced) net.watcher_->on_answer(*call);
    if (net.watcher_ && answer.replaced) net.watcher_->on_replaced(*call, answer.response.status);
    net.trace_.line("#" + std::to_string(call->number) + " answered " +
                    std::to_string(answer.response.status) + (fault ? " (" : "") +
                    std::string{fault ? name_of(*fault) : ""} + (fault ? ")" : ""));
    co_return response_of(answer.response);
}

Network::Network(Timeline& timeline, cloudsim::Site& site, Trace& trace, FaultCounts& counts,
                 std::uint64_t seed)
    : timeline_(timeline), site_(site), trace_(trace), counts_(counts), chance_(seed) {}

void Network::begin(const Item& item) {
    active_.push_back(Active{item, timeline_.true_now() + item.length, Chance{item.seed}});
}

std::shared_ptr<http::Transport> Network::transport() {
    return std::make_shared<SimTransport>(*this);
}

std::optional<Kind> Network::fate(const http::Outgoing& call) {
    std::erase_if(active_, [&](const Active& one) { return one.until <= timeline_.true_now(); });
    for (Active& one : active_) {
        if (!one.item.service.empty() && !call.url.path.starts_with("/" + one.item.service) &&
            !call.url.path.starts_with("/soft/" + one.item.service))
            continue;
        if (one.item.writes_only && !is_write(call)) continue;
        if (!one.chance.percent(one.item.percent)) continue;
        // Only a write is refused for the state of what it writes.
        if (one.item.kind == Kind::conflict_409 && !is_write(call)) continue;
        if (one.item.kind == Kind::half_list && call.request.method != http::Method::get) continue;
        count(one.item.kind);
        return one.item.kind;
    }
    return std::nullopt;
}

void Network::execute(const std::shared_ptr<Exchange>& call, std::optional<Kind> fault) {
    // The token is revoked while the call is on its way: the service says 401 by itself.
    if (fault == Kind::token_revoked)
        site_.world().identity.revoke(std::string{call->request.header("x-auth-token")});
    call->executed_at = timeline_.true_now();
    if (watcher_) watcher_->on_arrival(*call);
    call->response = site_.handle(call->request);
    call->executed = true;
    trace_.line("#" + std::to_string(call->number) + " " + call->request.method + " " +
                call->request.target + " -> " + std::to_string(call->response.status));
    if (watcher_) watcher_->on_executed(*call);
}

}  // namespace reaper::faults
