// `reaper dead-letters`: messages that were not understood.
#include <algorithm>
#include <set>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_reason = 2000;

json to_json(const DeadLetter& letter) {
    return {{"id", letter.id},
            {"set_aside", iso_time(letter.set_aside)},
            {"reason", printable(letter.reason, max_shown_reason)},
            {"routing_key", printable(letter.routing_key)},
            {"content_type", printable(letter.content_type)},
            {"compression", printable(letter.compression)},
            {"bytes", letter.size},
            {"bytes_of_original", letter.full_size}};
}

report::Table letters_table(const std::vector<DeadLetter>& letters) {
    using report::Cell;
    using report::text_cell;
    report::Table table;
    table.columns = {report::column("set_aside"), report::column("id"),
                     report::number("bytes"),     report::wide("compression"),
                     report::wide("routing_key"), report::under("reason")};
    table.key = 1;
    table.none = "no dead letters";
    for (const DeadLetter& letter : letters)
        table.rows.push_back({Cell{letter.set_aside}, text_cell(letter.id),
                              Cell{static_cast<std::int64_t>(letter.size)},
                              text_cell(printable(letter.compression)),
                              text_cell(printable(letter.routing_key)),
                              text_cell(printable(letter.reason, max_shown_reason))});
    if (letters.size() == max_dead_letters)
        table.remarks.push_back("there may be more: these are the oldest");
    return table;
}

ExitCode show_letters(const std::vector<DeadLetter>& letters, const Terminal& terminal) {
    const auto document = [&] {
        json all = json::array();
        for (const DeadLetter& letter : letters) all.push_back(to_json(letter));
        return json{{"version", report::json_version}, {"letters", std::move(all)}};
    };
    return show_list(terminal, {letters_table(letters), document, "letters"});
}

/// JSON as it is, indented; anything else so that a terminal is not harmed.
std::string body_for_people(const DeadLetter& letter) {
    const json parsed = parse_bounded(letter.body);
    if (!parsed.is_discarded()) return parsed.dump(2, ' ', true, json::error_handler_t::replace);
    return printable(letter.body, letter.body.size() * 4 + 1);
}

ExitCode show_letter(const DeadLetter& letter, const Terminal& terminal) {
    return show_document(
        terminal,
        [&] {
            json document = to_json(letter);
            document["version"] = report::json_version;
            document["body"] = body_for_people(letter);
            if (!letter.unreadable.empty()) document["unreadable"] = letter.unreadable;
            return document;
        },
        [&] {
            std::string text =
                "id:           " + letter.id + "\nset aside:    " + iso_time(letter.set_aside) +
                "\nreason:       " + printable(letter.reason, max_shown_reason) +
                "\nrouting key:  " + printable(letter.routing_key) + "\ncompression:  " +
                (letter.compression.empty() ? "none" : printable(letter.compression)) +
                "\nbytes:        " + std::to_string(letter.size);
            if (!letter.whole()) text += " of " + std::to_string(letter.full_size);
            if (!letter.unreadable.empty()) text += "\nunreadable:   " + letter.unreadable;
            return text + "\n\n" + body_for_people(letter) + "\n";
        });
}

ExitCode unknown_letter(const std::string& id, const Terminal& terminal) {
    terminal.complain("no dead letter " + in_quotes(id) + "; 'reaper dead-letters list' has them");
    return ExitCode::unknown;
}

ExitCode retry(BrokerConsole& broker, const std::string& queue, const DeadLettersCommand& command,
               const Terminal& terminal) {
    const std::set<std::string> wanted(command.ids.begin(), command.ids.end());
    if (!wanted.empty()) {
        const auto there = broker.dead_letters({});
        if (!there) return terminal.fail(ExitCode::failed, there.error());
        for (const std::string& id : wanted)
            if (std::none_of(there->begin(), there->end(),
                             [&](const DeadLetter& letter) { return letter.id == id; }))
                return unknown_letter(id, terminal);
    }
    const auto retried = broker.retry(wanted);
    if (!retried) return terminal.fail(ExitCode::failed, retried.error());
    for (const std::string& id : retried->cut)
        terminal.warn("letter " + id + " was too long to be kept whole: it stays");
    if (!retried->left.empty())
        terminal.warn(std::to_string(retried->left.size()) +
                      " letters are left for the next time: together they are too long");
    const ExitCode shown = show_document(
        terminal,
        [&] {
            return json{{"version", report::json_version},
                        {"sent", retried->sent},
                        {"cut", retried->cut},
                        {"left", retried->left}};
        },
        [&] {
            return std::to_string(retried->sent.size()) +
                   (retried->sent.size() == 1 ? " message is" : " messages are") + " in queue " +
                   queue + " again\n";
        });
    if (shown != ExitCode::ok) return shown;
    return retried->cut.empty() && retried->left.empty() ? ExitCode::ok : ExitCode::attention;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const DeadLettersCommand& command,
                   const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    if (!settings->broker_unknown.empty()) {
        terminal.complain(settings->broker_unknown);
        return ExitCode::usage;
    }
    const auto broker = broker_console(settings->broker);
    if (command.what == DeadLettersCommand::What::retry)
        return retry(*broker, settings->broker.queue, command, terminal);
    std::set<std::string> bodies;
    if (command.what == DeadLettersCommand::What::show) bodies.insert(command.ids.front());
    const auto letters = broker->dead_letters(bodies);
    if (!letters) return terminal.fail(ExitCode::failed, letters.error());
    if (command.what == DeadLettersCommand::What::list) return show_letters(*letters, terminal);
    for (const DeadLetter& letter : *letters)
        if (letter.id == command.ids.front()) return show_letter(letter, terminal);
    return unknown_letter(command.ids.front(), terminal);
}

}  // namespace reaper::cli
