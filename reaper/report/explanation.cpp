#include "reaper/report/explanation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

constexpr std::array<std::pair<Fate, std::string_view>, 10> fates{{
    {Fate::planned, "planned"},
    {Fate::noticed, "noticed"},
    {Fate::going, "going"},
    {Fate::shelving, "shelving"},
    {Fate::deleted, "deleted"},
    {Fate::shelved, "shelved"},
    {Fate::skipped, "skipped"},
    {Fate::vanished, "vanished"},
    {Fate::still_there, "still-there"},
    {Fate::unknown, "unknown"},
}};

bool is_sending(Step step) {
    return sends_eviction(step) || step == Step::delete_accepted;
}

Fate fate_by(Step last, bool ended) {
    if (is_sending(last)) return ended ? Fate::unknown : Fate::going;
    switch (last) {
        case Step::notice_sent:
        case Step::notified:
        case Step::stop_sent: return ended ? Fate::planned : Fate::noticed;
        case Step::withdrawn: return Fate::planned;
        case Step::skipped: return Fate::skipped;
        case Step::gone: return Fate::deleted;
        case Step::vanished: return Fate::vanished;
        case Step::failed: return Fate::still_there;
        case Step::left_shelved: return Fate::shelved;
        default: return Fate::unknown;
    }
}

void take_step(ExplainedServer& server, const StepEntry& step, bool ended) {
    if (step.step == Step::withdrawn && server.sent_at) return;  // it still goes
    server.fate = fate_by(step.step, ended);
    if (sends_eviction(step.step)) server.shelved = step.step == Step::shelve_sent;
    if (server.shelved && server.fate == Fate::going) server.fate = Fate::shelving;
    if (server.shelved && server.fate == Fate::deleted) server.fate = Fate::shelved;
    if (step.step == Step::stop_sent) return;  // the time of its notice stays its reason
    server.fate_reason = is_sending(step.step) || step.step == Step::gone ? "" : step.detail;
    if (step.step == Step::skipped) server.sent_at.reset();  // what was sent came to nothing
    if (is_sending(step.step) && !server.sent_at) server.sent_at = step.at;
    if (step.step == Step::gone || step.step == Step::vanished) server.gone_at = step.at;
}

/// All that the plans chose, in the order in which they did.
std::vector<ExplainedServer> chosen_servers(const RequestRecord& record) {
    std::vector<ExplainedServer> servers;
    const auto find = [&](const ServerId& id) {
        return std::ranges::find_if(servers,
                                    [&](const auto& known) { return known.victim.server == id; });
    };
    for (const auto& entry : record.plans) {
        const auto* const plan = std::get_if<Plan>(&entry.decision);
        if (plan == nullptr) continue;
        for (auto& victim : plan->victims()) {
            auto at = find(victim.server);
            if (at == servers.end()) at = servers.insert(servers.end(), ExplainedServer{});
            at->victim = std::move(victim);
            at->round = entry.round;
            at->chosen_at = entry.at;
        }
    }
    for (const auto& step : record.steps)
        if (const auto at = find(step.server); at != servers.end())
            take_step(*at, step, record.outcome.has_value());
    return servers;
}

std::string name_of(const ExplainedServer& server) {
    return server.victim.name.empty() ? server.victim.server.str()
                                      : server.victim.name + " " + server.victim.server.str();
}

std::string with_reason(std::string text, const std::string& reason) {
    return reason.empty() ? text : text + ": " + reason;
}

/// Of the whole request, and of the steps of the servers that were asked about.
std::vector<TimelineEntry> times_of(const RequestRecord& record,
                                    const std::vector<ExplainedServer>& servers) {
    std::map<ServerId, std::string> names;
    for (const auto& server : servers) names[server.victim.server] = name_of(server);
    std::vector<TimelineEntry> times;
    const TimePoint sent = record.request.sent_at;
    if (sent != TimePoint{} && sent != record.received_at) times.push_back({sent, "asked for"});
    times.push_back({record.received_at, "received"});
    for (const auto& plan : record.plans)
        times.push_back(
            {plan.at, "plan " + std::to_string(plan.round) + ": " + summary(plan.decision)});
    for (const auto& step : record.steps) {
        const auto name = names.find(step.server);
        if (name == names.end()) continue;
        const bool already_reported = is_sending(step.step);  // the reason, by the plan
        times.push_back(
            {step.at, with_reason(std::string{to_string(step.step)} + " " + name->second,
                                  already_reported ? "" : step.detail)});
    }
    if (record.outcome)
        times.push_back(
            {record.outcome->at, "outcome: " + std::string{to_string(record.outcome->kind)}});
    if (record.freed_room)
        times.push_back({record.freed_room->at,
                         "freed room: " + std::string{to_string(record.freed_room->kind)}});
    std::ranges::stable_sort(times, {}, &TimelineEntry::at);
    return times;
}

/// The plan that chose the first of the servers; without servers the last one.
std::optional<PlanEntry> decision_for(const RequestRecord& record,
                                      const std::vector<ExplainedServer>& servers) {
    if (record.plans.empty()) return std::nullopt;
    for (const auto& plan : record.plans)
        if (!servers.empty() && plan.round == servers.front().round &&
            plan.at == servers.front().chosen_at)
            return plan;
    return record.plans.back();
}

void neighbours_not_known(const HostPlan& host, bool correction,
                          std::vector<std::string>& unknown) {
    if (host.victims.empty()) return;
    if (correction) {
        unknown.push_back("which other revocable servers were on " + host.host_name +
                          ": a correction names the servers that have to go, and weighs no others");
    } else if (!host.spared_in_all) {
        unknown.push_back(
            "which other revocable servers were on " + host.host_name +
            ", and why they stayed: the reaper that made this plan did not record it");
    } else if (const int more = *host.spared_in_all - static_cast<int>(host.spared.size());
               more > 0) {
        unknown.push_back(counted(more, "more revocable server") + " that stayed on " +
                          host.host_name + ": a plan lists only the first ones");
    }
}

std::size_t hosts_in(const std::vector<RejectionCount>& counts) {
    std::size_t hosts = 0;
    for (const auto& each : counts) hosts += static_cast<std::size_t>(std::max(each.hosts, 0));
    return hosts;
}

void hosts_not_known(const Decision& decision, std::vector<std::string>& unknown) {
    const auto tell = [&](const auto& answer) {
        const std::size_t all = hosts_in(answer.rejected_counts);
        if (all > answer.rejected.size())
            unknown.push_back("which " + counted(all - answer.rejected.size(), "more host") +
                              " were passed over: by reason they are counted");
    };
    if (const auto* const plan = std::get_if<Plan>(&decision)) tell(*plan);
    if (const auto* const not_enough = std::get_if<NotEnough>(&decision)) tell(*not_enough);
}

void room_not_known(const Explanation& told, std::vector<std::string>& unknown) {
    const auto sent = [](const ExplainedServer& server) { return server.sent_at.has_value(); };
    const bool any =
        std::ranges::any_of(told.servers, sent) || std::ranges::any_of(told.others, sent);
    if (!told.outcome)
        unknown.push_back("how it ends: the request is under way");
    else if (any && !told.freed_room && !is_awaited(told.request.source))
        unknown.push_back("who took the room: no server waited for it, so it was not watched");
    else if (any && !told.freed_room)
        unknown.push_back("who took the room: it was not seen, or not yet");
}

/// Whose names are not known.
std::optional<std::string> nameless_of(const Request& request) {
    const bool project = request.project_name.empty();
    const bool servers =
        request.requester_names.size() < request.requesters.size() || request.requesters.empty();
    if (!project && !servers) return std::nullopt;
    return "names of " + std::string{project ? "projects" : ""} +
           (project && servers ? " and of " : "") + (servers ? "the servers that waited" : "") +
           ": it has their ids";
}

std::vector<std::string> unknown_of(const Explanation& told) {
    std::vector<std::string> unknown;
    if (told.decision) {
        for (const auto& host : host_plans(told.decision->decision))
            neighbours_not_known(host, told.request.correction.has_value(), unknown);
        hosts_not_known(told.decision->decision, unknown);
    }
    room_not_known(told, unknown);
    if (auto nameless = nameless_of(told.request)) unknown.push_back(std::move(*nameless));
    return unknown;
}

}  // namespace

std::string_view to_string(Fate fate) {
    return word_in(fates, fate);
}

std::optional<Fate> fate_from(std::string_view text) {
    return value_in(fates, text);
}

Explanation explain(const RequestRecord& record, const std::set<ServerId>& asked_about) {
    Explanation told;
    told.request = record.request;
    told.received_at = record.received_at;
    for (auto& server : chosen_servers(record)) {
        const bool asked = asked_about.empty() || asked_about.contains(server.victim.server);
        (asked ? told.servers : told.others).push_back(std::move(server));
    }
    told.rounds = static_cast<int>(record.plans.size());
    told.decision = decision_for(record, told.servers);
    told.outcome = record.outcome;
    told.freed_room = record.freed_room;
    told.times = times_of(record, told.servers);
    told.unknown = unknown_of(told);
    return told;
}

void add_names(const ProjectNames& names, Explanation& told) {
    const auto name = [&](auto& named) {
        if (named.project_name.empty()) named.project_name = name_of_project(names, named.project);
    };
    name(told.request);
    for (auto* const servers : {&told.servers, &told.others})
        for (ExplainedServer& server : *servers) name(server.victim);
    if (told.decision) reaper::add_names(names, told.decision->decision);
    for (ChosenServer& chosen : told.also) name(chosen);
}

// Where a journal reports a server, and which of two journals knows more about it.

namespace {

/// At most this many other places in the journal are listed.
constexpr int most_chosen = 100;
/// A journal of years has more, and reads each for a name that it does not know.
constexpr int most_waiting_read = 10'000;

/// `chosen`: newest request first, which is that of the record.
Explanation of_newest(const RequestRecord& record, std::vector<ChosenServer> chosen) {
    std::set<ServerId> servers;
    std::vector<ChosenServer> also;
    for (auto& each : chosen) {
        if (each.request == record.request.id)
            servers.insert(each.server);
        else
            also.push_back(std::move(each));
    }
    Explanation told = explain(record, servers);
    told.also = std::move(also);
    return told;
}

/// None: no such server waited for the room of that request.
std::optional<ChosenServer> waited_for(const Request& request, TimePoint received_at,
                                       const std::string& asked) {
    const auto server = waiting_server(request, asked);
    if (!server) return std::nullopt;
    const auto name = request.requester_names.find(*server);
    ChosenServer waited;
    waited.request = request.id;
    waited.received_at = received_at;
    waited.server = *server;
    if (name != request.requester_names.end()) waited.name = name->second;
    waited.project = request.project;
    waited.project_name = request.project_name;
    return waited;
}

/// When the oldest of the newest requests came, as many as are read; none: there are no more.
ResultTask<std::optional<TimePoint>> oldest_read(JournalReader& journal) {
    std::optional<TimePoint> at;
    JournalQuery query;
    query.patient = true;
    query.skip = most_waiting_read - 1;
    query.limit = 1;
    auto found = co_await journal.find_requests(std::move(query));
    if (!found) co_return found.error();
    if (!found->empty()) at = found->front().received_at;
    co_return at;
}

/// The newest request in which that server waited.
ResultTask<std::optional<Explanation>> of_requester(JournalReader& journal, std::string asked) {
    std::optional<Explanation> told;
    auto since = co_await oldest_read(journal);
    if (!since) co_return since.error();
    JournalQuery query;
    query.patient = true;
    query.since = *since;
    query.server = asked;
    query.limit = most_chosen;
    auto found = co_await journal.find_requests(std::move(query));
    if (!found) co_return found.error();
    if (found->empty()) co_return told;
    RequestId newest = found->front().request.id;
    auto record = co_await journal.record(std::move(newest));
    if (!record) co_return record.error();
    if (!*record) co_return told;
    told = explain(**record, {});
    for (std::size_t i = 1; i < found->size(); ++i)
        if (auto waited = waited_for((*found)[i].request, (*found)[i].received_at, asked))
            told->also.push_back(std::move(*waited));
    told->asked = std::move(asked);
    co_return told;
}

bool is_asked(const Explanation& told, const ExplainedServer& server) {
    return told.asked == told.request.id.str() || told.asked == server.victim.server.str() ||
           is_name(told.asked, server.victim.name);
}

/// When the last deletion was sent of what was asked about.
std::optional<TimePoint> last_deletion(const Explanation& told) {
    std::optional<TimePoint> sent;
    for (const auto& server : told.servers)
        if (server.sent_at && is_asked(told, server))
            sent = std::max(sent.value_or(*server.sent_at), *server.sent_at);
    return sent;
}

/// It reports a server that waited, and that no plan chose.
bool shows_waiter(const Explanation& told) {
    return waiting_server(told.request, told.asked).has_value() &&
           std::ranges::none_of(told.servers,
                                [&](const auto& server) { return is_asked(told, server); });
}

}  // namespace

static ResultTask<std::optional<Explanation>> find_in_requests(JournalReader& journal,
                                                               std::string asked);

std::optional<ServerId> waiting_server(const Request& request, const std::string& asked) {
    for (const ServerId& each : request.requesters) {
        const auto name = request.requester_names.find(each);
        const bool named = name != request.requester_names.end() && is_name(asked, name->second);
        if (named || each.str() == asked) return each;
    }
    return std::nullopt;
}

/// As the journal has it; those whose time is over end shortly.
static ResultTask<std::optional<Explanation>> with_protections(JournalReader& journal,
                                                               Explanation told) {
    auto protections = co_await journal.protections();
    if (!protections) co_return protections.error();
    for (auto& each : *protections) {
        const bool asked_about = std::ranges::any_of(
            told.servers, [&](const auto& server) { return server.victim.server == each.server; });
        if (asked_about) told.protections.push_back(std::move(each));
    }
    co_return std::optional<Explanation>{std::move(told)};
}

ResultTask<std::optional<Explanation>> find_explanation(JournalReader& journal, std::string asked) {
    auto told = co_await find_in_requests(journal, std::move(asked));
    if (!told || !*told) co_return told;
    Explanation found = std::move(**told);
    co_return co_await with_protections(journal, std::move(found));
}

static ResultTask<std::optional<Explanation>> find_in_requests(JournalReader& journal,
                                                               std::string asked) {
    std::optional<Explanation> told;
    RequestId request{asked};
    auto by_id = co_await journal.record(std::move(request));
    if (!by_id) co_return by_id.error();
    if (*by_id) {
        told = explain(**by_id, {});
        told->asked = std::move(asked);
        co_return told;
    }
    std::string name = asked;
    auto chosen = co_await journal.chosen(std::move(name), most_chosen);
    if (!chosen) co_return chosen.error();
    if (chosen->empty()) co_return co_await of_requester(journal, std::move(asked));
    RequestId newest = chosen->front().request;
    auto record = co_await journal.record(std::move(newest));
    if (!record) co_return record.error();
    if (*record) told = of_newest(**record, std::move(*chosen));
    if (told) told->asked = std::move(asked);
    co_return told;
}

bool goes_before(const Explanation& one, const Explanation& other) {
    if (shows_waiter(one) && shows_waiter(other)) return one.received_at > other.received_at;
    return last_deletion(one) > last_deletion(other);
}

void add_other_waits(const Explanation& other, Explanation& told) {
    if (!shows_waiter(told) || !shows_waiter(other)) return;
    std::vector<ChosenServer> more = other.also;
    if (auto waited = waited_for(other.request, other.received_at, other.asked))
        more.push_back(std::move(*waited));
    std::set<RequestId> known{told.request.id};
    for (const ChosenServer& each : told.also) known.insert(each.request);
    for (ChosenServer& each : more)
        if (known.insert(each.request).second) told.also.push_back(std::move(each));
    std::ranges::stable_sort(
        told.also, [](const auto& a, const auto& b) { return a.received_at > b.received_at; });
    if (told.also.size() > most_chosen) told.also.resize(most_chosen);
}

std::string not_explained(const std::string& asked) {
    return "the journal knows no request " + in_quotes(asked) +
           ", and no server of that id or name that a plan chose, or that waited for one of the "
           "newest 10000 requests; 'reaper history' and 'reaper history victims' list what it "
           "knows; with --api the daemon explains any server of the cloud";
}

// The JSON of an explanation, there and back.

namespace {

constexpr auto explained_fields = fields_of<ExplainedServer>([](auto& io, auto& server) {
    auto& victim = server.victim;
    io.required("server", victim.server);
    io.required("name", victim.name);
    io.required("project", victim.project);
    io.optional("project_name", victim.project_name);
    io.required("host", victim.host);
    io.required("flavor", victim.flavor);
    io.required("resources", victim.resources);
    io.required("created", victim.created);
    io.required("reason", victim.reason);
    io.required("fate", server.fate, JsonWords{fate_from});
    io.required("fate_reason", server.fate_reason);
    io.optional("shelved", server.shelved);
    io.required("round", server.round);
    io.required("chosen_at", server.chosen_at);
    io.required("sent_at", server.sent_at);
    io.required("gone_at", server.gone_at);
});

constexpr auto timeline_fields = fields_of<TimelineEntry>([](auto& io, auto& entry) {
    io.required("at", entry.at);
    io.required("what", entry.what);
});

constexpr auto chosen_fields = fields_of<ChosenServer>([](auto& io, auto& chosen) {
    io.required("request", chosen.request);
    io.required("received_at", chosen.received_at);
    io.required("server", chosen.server);
    io.required("name", chosen.name);
    io.required("project", chosen.project);
    io.required("host", chosen.host);
    io.optional("project_name", chosen.project_name);
});

constexpr auto protection_fields = fields_of<ServerProtection>([](auto& io, auto& protection) {
    io.required("server", protection.server);
    io.required("name", protection.name);
    io.required("since", protection.since);
    io.required("until", protection.until);
    io.required("by", protection.by);
    io.required("reason", protection.reason);
});

constexpr auto explanation_fields = fields_of<Explanation>([](auto& io, auto& told) {
    io.constant("version", json_version);
    io.required("asked", told.asked);
    io.required("request", told.request, JsonCoder<Request>{to_json, request_in});
    io.required("received_at", told.received_at);
    io.required("servers", told.servers, explained_fields);
    io.required("others", told.others, explained_fields);
    io.required("rounds", told.rounds);
    io.lenient("decision", told.decision, JsonCoder<PlanEntry>{to_json, plan_entry_in});
    io.lenient("outcome", told.outcome, JsonCoder<Outcome>{to_json, outcome_in});
    io.lenient("freed_room", told.freed_room, JsonCoder<FreedRoomResult>{to_json, freed_room_in});
    io.required("times", told.times, timeline_fields);
    io.required("unknown", told.unknown);
    io.required("also", told.also, chosen_fields);
    io.optional("protections", told.protections, protection_fields);
});

}  // namespace

nlohmann::json to_json(const ServerProtection& protection) {
    return protection_fields.write(protection);
}

nlohmann::json to_json(const Explanation& told) {
    return explanation_fields.write(told);
}

Result<Explanation> explanation_from_json(const nlohmann::json& document) {
    return read_as(document, "story of a server", explanation_fields);
}

}  // namespace reaper::report
