#include "reaper/cli/past/journals.hpp"

#include <functional>
#include <utility>

#include "reaper/cli/channel/journal_channel.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

const char* kind_of_journal(bool dry_run) {
    return dry_run ? "the journal of dry runs" : "the journal of real deletions";
}

const char* kind_of_own(const Journals& journals) {
    return kind_of_journal(journals.dry_run);
}

const char* kind_of_other(const Journals& journals) {
    return kind_of_journal(!journals.dry_run);
}

/// When the newest request that it holds came; none: it holds none.
Result<std::optional<TimePoint>> newest_in(boost::asio::io_context& io, JournalReader& journal) {
    const auto newest = run_task(io, journal.list(1));
    if (!newest) return newest.error();
    std::optional<TimePoint> at;
    if (!newest->empty()) at = newest->front().received_at;
    return at;
}

void warn_of_unread(const char* kind, const std::string& why, const Terminal& terminal) {
    terminal.warn(std::string{kind} + " was not read: " + why);
}

void warn_of_other(const Journals& journals, const Terminal& terminal) {
    terminal.warn("told by " + std::string{kind_of_other(journals)} + ", " + journals.other_path);
}

Result<Journals> open_both(const config::LocalSettings& settings, const Terminal& terminal) {
    Journals journals;
    journals.own_path = settings.journal.place();
    journals.other_path = settings.other_journal.place();
    journals.dry_run = settings.dry_run;
    auto own = journal_to_read(settings.journal);
    if (!journals.other_path.empty()) {
        auto other = journal_to_read(settings.other_journal);
        if (other)
            journals.other = std::move(*other);
        else if (other.error().code != Errc::not_found)
            warn_of_unread(kind_of_other(journals), other.error().what, terminal);
    }
    if (own) {
        journals.own = std::move(*own);
        return journals;
    }
    if (own.error().code != Errc::not_found || !journals.other) return own.error();
    terminal.warn("no journal at " + journals.own_path +
                  " yet; taken instead: " + kind_of_other(journals) + ", " + journals.other_path);
    journals.own = std::move(journals.other);
    journals.own_path = std::exchange(journals.other_path, {});
    journals.dry_run = !journals.dry_run;
    return journals;
}

Result<Journals> open_at(const std::string& path) {
    Journals journals;
    journals.own_path = path;
    auto own = journal_to_read(config::JournalSettings{path});
    if (!own) return own.error();
    journals.own = std::move(*own);
    return journals;
}

/// Of the configuration. A user who may not read it has no cloud to ask.
std::function<WhoKnows()> configured_cloud(boost::asio::io_context& io,
                                           const std::string& config_file) {
    return [&io, config_file, cloud = std::shared_ptr<Cloud>{}]() mutable -> WhoKnows {
        const auto ignored = [](const std::string&) {};
        const auto settings = load_config(config_file, ignored, ignored);
        if (!settings) return {};
        auto connected = connect_cloud(io, *settings);
        if (!connected) return {};
        cloud = std::make_shared<Cloud>(std::move(*connected));
        return {cloud->parts.identity.get(), cloud->parts.compute.get()};
    };
}

std::optional<nlohmann::json> record_of(DaemonApi& api, const std::string& id, FoundRecord& found) {
    return asked_quietly(api, "/v1/requests/" + http::escape(id), found.code, found.why);
}

/// Of the newest request about that server, with the record. None: `found` has why.
std::optional<nlohmann::json> newest_record(DaemonApi& api, const std::string& server,
                                            FoundRecord& found, const Terminal& terminal) {
    std::string why;
    const std::string target = target_of("/v1/requests", {{"limit", "2"}, {"server", server}});
    const auto said = asked_quietly(api, target, found.code, why);
    if (!said) {
        found.why = std::move(why);
        return std::nullopt;
    }
    const auto about = taken(report::requests_from_json(said->value("requests", nlohmann::json{})),
                             api, terminal, found.code);
    if (!about) found.why.clear();
    if (about && about->empty()) found.code = ExitCode::unknown;
    if (!about || about->empty()) return std::nullopt;
    found.several = about->size() > 1;
    return record_of(api, about->front().request.id.str(), found);
}

/// `id_alone`: it is no server's.
FoundRecord find_record(DaemonApi& api, const std::string& asked, bool id_alone,
                        const Terminal& terminal) {
    FoundRecord found{{}, false, ExitCode::unknown, "the journal knows no request ''"};
    if (asked.empty()) return found;  // it is no part of a path
    auto said = record_of(api, asked, found);
    if (!said && found.code == ExitCode::unknown && !id_alone)
        said = newest_record(api, asked, found, terminal);
    if (said) found.record = taken(report::record_from_json(*said), api, terminal, found.code);
    if (said) found.why.clear();
    return found;
}

}  // namespace

std::variant<Past, ExitCode> open_past(boost::asio::io_context& io, const GlobalOptions& global,
                                       const std::string& only, Reading how,
                                       const Terminal& terminal) {
    if (!global.api.url.empty()) {
        auto api = daemon_api(global, terminal);
        if (!api) return ExitCode::usage;
        return Past{{}, std::move(*api), std::nullopt};
    }
    std::optional<config::LocalSettings> settings;
    if (only.empty()) {
        settings = local_settings(global, terminal);
        if (!settings) return ExitCode::usage;
    }
    auto journals = settings ? open_both(*settings, terminal) : open_at(only);
    if (!journals) return terminal.fail(ExitCode::failed, journals.error());
    JournalChannelOptions options;
    options.connect = configured_cloud(io, global.config_file);
    options.followed = how == Reading::followed;
    if (how == Reading::together) options.also = journals->other.get();
    options.also_unread = [kind = kind_of_other(*journals), &terminal,
                           told = false](const Error& error) mutable {
        if (!std::exchange(told, true)) warn_of_unread(kind, error.what, terminal);
    };
    DaemonApi own{journal_channel(io, *journals->own, journals->own_path, std::move(options)),
                  terminal};
    std::optional<DaemonApi> other;
    if (journals->other)
        other.emplace(journal_channel(io, *journals->other, journals->other_path), terminal);
    return Past{std::move(*journals), std::move(own), std::move(other)};
}

std::optional<nlohmann::json> asked_quietly(DaemonApi& api, const std::string& target,
                                            ExitCode& code, std::string& why) {
    api.complain_to([&why](const std::string& line) { why = line; });
    auto said = api.get(target, code, ExitCode::unknown);
    api.complain_to({});
    return said;
}

void tell_of_other(boost::asio::io_context& io, Journals& journals, const Terminal& terminal) {
    if (!journals.other) return;
    const auto own = newest_in(io, *journals.own);
    const auto other = newest_in(io, *journals.other);
    if (!other) return warn_of_unread(kind_of_other(journals), other.error().what, terminal);
    if (!own || !*other) return;
    if (!journals.dry_run && *other <= *own) return;
    terminal.warn(std::string{"this is "} + kind_of_own(journals) + "; " + kind_of_other(journals) +
                  " has requests up to " + iso_time(**other) + " ('reaper history --journal " +
                  journals.other_path + "')");
}

void tell_of_other(const config::LocalSettings& settings, const Terminal& terminal) {
    boost::asio::io_context io{1};  // outlives the journals' threads, which post to it
    auto journals = open_both(settings, terminal);
    if (journals) tell_of_other(io, *journals, terminal);
}

void warn_of_followed_alone(const Journals& journals, bool planned, const Terminal& terminal) {
    // A dry run deletes no server: its journal has only planned ones.
    if (!journals.other || (!journals.dry_run && !planned)) return;
    terminal.warn(std::string{kind_of_own(journals)} + " alone is followed; the other one is " +
                  kind_of_other(journals) + " (--journal " + journals.other_path + ")");
}

FoundRecord shown_by(Past& past, const std::string& asked, const Terminal& terminal) {
    FoundRecord own = find_record(past.own, asked, false, terminal);
    if (!past.other || (!own.record && own.code != ExitCode::unknown)) return own;
    const bool id_alone = own.record && own.record->request.id == RequestId{asked};
    FoundRecord other = find_record(*past.other, asked, id_alone, terminal);
    const Journals& journals = past.journals;
    if (!other.record) {
        if (other.code != ExitCode::unknown)
            warn_of_unread(kind_of_other(journals), other.why, terminal);
        return own;
    }
    if (!own.record) {
        warn_of_other(journals, terminal);
        return other;
    }
    if (journals.dry_run || other.record->received_at > own.record->received_at)
        terminal.warn(std::string{kind_of_other(journals)} + " has it too: --journal " +
                      journals.other_path + " shows that");
    return own;
}

std::optional<report::Explanation> explained_by(Past& past, const std::string& target,
                                                std::optional<report::Explanation> own,
                                                const Terminal& terminal) {
    if (!past.other) return own;
    ExitCode code{};
    std::string why;
    const auto said = asked_quietly(*past.other, target, code, why);
    if (!said && code != ExitCode::unknown)
        warn_of_unread(kind_of_other(past.journals), why, terminal);
    if (!said) return own;
    auto other = taken(report::explanation_from_json(*said), *past.other, terminal, code);
    if (!other) return own;
    if (own && !report::goes_before(*other, *own)) {
        report::add_other_waits(*other, *own);
        return own;
    }
    if (own) report::add_other_waits(*own, *other);
    warn_of_other(past.journals, terminal);
    return other;
}

}  // namespace reaper::cli
