#include "faults/schedules/gateway.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "clients/http/url.hpp"
#include "reaper/gateway/call_words.hpp"

namespace reaper::faults {

using cloudsim::Candidate;
using cloudsim::CandidateQuery;
using cloudsim::Candidates;
using cloudsim::NameId;
using cloudsim::RequestGroup;
using cloudsim::Uuid;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// What haproxy and nova-scheduler wait at most.
constexpr Duration patience = seconds{90};

/// A set of aggregates, as in `member_of=in:A,B`.
std::string any_of(const std::set<Uuid>& ids) {
    std::vector<std::string> words;
    for (const Uuid& id : ids) words.push_back(id.text());
    return "in:" + joined(words);
}

/// As Nova writes it.
class QueryWriter {
public:
    explicit QueryWriter(const cloudsim::Names& names) : names_(names) {}

    PlacementQuery write(const CandidateQuery& query) {
        if (query.limit > 0) add("limit", std::to_string(query.limit));
        for (const auto& [suffix, group] : query.groups) write(suffix, group);
        if (query.groups.size() > 1) add("group_policy", query.isolate ? "isolate" : "none");
        std::vector<std::string> roots;
        for (const NameId trait : query.root_required) roots.push_back(names_.text(trait));
        for (const NameId trait : query.root_forbidden) roots.push_back("!" + names_.text(trait));
        if (!roots.empty()) add("root_required", joined(roots));
        return std::move(written_);
    }

private:
    void write(const std::string& suffix, const RequestGroup& group) {
        std::vector<std::string> amounts, traits;
        for (const auto& [name, amount] : group.resources)
            amounts.push_back(names_.text(name) + ":" + std::to_string(amount));
        for (const auto& one_of : group.required) traits.push_back(names_.text(*one_of.begin()));
        for (const NameId trait : group.forbidden) traits.push_back("!" + names_.text(trait));
        if (!amounts.empty()) add("resources" + suffix, joined(amounts));
        if (!traits.empty()) add("required" + suffix, joined(traits));
        for (const auto& ids : group.member_of) add("member_of" + suffix, any_of(ids));
        if (!group.not_member_of.empty())
            add("member_of" + suffix, "!" + any_of(group.not_member_of));
        if (group.in_tree) add("in_tree" + suffix, group.in_tree->text());
    }
    void add(std::string name, std::string value) {
        written_.emplace_back(std::move(name), std::move(value));
    }

    const cloudsim::Names& names_;
    PlacementQuery written_;
};

/// None: it is broken.
std::optional<Candidates> candidates_in(cloudsim::World& world, const std::string& body) {
    try {
        Candidates found;
        const json answer = json::parse(body);
        const json& ways = answer.at("allocation_requests");
        for (const json& way : ways) {
            Candidate candidate;
            const json& allocations = way.at("allocations");
            for (const auto& [id, row] : allocations.items()) {
                cloudsim::Provider* const provider = world.placement.find(Uuid::parse(id).value());
                if (provider == nullptr) return std::nullopt;
                const json& amounts = row.at("resources");
                for (const auto& [name, amount] : amounts.items())
                    candidate.held.push_back(
                        {provider, world.names.id(name), amount.get<std::int64_t>()});
            }
            found.requests.push_back(std::move(candidate));
        }
        return found;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

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

}  // namespace

Gateway::Gateway(Timeline& timeline, cloudsim::Site& site, Network& network, Trace& trace,
                 std::uint64_t seed)
    : timeline_(timeline), site_(site), network_(network), trace_(trace), chance_(seed) {}

void Gateway::ask_of(Process* process) {
    process_ = process;
    if (process != nullptr) return;
    for (const auto& [number, pending] : pending_)
        if (pending.through_reaper)
            timeline_.after(milliseconds{2}, [this, broken = number] { finish(broken, 0, ""); });
}

bool Gateway::waits_for(const std::string& request) const {
    const auto waited = waited_.find(request);
    const bool did = waited != waited_.end() && timeline_.true_now() - waited->second < seconds{1};
    return did || std::any_of(pending_.begin(), pending_.end(), [&](const auto& each) {
               return each.second.through_reaper && each.second.request == request;
           });
}

void Gateway::search(const CandidateQuery& query, std::string request, Found found) {
    const PlacementQuery written = QueryWriter{site_.world().names}.write(query);
    HttpRequest call;
    call.method = "GET";
    call.target = with_query("/placement/allocation_candidates", written);
    ask(std::move(call), request,
        [this, found = std::move(found)](int status, const std::string& body) {
            found(status == 200 ? candidates_in(site_.world(), body) : std::nullopt);
        });
}

void Gateway::claim(const cloudsim::Claim& claim, std::string request, Claimed claimed) {
    const auto& names = site_.world().names;
    json allocations = json::object();
    for (const auto& held : claim.held)
        allocations[held.provider->uuid.text()]["resources"][names.text(held.resource_class)] =
            held.amount;
    const auto* const known = site_.world().placement.find_consumer(claim.consumer);
    json body = {{"allocations", std::move(allocations)},
                 {"project_id", names.text(claim.project)},
                 {"user_id", names.text(claim.user)},
                 {"consumer_generation", nullptr}};
    if (known != nullptr) body["consumer_generation"] = known->generation;
    HttpRequest call;
    call.method = "PUT";
    call.target = "/placement/allocations/" + claim.consumer.text();
    call.body = body.dump();
    ask(std::move(call), request,
        [claimed = std::move(claimed)](int status, const std::string&) { claimed(status == 204); });
}

void Gateway::give_back(const Uuid& consumer, std::string request) {
    HttpRequest call;
    call.method = "DELETE";
    call.target = "/placement/allocations/" + consumer.text();
    // Nova would tell its operator.
    ask(std::move(call), request, [this, consumer](int status, const std::string&) {
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
    pending.answered = std::move(answered);
    const auto handler = process_ != nullptr ? process_->gateway() : nullptr;
    const bool by_another =
        handler != nullptr && passes_by_percent_ > 0 && chance_.percent(passes_by_percent_);
    if (by_another) ++passed_by_;
    if (handler != nullptr && !by_another && handler->wants(call.method, call.target)) {
        ++calls_;
        pending.through_reaper = true;
        trace_.line("nova-scheduler asks the reaper: " + call.method + " " + call.target);
        const auto asked = std::make_shared<Call>(network_, site_.root());
        if (call.method == "GET" && leaves_percent_ > 0 && chance_.percent(leaves_percent_))
            timeline_.after(milliseconds{chance_.between(1, 4'000)}, [this, number, asked] {
                if (!pending_.contains(number)) return;
                ++left_;
                trace_.line("nova-scheduler leaves");
                asked->leave();
                finish(number, 0, "");
            });
        process_->spawn(
            handled(handler, std::move(call), asked, [this, number](int status, std::string body) {
                finish(number, status, std::move(body));
            }));
        return;
    }
    timeline_.after(milliseconds{chance_.between(2, 12)}, [this, number, call = std::move(call)] {
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
        finish(number, response.status, response.body);
    });
}

void Gateway::finish(std::uint64_t number, int status, std::string body) {
    const auto at = pending_.find(number);
    if (at == pending_.end()) return;
    Pending pending = std::move(at->second);
    pending_.erase(at);
    if (pending.through_reaper) waited_[pending.request] = timeline_.true_now();
    trace_.line("nova-scheduler is answered " + std::to_string(status));
    pending.answered(status, body);
}

}  // namespace reaper::faults
