// Checks of this machine and of the broker.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <pwd.h>
#include <set>
#include <system_error>
#include <unistd.h>

#include "reaper/cli/check/checks.hpp"
#include "reaper/controllers/reservations/host_books.hpp"
#include "reaper/controllers/reservations/project_roles.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/machine.hpp"
#include "tagging/flavor.hpp"

namespace reaper::cli {
namespace {

std::string user_name() {
    const passwd* const entry = getpwuid(geteuid());
    return entry != nullptr ? entry->pw_name : std::to_string(geteuid());
}

void check_queue(const config::Broker& broker, const BrokerReport& found, const Report& report) {
    const std::string name = "queue '" + broker.queue + "'";
    if (!found.queue) {
        report({Verdict::ok, name, "not there yet; 'reaper run' makes it, unless in a dry run"});
        return;
    }
    const bool served = found.serving && found.serving->consumers > 0;
    const bool unheard = found.queue->messages > 0 && !served;
    report({unheard ? Verdict::warn : Verdict::ok, name,
            counted(found.queue->messages, "message waits", "messages wait") +
                (served ? ", a reaper is connected" : ", no reaper is connected") +
                (unheard ? ": is 'reaper run' running?" : "")});
}

/// Of the policy in getting-started.md; whether it is set is not told to a user of the broker.
constexpr std::uint64_t bound_of_novas_queues = 1'000;

std::string topic_of(const NovasQueue& queue) {
    return queue.name.substr(0, queue.name.rfind('.'));
}

/// One policy for both of Nova's usual topics: another of the same name would take its place.
std::string bound_command(const std::string& topic) {
    const bool usual = topic == "notifications" || topic == "versioned_notifications";
    const std::string name = usual ? "novas-notifications" : "novas-" + topic;
    const std::string pattern = usual ? "(versioned_)?notifications" : topic;
    return "rabbitmqctl set_operator_policy -p VHOST --apply-to queues " + name + " '^" + pattern +
           R"(\.' '{"max-length": )" + std::to_string(bound_of_novas_queues) + "}'";
}

/// Topics of which a queue stands at the bound, which only a policy does; and none is beyond it.
std::set<std::string> bounded_topics(const std::vector<NovasQueue>& queues) {
    std::set<std::string> bounded;
    for (const NovasQueue& queue : queues)
        if (queue.report.messages == bound_of_novas_queues) bounded.insert(topic_of(queue));
    for (const NovasQueue& queue : queues)
        if (queue.report.messages > bound_of_novas_queues) bounded.erase(topic_of(queue));
    return bounded;
}

/// Nova publishes for readers that may not be there, and RabbitMQ keeps it all for them.
void check_novas_queues(const BrokerReport& found, const Report& report) {
    const auto bounded = bounded_topics(found.novas_queues);
    for (const NovasQueue& queue : found.novas_queues) {
        if (queue.report.consumers > 0) continue;
        const std::string topic = topic_of(queue);
        const std::string waiting =
            counted(queue.report.messages, "message waits", "messages wait") +
            ", no client reads it";
        if (queue.report.messages > bound_of_novas_queues)
            report({Verdict::warn, "queue '" + queue.name + "'",
                    waiting + ": it grows with each notification, and takes the broker's memory " +
                        "and disk; give it a bound: " + bound_command(topic)});
        else if (!bounded.contains(topic))
            report({Verdict::warn, "queue '" + queue.name + "'",
                    waiting + ": without a bound it would grow forever, and it is not full yet, " +
                        "so that none can be seen; unless 'rabbitmqctl list_operator_policies -p " +
                        "VHOST' has one, give it: " + bound_command(topic)});
        else
            report({Verdict::ok, "queue '" + queue.name + "'",
                    waiting + "; the bound of its operator policy holds"});
    }
    if (!found.hidden_queues.empty())
        report({Verdict::info, "Nova's queues",
                "the broker shows them only to a user with rights to them, and the reaper needs "
                "none: see 'rabbitmqctl list_queues -p VHOST name messages consumers' and "
                "'rabbitmqctl list_operator_policies -p VHOST'"});
}

/// Whether the queues of the topic exist, which shows that it is used, can't be seen.
bool is_hidden(const std::string& topic, const BrokerReport& found) {
    const auto& hidden = found.hidden_queues;
    return std::ranges::find(hidden, topic + ".error") != hidden.end();
}

void check_dead_letters(const config::Broker& broker, const BrokerReport& found,
                        const Report& report) {
    if (!found.dead_letter) return;
    const auto messages = found.dead_letter->messages;
    report({messages == 0 ? Verdict::ok : Verdict::warn, "queue '" + broker.dead_letter_queue + "'",
            messages == 0 ? "empty: every message was understood"
                          : counted(messages, "message", "messages") +
                                " could not be understood; see 'reaper history messages'"});
}

}  // namespace

void check_journal(const config::JournalSettings& journal, const Report& report) {
    namespace fs = std::filesystem;
    const std::string what = "journal " + journal.place();
    if (!journal.in_file()) {
        const auto opened = journal_to_read(journal);
        report({opened ? Verdict::ok : Verdict::fail, what,
                opened ? "answers, and has its tables" : opened.error().what});
        return;
    }
    const fs::path folder = fs::absolute(journal.path).parent_path();
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        report({Verdict::fail, what,
                "there is no directory " + folder.string() +
                    ": make it, owned by the user that runs the reaper"});
        return;
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        report({Verdict::fail, what,
                "user " + user_name() + " may not write to " + folder.string() +
                    ": run the check as the reaper's user, or change the directory's owner"});
        return;
    }
    if (!fs::exists(journal.path, error)) {
        report({Verdict::ok, what,
                "not there yet; user " + user_name() + " may make it in " + folder.string()});
        return;
    }
    if (auto opened = journal_to_read(journal); !opened)
        report({Verdict::fail, what, opened.error().what});
    else if (access(journal.path.c_str(), W_OK) != 0)
        report({Verdict::fail, what,
                "user " + user_name() + " may not write it: run the check as the reaper's user, " +
                    "or change the file's owner"});
    else
        report({Verdict::ok, what, "readable, and user " + user_name() + " may write it"});
}

void check_switch(const std::string& pause_file, const config::JournalSettings& journal,
                  const Report& report) {
    const Switches switches = make_switches(pause_file, journal);
    const auto paused = switches.pause->paused();
    const std::string here = "on this machine (" + machine_name() + ")";
    const std::string reach = reach_of_switch(journal);
    report({paused ? Verdict::warn : Verdict::ok, "switch",
            paused ? *paused + ", " + reach +
                         (journal.in_file() ? ": its reaper deletes" : ": they delete") +
                         " no servers until 'reaper resume'"
                   : "not paused " + reach});
    if (const auto open = switches.breaker->paused())
        report({Verdict::warn, "circuit breaker", *open + ", " + here});
    const auto folder = std::filesystem::path{pause_file}.parent_path();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
        report(
            {Verdict::warn, "switch",
             "user " + user_name() + " may not write " + pause_file +
                 ": the circuit breaker can't keep its file there; run the check as the reaper's "
                 "user, or change the directory's owner or the key pause_file"});
}

void check_broker_use(const config::Broker& broker, const BrokerReport& found,
                      const Report& report) {
    for (const std::string& line : found.missing_rights)
        report({Verdict::fail, "rights on the broker", line});
    if (found.missing_rights.empty())
        report({Verdict::ok, "rights on the broker",
                "the user may declare, bind and read its queues, and publish to them"});
    if (broker.prefetch > config::Broker{}.prefetch)
        report({Verdict::warn, "broker.prefetch",
                "messages that wait for their outcome may take " +
                    std::to_string(broker.prefetch * config::Broker::largest_message_mib) +
                    " MiB of memory: " + std::to_string(config::Broker{}.prefetch) +
                    " are enough for most clouds"});
    const std::string usual = config::Broker{}.topics.front();
    for (const std::string& topic : broker.topics) {
        const std::string what = "topic " + in_quotes(topic);
        const bool heard =
            std::ranges::find(found.unheard_topics, topic) == found.unheard_topics.end();
        if (is_hidden(topic, found))
            report({Verdict::info, what, "not seen: the broker does not show Nova's queues"});
        else if (heard)
            report({Verdict::ok, what, "used"});
        else if (found.usual_topic_heard)
            report({Verdict::fail, what,
                    "no message has come on it, while " + in_quotes(usual) +
                        " is used: set broker.topics to what [notifications] "
                        "versioned_notifications_topics is in nova.conf"});
        else
            report({Verdict::warn, what,
                    "no message has come on it yet: is it what [notifications] "
                    "versioned_notifications_topics is in nova.conf?"});
    }
}

void check_broker(const config::Broker& broker, const Result<BrokerReport>& probe,
                  const Report& report) {
    if (!probe) {
        report({Verdict::fail, "broker", probe.error().what});
        return;
    }
    report({Verdict::ok, "broker", probe->product + " at " + probe->broker});
    for (const std::string& remark : probe->remarks) report({Verdict::warn, "broker", remark});
    const std::string exchange = "exchange '" + broker.exchange + "'";
    if (probe->exchange_exists)
        report({Verdict::ok, exchange, "there"});
    else if (probe->exchange_hidden)
        report({Verdict::info, exchange,
                "the broker does not let this user look at it; the rights that the reaper needs "
                "on it are tried below"});
    else
        report({Verdict::fail, exchange,
                "not there: Nova has sent no notification yet; in nova.conf, set driver = "
                "messagingv2 in [oslo_messaging_notifications] and notification_format = versioned "
                "(or both) in [notifications], on the same broker and virtual host"});
    check_queue(broker, *probe, report);
    check_dead_letters(broker, *probe, report);
    check_novas_queues(*probe, report);
    check_broker_use(broker, *probe, report);
}

void check_activity(const Activity& activity, const Report& report) {
    report({activity.active ? Verdict::ok : Verdict::warn, "active reaper", to_text(activity)});
}

// What one request, one project and the cloud may cost.

namespace {

void append(std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
}

/// `at most 100 victims and 25 % of all revocable servers (or 50)`.
std::string most(int number, int percent, int least) {
    std::string text;
    if (number > 0) text = "at most " + reaper::counted(number, "victim");
    if (percent > 0)
        text += (number > 0 ? " and " : "at most ") + std::to_string(percent) +
                " % of all revocable servers (or " + std::to_string(least) + ")";
    return text;
}

}  // namespace

void check_limits(const SafeguardSettings& safeguards, const Report& report) {
    const LimitSettings& limits = safeguards.limits;
    const std::string window = " within " + format_duration(limits.window);
    std::string text;
    const auto tell = [&](const std::string& of, int number, int percent) {
        if (number > 0 || percent > 0)
            append(text, of + ": " + most(number, percent, limits.share_least));
    };
    tell("one request", limits.victims_per_request, limits.share_per_request);
    tell("the requests of one project" + window, 0, limits.share_per_requester);
    tell("all requests" + window, limits.victims_per_window, 0);
    tell("servers of one project" + window, limits.victims_per_project, 0);
    tell("one aggregate" + window, limits.victims_per_aggregate, 0);
    if (text.empty())
        report({Verdict::warn, "limits", "none: nothing bounds what a request may cost"});
    else
        report({Verdict::ok, "limits", text});
    if (safeguards.short_lived.allowance == 0 || safeguards.project_breaker.unproven == 0)
        report({Verdict::warn, "price of harm",
                std::string{safeguards.short_lived.allowance == 0 ? "short_lived.allowance"
                                                                  : "project_breaker.unproven"} +
                    " is 0: one project may have any number of servers deleted for nothing"});
}

void check_duties(const DutySettings& duties, const Report& report) {
    const WatermarkSettings& watermark = duties.watermark;
    std::string marks;
    for (const Mark& mark : watermark.marks)
        append(marks, mark.resource_class.str() + " above " + std::to_string(mark.high) +
                          " % used: servers go until " + std::to_string(mark.low) + " %");
    if (!marks.empty())
        report({Verdict::ok, "watermark",
                marks + "; not again before " + format_duration(watermark.cooldown)});
    const LifeSpanSettings& life_span = duties.life_span;
    if (!life_span.on()) return;
    const auto ends = [](Duration after) {
        return after > Duration{} ? "end after " + format_duration(after) : "do not end";
    };
    std::string text = "servers " + ends(life_span.after);
    for (const TaggerSpan& span : life_span.taggers)
        text += ", those of tagger " + span.tagger + ' ' + ends(span.after);
    if (!life_span.flavor_key.empty())
        text += ", where a flavor has " + life_span.flavor_key + " they end as it says";
    report({Verdict::ok, "life span",
            text + "; " + std::to_string(life_span.per_hour) + " an hour at most"});
}

// Is freed room likely to go to new revocable servers?

Task<void> check_revocable_demand(CloudPorts cloud, TaggerInputs tagger_inputs, bool holds_room,
                                  const std::vector<ServerRecord>& servers, const Report& report) {
    const char* const what = "freed room";
    if (holds_room) {
        report({Verdict::ok, what, "is held against new revocable servers (tagger 'resource')"});
        co_return;
    }
    std::set<ProjectId> revocable;
    for (const std::string& tag : tagger_inputs.project_tags) {
        auto projects = co_await cloud.identity.projects_with_tag(tag);
        if (!projects) co_return;  // told already
        for (const Project& project : *projects) revocable.insert(project.id);
    }
    const auto is_revocable = [&](const ServerRecord& record) {
        for (const auto& [key, value] : tagger_inputs.flavor_specs)
            if (has_extra_spec(record.flavor.extra_specs, key, value)) return true;
        return revocable.contains(record.server.project);
    };
    const TimePoint since = cloud.clock.now() - std::chrono::days{1};
    std::size_t waiting = 0;
    for (const ServerRecord& record : servers) {
        const Server& server = record.server;
        const bool unplaced =
            server.host.empty() && (server.status == "ERROR" || server.status == "BUILD");
        if (unplaced && server.created >= since && is_revocable(record)) ++waiting;
    }
    if (waiting == 0) {
        report({Verdict::ok, what,
                "is not held against new revocable servers; none of them waits for room"});
        co_return;
    }
    report({Verdict::warn, what,
            counted(waiting, "revocable server", "revocable servers") +
                " found no room within a day: new ones may take what is freed for a regular server "
                "before it comes back; the tagger 'resource' holds freed room against them"});
}

// Checks of reservations: where they are kept, and for whom.

Task<bool> check_reservations(CloudPorts cloud, const config::Reservations& settings,
                              const Report& report) {
    if (!settings.enabled) co_return true;
    const std::string what = "reservations";
    auto reading = co_await read_register(cloud.placement);
    if (!reading) {
        report({Verdict::fail, what, reading.error().what});
        co_return false;
    }
    if (!reading->set_up) {
        report({Verdict::fail, what,
                "Placement has no register of them, nothing is kept: make it with 'reaper setup "
                "reservations --apply'"});
        co_return false;
    }
    for (const std::string& remark : reading->remarks) report({Verdict::warn, what, remark});
    report({Verdict::ok, what,
            counted(reading->reservations.size(), "reservation", "reservations") +
                " in Placement's register"});
    ProjectRoles roles{cloud, settings};
    std::set<ProjectId> no_projects;
    const auto learned = co_await roles.learn(std::move(no_projects));
    if (!learned) {
        report({Verdict::fail, "roles", learned.error().what});
        co_return false;
    }
    for (const std::string& line : roles.not_found()) report({Verdict::fail, "roles", line});
    if (roles.not_found().empty() && !settings.roles.empty())
        report(
            {Verdict::ok, "roles",
             "the projects of " + counted(settings.roles.size(), "role", "roles") + " are known"});
    else if (settings.roles.empty() && !settings.roles_by_hierarchy)
        report({Verdict::warn, "roles",
                "no project has one: no project may use what is reserved (reservations.roles, "
                "reservations.roles_by_hierarchy)"});
    co_return roles.not_found().empty();
}

}  // namespace reaper::cli
