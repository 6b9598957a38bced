// The explanation as people read it.

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

constexpr std::size_t most_listed = 20;

std::string fate_words(const ExplainedServer& server) {
    switch (server.fate) {
        case Fate::planned: return "was chosen, and nothing was sent";
        case Fate::noticed: return "has notice, and is deleted when that is over";
        case Fate::going: return "is being deleted";
        case Fate::shelving: return "is being shelved";
        case Fate::deleted: return "was deleted";
        case Fate::shelved: return "was shelved";
        case Fate::skipped: return "was chosen, and skipped before its deletion";
        case Fate::vanished: return "was gone before it was deleted";
        case Fate::still_there: return "was to be deleted, and still held its room at the deadline";
        case Fate::unknown: return "was to be deleted; the outcome was not observed";
    }
    return "";
}

std::string fate_at(const ExplainedServer& server) {
    const auto at = server.sent_at ? server.sent_at : server.gone_at;
    return fate_words(server) + (at ? " at " + iso_time(*at) : "");
}

const char* source_words(RequestSource source) {
    switch (source) {
        case RequestSource::nova_failure: return "Nova found no host";
        case RequestSource::unshelve: return "Nova found no host for an unshelving";
        case RequestSource::operator_: return "an operator asked for room";
        case RequestSource::gateway: return "nova-scheduler found no host, and waited for the room";
        case RequestSource::reservation: return "a reservation took back what it had lent";
        case RequestSource::oversubscription:
            return "its host was loaded too much, or had sold more than it has";
        case RequestSource::watermark: return "more of the cloud was used than its high mark";
        case RequestSource::life_span: return "its life span was over";
    }
    return "";
}

/// `web-1 and 2 more of project web needed 1 x m1.small on compute-1`
std::string who_needed(const Explanation& told, const std::string& host) {
    const Request& request = told.request;
    if (request.correction || request.requesters.empty()) return source_words(request.source);
    std::string text = requester_text(request, request.requesters.front());
    if (const auto others = request.requesters.size() - 1; others > 0)
        text += " and " + std::to_string(others) + " more";
    return text + " of project " + project_text(request.project, request.project_name) +
           " needed " + what_is_asked(request) + " on " + host;
}

class ExplanationText {
public:
    ExplanationText(const Explanation& told, const RenderOptions& options)
        : told_(told), options_(options), paint_(options.color), width_(width_of(options)) {}

    std::string text() const {
        return answer() + head() + section("Protected now", protections()) + section("Why", why()) +
               section("For whom", for_whom()) + section("What else was considered", considered()) +
               section("Did it help", helped()) + section("When", times()) +
               section("What the journal does not know", bullets(told_.unknown)) +
               section("Also in the journal", also());
    }

private:
    /// The requester of the room, and why this one: of one server.
    std::string answer() const {
        if (told_.servers.size() != 1) return "";
        const ExplainedServer& server = told_.servers.front();
        const Victim& victim = server.victim;
        std::string text = victim.name.empty() ? victim.server.str() : victim.name;
        text += " " + fate_at(server) + ": " + who_needed(told_, victim.host);
        if (!victim.reason.empty()) text += "; " + victim.reason;
        return wrapped(text, 0, width_) + "\n";
    }

    std::string section(const char* title, const std::string& lines) const {
        return lines.empty() ? "" : "\n" + paint_.bold(title) + "\n" + lines;
    }

    std::string protections() const {
        std::string lines;
        for (const auto& each : told_.protections)
            lines += "  " + safe(each.name.empty() ? each.server.str() : each.name) +
                     " by an operator, " + safe(protection_text(each)) + "\n";
        return lines;
    }

    std::string head() const {
        std::string text = waiting_head();
        for (const auto& server : told_.servers) text += server_head(server);
        if (!told_.servers.empty()) return text;
        return text + paint_.bold("Request " + safe(told_.request.id.str())) +
               ": no server was chosen\n";
    }

    /// Of a server that was asked about, and that waited for the room.
    std::string waiting_head() const {
        const Request& request = told_.request;
        const auto server = waiting_server(request, told_.asked);
        if (!server) return "";
        return paint_.bold("Server " + safe(requester_text(request, *server))) +
               ": waited for the room of request " + safe(request.id.str()) + "\n";
    }

    std::string server_head(const ExplainedServer& server) const {
        const Victim& victim = server.victim;
        const std::string name = victim.name.empty() ? "" : safe(victim.name) + " ";
        std::string text = paint_.bold("Server " + name + safe(victim.server.str())) + ": " +
                           painted(server.fate, fate_at(server)) + "\n";
        text += wrapped(server.fate_reason, 2, width_);
        return text + wrapped(about(victim), 2, width_);
    }

    std::string painted(Fate fate, const std::string& text) const {
        if (fate == Fate::deleted || fate == Fate::shelved || fate == Fate::going ||
            fate == Fate::shelving)
            return paint_.red(text);
        return fate == Fate::skipped ? paint_.green(text) : paint_.yellow(text);
    }

    std::string about(const Victim& victim) const {
        std::string text =
            "on " + victim.host + ", project " + project_text(victim.project, victim.project_name);
        if (!victim.flavor.empty()) text += ", flavor " + victim.flavor;
        text += ", created " + iso_time(victim.created) + ", held " + to_string(victim.resources);
        return text;
    }

    std::string why() const {
        std::string text;
        for (const auto& server : told_.servers)
            text += wrapped(
                (told_.servers.size() == 1 ? "" : server.victim.name + ": ") + server.victim.reason,
                2, width_);
        if (!told_.decision) return text + "  No plan was made.\n";
        if (told_.rounds > 1)
            text += "  " + counted(told_.rounds, "plan") + " were made; this is plan " +
                    std::to_string(told_.decision->round) + "\n";
        text += wrapped(summary(told_.decision->decision), 2, width_);
        const auto* const plan = std::get_if<Plan>(&told_.decision->decision);
        if (plan != nullptr && told_.request.correction == std::nullopt)
            text += wrapped(plan->note, 2, width_);
        return text;
    }

    std::string for_whom() const {
        std::string text = wrapped(source_words(told_.request.source), 2, width_);
        RenderOptions plain = options_;
        plain.color = false;
        const std::string lines = request_lines(told_.request, plain);
        // The lines under the request's id are indented already.
        text += "  " + lines;
        return told_.request.flavor.empty()
                   ? text
                   : text + wrapped("flavor " + told_.request.flavor, 2, width_);
    }

    std::string considered() const {
        std::string text;
        for (std::size_t i = 0; i < told_.others.size() && i < most_listed; ++i)
            text += other(told_.others[i]);
        if (told_.others.size() > most_listed)
            text += "  and " + std::to_string(told_.others.size() - most_listed) + " more chosen\n";
        if (!told_.decision) return text;
        for (const auto& host : host_plans(told_.decision->decision)) text += host_lines(host);
        return text + passed_over(told_.decision->decision);
    }

    std::string other(const ExplainedServer& server) const {
        const Victim& victim = server.victim;
        std::string text = "chosen too: " + victim.name + " " + victim.server.str() + " on " +
                           victim.host + ", which " + fate_words(server);
        if (!server.fate_reason.empty()) text += ": " + server.fate_reason;
        return wrapped(text, 2, width_);
    }

    std::string host_lines(const HostPlan& host) const {
        std::string text = "host " + host.host_name + ", " + counted(host.slots, "slot");
        if (host.slots_ready > 0) text += " (" + std::to_string(host.slots_ready) + " ready)";
        text += ", " + counted(host.victims.size(), "victim");
        if (!host.reason.empty()) text += ": " + host.reason;
        text = wrapped(text, 2, width_);
        if (!host.spared_in_all) return text;
        if (*host.spared_in_all == 0) return text + "    no other revocable server was there\n";
        text += "    " + counted(*host.spared_in_all, "revocable server") + " stayed:\n";
        for (const auto& spared : host.spared) text += neighbour(spared);
        return text;
    }

    std::string neighbour(const SparedServer& spared) const {
        return wrapped(spared.name + " " + spared.server.str() + " (project " +
                           project_text(spared.project, spared.project_name) + ", created " +
                           iso_time(spared.created) + ", " + to_string(spared.resources) +
                           "): " + spared.reason,
                       6, width_);
    }

    std::string passed_over(const Decision& decision) const {
        std::string text;
        if (const auto* const plan = std::get_if<Plan>(&decision))
            text = rejected_lines(plan->rejected, plan->rejected_counts, options_);
        if (const auto* const not_enough = std::get_if<NotEnough>(&decision))
            text = rejected_lines(not_enough->rejected, not_enough->rejected_counts, options_);
        return indented(text);
    }

    static std::string indented(const std::string& lines) {
        std::string text;
        for (std::size_t from = 0; from < lines.size();) {
            const std::size_t end = lines.find('\n', from) + 1;
            text += "  " + lines.substr(from, end - from);
            from = end;
        }
        return text;
    }

    std::string helped() const {
        std::string text;
        if (told_.outcome) {
            const Outcome& outcome = *told_.outcome;
            text += wrapped("outcome: " + std::string{to_string(outcome.kind)} +
                                (outcome.safeguard.empty() ? "" : " (" + outcome.safeguard + ")") +
                                (outcome.reason.empty() ? "" : ": " + outcome.reason),
                            2, width_);
        } else {
            text += "  outcome: none yet\n";
        }
        if (told_.freed_room)
            text += wrapped(
                "who took the room: " + std::string{to_string(told_.freed_room->kind)} +
                    (told_.freed_room->reason.empty() ? "" : ": " + told_.freed_room->reason),
                2, width_);
        return text;
    }

    std::string times() const {
        constexpr std::size_t margin = 28;
        std::string text;
        for (const auto& entry : told_.times) {
            const std::string lines = wrapped(entry.what, margin, width_);
            if (!lines.empty())
                text += "  " + paint_.dim(iso_time(entry.at)) + lines.substr(margin - 2);
        }
        return text;
    }

    std::string bullets(const std::vector<std::string>& lines) const {
        std::string text;
        for (const auto& line : lines) text += wrapped(line, 2, width_);
        return text;
    }

    std::string also() const {
        std::string text;
        for (std::size_t i = 0; i < told_.also.size() && i < most_listed; ++i) {
            const ChosenServer& chosen = told_.also[i];
            const std::string what = chosen.host.empty()
                                         ? " waited for " + chosen.request.str()
                                         : " on " + chosen.host + ", for " + chosen.request.str();
            text += wrapped(iso_time(chosen.received_at) + " " +
                                (chosen.name.empty() ? "" : chosen.name + " ") +
                                chosen.server.str() + what,
                            2, width_);
        }
        if (told_.also.size() > most_listed)
            text += "  and " + std::to_string(told_.also.size() - most_listed) + " more\n";
        return text.empty() ? text
                            : text + "  'reaper explain' with an id explains one of these.\n";
    }

    const Explanation& told_;
    const RenderOptions& options_;
    Paint paint_;
    std::size_t width_;
};

}  // namespace

std::string why_never_chosen(const Server& server, const Host& host, const Protection& protection) {
    const std::string who = (server.name.empty() ? server.id.str() : server.name) + " on " +
                            host.service_host + " was never chosen";
    if (!server.revocable())
        return who +
               ": it is a regular server, and those never go; no tagger of the policy says "
               "that it is revocable";
    const std::string revocable =
        ", though it is revocable (" + server.revocable_because->str() + ")";
    if (const auto why = protection.why(server, host.member_of.get()))
        return who + revocable + ": it is protected (" + *why + "), and goes once nothing does";
    if (const auto why = why_no_victim(server)) return who + revocable + ": " + *why;
    return who + ": it is revocable (" + server.revocable_because->str() +
           "), and goes when a regular request finds no room and the strategy finds no better "
           "choice; 'reaper plan' shows what it would choose now";
}

std::string render_explanation(const Explanation& explanation, const RenderOptions& options) {
    return ExplanationText{explanation, options}.text();
}

}  // namespace reaper::report
