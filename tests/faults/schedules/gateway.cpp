#include "faults/schedules/gateway.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "faults/schedules/gateway_words.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::faults {

using cloudsim::CandidateQuery;
using cloudsim::Uuid;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// What haproxy and nova-scheduler wait at most.
constexpr Duration patience = seconds{90};
/// No deadline is shorter.
constexpr Duration slow = seconds{1};

class Answer final : public UpstreamAnswer {
public:
    explicit Answer(http::Response response)
        : status_(response.status), body_(std::move(response.body)) {
        for (auto& header : response.headers)
            headers_.emplace_back(std::move(header.name), std::move(header.value));
    }

    int status() const override { return status_; }
    const std::string& reason() const override { return reason_; }
    const HttpHeaders& headers() const override { return headers_; }
    ResultTask<BodyRead> read_all(std::size_t most) override {
        if (body_.size() > most) co_return BodyRead::too_large;
        co_return BodyRead::whole;
    }
    const std::string& body() const override { return body_; }

private:
    int status_;
    std::string reason_;
    HttpHeaders headers_;
    std::string body_;
};

/// The reaper asks Placement for it, over the network with its faults.
class Call final : public ProxyCall {
public:
    Call(Network& network, std::string root)
        : transport_(network.transport()), root_(std::move(root)) {}

    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override {
        http::Outgoing out;
        out.request.method = request.method == "PUT"      ? http::Method::put
                             : request.method == "POST"   ? http::Method::post
                             : request.method == "DELETE" ? http::Method::del
                                                          : http::Method::get;
        out.request.url = root_ + request.target;
        for (auto& [name, value] : request.headers) out.request.headers.push_back({name, value});
        out.request.body = std::move(request.body);
        out.url = http::parse_url(out.request.url).value();
        auto tried = co_await transport_->exchange(out, transport_->now() + patience);
        if (const auto* const failure = std::get_if<http::Failure>(&tried))
            co_return Error{failure->code, failure->cause};
        auto answer = std::make_unique<Answer>(std::move(std::get<http::Response>(tried)));
        co_return std::unique_ptr<UpstreamAnswer>{std::move(answer)};
    }
    bool client_gone() const override { return gone_; }
    void on_client_gone(std::function<void()> told) override {
        told_ = std::move(told);
        if (gone_ && told_) std::exchange(told_, nullptr)();
    }
    void leave() {
        gone_ = true;
        if (told_) std::exchange(told_, nullptr)();
    }

private:
    bool gone_ = false;
    std::function<void()> told_;
    std::shared_ptr<http::Transport> transport_;
    std::string root_;
};

Task<void> handled(std::shared_ptr<ProxyHandler> handler, HttpRequest request,
                   std::shared_ptr<Call> call, std::function<void(int, std::string)> done) {
    auto answer = co_await handler->handle(std::move(request), *call);
    call->on_client_gone({});
    if (auto* const own = std::get_if<OwnAnswer>(&answer))
        done(own->status, std::move(own->body));
    else if (auto* const passed = std::get_if<std::unique_ptr<UpstreamAnswer>>(&answer))
        done((*passed)->status(), (*passed)->body());
    else
        done(502, "");
}

Task<void> broken_off(std::shared_ptr<ProxyCall> call) {
    static_cast<Call&>(*call).leave();
    co_return;
}

}  // namespace

Gateway::Gateway(Timeline& timeline, cloudsim::Site& site, Network& network, Trace& trace,
                 std::uint64_t seed, std::function<void()> changed)
    : timeline_(timeline),
      site_(site),
      network_(network),
      trace_(trace),
      chance_(seed),
      changed_(std::move(changed)) {}

void Gateway::ask_of(Process* process) {
    Process* const before = std::exchange(process_, process);
    if (process != nullptr) return;
    for (const auto& [number, pending] : pending_) {
        if (!pending.call) continue;
        timeline_.after(milliseconds{2}, [this, broken = number] { finish(broken, 0, ""); });
        // One that is frozen sees the broken connection when it runs again.
        if (before != nullptr) before->spawn(broken_off(pending.call));
    }
}

bool Gateway::waits_for(const std::string& request) const {
    const auto trail = trails_.find(request);
    const bool did = trail != trails_.end() && trail->second.answered_at &&
                     timeline_.true_now() - *trail->second.answered_at < seconds{1};
    return did || asked_since(request);
}

std::optional<TimePoint> Gateway::asked_since(const std::string& request) const {
    std::optional<TimePoint> since;
    for (const auto& [number, pending] : pending_)
        if (pending.call && pending.request == request)
            since = std::min(since.value_or(pending.at), pending.at);
    return since;
}

std::vector<GatewayWait> Gateway::waits() const {
    std::vector<GatewayWait> all;
    for (const auto& [number, pending] : pending_)
        if (pending.call) all.push_back({pending.request, pending.method});
    return all;
}

std::optional<TimePoint> Gateway::late_at(Duration waited) const {
    const auto last = std::find_if(slow_.rbegin(), slow_.rend(),
                                   [&](const auto& each) { return each.second >= waited; });
    return last == slow_.rend() ? std::nullopt : std::optional{last->first};
}

const GatewayTrail* Gateway::trail(const std::string& request) const {
    const auto trail = trails_.find(request);
    return trail == trails_.end() ? nullptr : &trail->second;
}

void Gateway::search(const CandidateQuery& query, std::string request, Found found) {
    HttpRequest call;
    call.method = "GET";
    call.target = search_target(site_.world().names, query);
    ask(std::move(call), request,
        [this, request, found = std::move(found)](int status, const std::string& body,
                                                  const Pending& asked) {
            auto candidates = status == 200 ? candidates_in(site_.world(), body) : std::nullopt;
            if (candidates && asked.as_reaper_says) watch_.told(request, *candidates, asked.at);
            found(std::move(candidates));
        });
}

void Gateway::claim(const cloudsim::Claim& claim, std::string request, Claimed claimed) {
    HttpRequest call;
    call.method = "PUT";
    call.target = "/placement/allocations/" + claim.consumer.text();
    call.body = claim_body(site_.world(), claim);
    ask(std::move(call), request,
        [this, request, server = claim.consumer, claimed = std::move(claimed)](
            int status, const std::string&, const Pending& asked) {
            if (status == 204 && asked.as_reaper_says) watch_.claimed(request, server, asked.at);
            claimed(status == 204);
        });
}

void Gateway::give_back(const Uuid& consumer, std::string request) {
    HttpRequest call;
    call.method = "DELETE";
    call.target = "/placement/allocations/" + consumer.text();
    // Nova would tell its operator.
    ask(std::move(call), request, [this, consumer](int status, const std::string&, const Pending&) {
        if (status != 204) site_.world().placement.remove_consumer(consumer);
    });
}

std::string Gateway::token() {
    auto& identity = site_.world().identity;
    return identity
        .issue(*identity.user_named("reaper"), *identity.project_named("service"), "password",
               site_.world().clock.now())
        .text;
}

void Gateway::ask(HttpRequest call, const std::string& request, Answered answered) {
    call.headers = {{"X-Openstack-Request-Id", request},
                    {"X-Auth-Token", token()},
                    {"OpenStack-API-Version", "placement 1.36"},
                    {"Content-Type", "application/json"}};
    const std::uint64_t number = ++last_;
    Pending& pending = pending_[number];
    pending.request = request;
    pending.method = call.method;
    pending.at = timeline_.true_now();
    pending.answered = std::move(answered);
    const auto handler = process_ != nullptr ? process_->gateway() : nullptr;
    const bool by_another =
        handler != nullptr && passes_by_percent_ > 0 && chance_.percent(passes_by_percent_);
    if (by_another) ++counts_.passed_by;
    pending.as_reaper_says = handler != nullptr && !by_another;
    if (!pending.as_reaper_says) trails_[request].broken = true;
    if (handler != nullptr && !by_another && handler->wants(call.method, call.target))
        ask_reaper(handler, number, std::move(call));
    else
        ask_placement(number, std::move(call));
}

void Gateway::ask_reaper(const std::shared_ptr<ProxyHandler>& handler, std::uint64_t number,
                         HttpRequest call) {
    ++counts_.calls;
    const auto asked = std::make_shared<Call>(network_, site_.root());
    pending_.at(number).call = asked;
    const auto all = waits();
    for (const GatewayWait& each : all) {
        std::size_t& most = trails_[each.request].most_at_once;
        most = std::max(most, all.size());
    }
    trace_.line("nova-scheduler asks the reaper: " + call.method + " " + call.target);
    // What is given back is waited for.
    if (call.method != "DELETE" && leaves_percent_ > 0 && chance_.percent(leaves_percent_)) {
        // A claim is waited for but shortly, as a rule.
        const int most = call.method == "PUT" && chance_.percent(50) ? 30 : 4'000;
        timeline_.after(milliseconds{chance_.between(1, most)},
                        [this, number, asked] { leave(number, [asked] { asked->leave(); }); });
    }
    if (call.method == "PUT") watch_.claims();
    process_->spawn(handled(
        handler, std::move(call), asked,
        [this, number](int status, std::string body) { finish(number, status, std::move(body)); }));
}

/// The call goes on: what was sent arrives.
void Gateway::leave(std::uint64_t number, const std::function<void()>& gone) {
    const auto pending = pending_.find(number);
    if (pending == pending_.end()) return;
    ++(pending->second.method == "GET" ? counts_.left_searches : counts_.left_claims);
    trace_.line("nova-scheduler leaves");
    gone();
    finish(number, 0, "");
}

/// By another gateway, or none: haproxy does so while no reaper lives.
void Gateway::ask_placement(std::uint64_t number, HttpRequest call) {
    const Duration worked_on = std::chrono::floor<Duration>(site_.world().settings.delays.call);
    const Duration until = worked_on + milliseconds{chance_.between(2, 12)};
    timeline_.after(until, [this, number, call = std::move(call)] {
        cloudsim::Request asked;
        asked.method = call.method;
        asked.set_target(call.target);
        for (const auto& [name, value] : call.headers) {
            std::string lower = name;
            for (char& c : lower)
                c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            asked.headers.emplace_back(std::move(lower), value);
        }
        asked.body = call.body;
        const cloudsim::Response response = site_.handle(asked);
        changed_();
        finish(number, response.status, response.body);
    });
}

void Gateway::finish(std::uint64_t number, int status, std::string body) {
    const auto at = pending_.find(number);
    if (at == pending_.end()) return;
    Pending pending = std::move(at->second);
    pending_.erase(at);
    if (pending.call) {
        const Duration waited = timeline_.true_now() - pending.at;
        if (waited >= slow) slow_.emplace_back(timeline_.true_now(), waited);
        GatewayTrail& trail = trails_[pending.request];
        trail.answered_at = timeline_.true_now();
        trail.broken = trail.broken || status == 0 || status >= 500;
    }
    trace_.line("nova-scheduler is answered " + std::to_string(status));
    pending.answered(status, body, pending);
}

}  // namespace reaper::faults
