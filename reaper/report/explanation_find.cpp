// Where a journal reports a server, and which of two journals knows more about it.
#include <algorithm>
#include <set>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/report/explanation.hpp"

namespace reaper::report {
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
           told.asked == server.victim.name;
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
           std::none_of(told.servers.begin(), told.servers.end(),
                        [&](const auto& server) { return is_asked(told, server); });
}

}  // namespace

static ResultTask<std::optional<Explanation>> find_in_requests(JournalReader& journal,
                                                               std::string asked);

std::optional<ServerId> waiting_server(const Request& request, const std::string& asked) {
    for (const ServerId& each : request.requesters) {
        const auto name = request.requester_names.find(each);
        const bool named = name != request.requester_names.end() && name->second == asked;
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
        const bool asked_about =
            std::any_of(told.servers.begin(), told.servers.end(),
                        [&](const auto& server) { return server.victim.server == each.server; });
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
    std::stable_sort(told.also.begin(), told.also.end(),
                     [](const auto& a, const auto& b) { return a.received_at > b.received_at; });
    if (told.also.size() > most_chosen) told.also.resize(most_chosen);
}

std::string not_explained(const std::string& asked) {
    return "the journal knows no request " + in_quotes(asked) +
           ", and no server of that id or name that a plan chose, or that waited for one of the "
           "newest 10000 requests; 'reaper history' and 'reaper history victims' list what it "
           "knows; with --api the daemon explains any server of the cloud";
}

}  // namespace reaper::report
