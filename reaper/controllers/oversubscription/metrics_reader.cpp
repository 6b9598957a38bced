#include "reaper/controllers/oversubscription/metrics_reader.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// What one answer, and the whole past, may have. Prometheus gives 11,000 points of a series.
constexpr std::size_t most_values = 100'000;
constexpr std::size_t most_points = 10'000;
constexpr std::size_t most_past_values = 3'000'000;

}  // namespace

std::vector<PastPiece> past_pieces(TimePoint from, TimePoint to, Duration step,
                                   std::size_t series) {
    std::vector<PastPiece> pieces;
    series = std::max<std::size_t>(series, 1);
    const auto most =
        static_cast<Duration::rep>(std::max<std::size_t>(most_past_values / series, 1));
    const auto points =
        static_cast<Duration::rep>(std::clamp<std::size_t>(most_values / series, 1, most_points));
    from = std::max(from, to - step * (most - 1));
    for (; from <= to; from += step * points)
        pieces.push_back({from, std::min(to, from + step * (points - 1))});
    return pieces;
}

OlderPast older_past(TimePoint from, TimePoint to, std::size_t series) {
    series = std::max<std::size_t>(series, 1);
    const auto most =
        static_cast<Duration::rep>(std::max<std::size_t>(most_past_values / series, 1));
    const Duration length = std::chrono::ceil<Duration>(to - from);
    const auto rounded_up = [](Duration all, Duration part) {
        return std::max<Duration::rep>((all + part - Duration{1}) / part, 1);
    };
    OlderPast older;
    older.step = past_step * rounded_up(length, past_step * most);
    const auto number = rounded_up(length, older.step);
    older.pieces = past_pieces(to - older.step * (number - 1), to, older.step, series);
    return older;
}

std::string highest_within(const std::string& query, Duration step) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(step).count();
    return "max_over_time((" + query + ")[" + std::to_string(seconds) + "s:1m])";
}

namespace {

constexpr std::array<std::pair<std::string_view, Amount>, 7> units{{
    {"ms", 1},
    {"s", 1'000},
    {"m", 60'000},
    {"h", 3'600'000},
    {"d", 86'400'000},
    {"w", 604'800'000},
    {"y", 31'536'000'000},
}};
constexpr Amount longest_reach = 31'536'000'000;

/// As Prometheus writes it: `1h30m`. What is not one is 0.
Amount milliseconds_of(std::string_view range) {
    Amount sum = 0;
    while (!range.empty()) {
        Amount number = 0;
        std::size_t digits = 0;
        for (; digits < range.size() && range[digits] >= '0' && range[digits] <= '9'; ++digits)
            number = std::min(number * 10 + (range[digits] - '0'), longest_reach);
        range.remove_prefix(digits);
        const auto letters = std::min(range.find_first_of("0123456789"), range.size());
        const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& each) {
            return each.first == range.substr(0, letters);
        });
        if (digits == 0 || unit == units.end()) return 0;
        sum += std::min(number, longest_reach / unit->second) * unit->second;
        range.remove_prefix(letters);
    }
    return std::min(sum, longest_reach);
}

}  // namespace

void HeldLately::note(TimePoint now, Amount held) {
    if (!held_.empty()) held_.back().to = now;
    if (held_.empty() || held_.back().amount != held) held_.push_back({now, now, held});
}

Amount HeldLately::most(TimePoint now, Duration span) {
    const TimePoint since = now - span;
    if (held_.empty() || held_.front().from > since) return std::numeric_limits<Amount>::max();
    while (held_.front().to < since && held_.size() > 1) held_.pop_front();
    Amount most = 0;
    for (const Held& each : held_) most = std::max(most, each.amount);
    return most;
}

Duration reach_of(std::string_view expression) {
    Amount sum = 0;
    char quote = 0;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char letter = expression[i];
        if (quote != 0) {
            if (letter == '\\' && quote != '`')
                ++i;
            else if (letter == quote)
                quote = 0;
        } else if (letter == '"' || letter == '\'' || letter == '`') {
            quote = letter;
        } else if (letter == '[') {
            const auto range = expression.substr(i + 1);
            sum += milliseconds_of(range.substr(0, range.find_first_of(":]")));
        }
    }
    return Duration{std::min(sum, longest_reach)};
}

namespace {

/// Then it is done without.
constexpr int most_past_tries = 3;

using Figures = std::map<HostId, Figure>;

UsageWindows windows_of(const OversubscriptionPolicy& policy) {
    UsageWindows windows = policy.estimator->windows();
    const PublicationRules& rules = policy.configured.publication;
    windows.trusted = rules.trust_after;
    windows.longest_gap = std::max({windows.longest_gap, 4 * rules.interval, 2 * past_step});
    return windows;
}

std::vector<Sample> answer_to(const std::map<std::string, std::vector<Sample>>& answers,
                              const std::string& expression) {
    const auto at = answers.find(expression);
    return at == answers.end() ? std::vector<Sample>{} : at->second;
}

/// A figure that all else rests on.
const Figure* needed(const Figures& figures, const HostId& host, std::string_view what,
                     std::string& why) {
    const auto at = figures.find(host);
    if (at == figures.end())
        why = std::string{what} + " is not measured";
    else if (!at->second.why.empty())
        why = at->second.why;
    return why.empty() ? &at->second : nullptr;
}

/// Seconds: what is older is as old.
constexpr double oldest_reading = 1e9;

/// To a second: the same reading has the same time whenever it is asked for.
TimePoint time_of_reading(const Figure& age) {
    const auto seconds = std::chrono::duration<double>(std::min(age.value, oldest_reading));
    return std::chrono::round<std::chrono::seconds>(
        age.at - std::chrono::duration_cast<TimePoint::duration>(seconds));
}

/// vCPUs that are not measured yet may be more than there are cores.
UsageRange within(UsageRange used, double cores) {
    used.most = std::min(used.most, std::max(used.least, cores));
    return used;
}

constexpr Amount anything = std::numeric_limits<Amount>::max();

constexpr std::string_view use_words = "its use";
constexpr std::string_view cores_words = "the number of its cores";
constexpr std::string_view age_words = "the age of its figures";

}  // namespace

void MetricsReader::forget() {
    windows_.reset();
    past_known_ = false;
    past_tries_ = 0;
    past_.clear();
    known_.clear();
}

std::vector<const Host*> MetricsReader::covered(const OversubscriptionPolicy& policy) const {
    auto hosts = dependencies_.refresher.cache().hosts();
    std::erase_if(hosts, [&](const Host* host) { return !policy.covers(*host); });
    return hosts;
}

/// All at once. An error is that of the first one that failed.
ResultTask<MetricsReader::Answers> MetricsReader::ask(std::vector<std::string> expressions) {
    std::map<std::string, std::optional<Result<std::vector<Sample>>>> kept;
    std::vector<Task<void>> all;
    const TimePoint from = dependencies_.clock.now();
    for (const auto& expression : expressions) {
        const auto [at, is_new] = kept.try_emplace(expression);
        if (is_new && !expression.empty())
            all.push_back(keep(dependencies_.metrics.query(expression), at->second));
    }
    co_await run_all(std::move(all));
    const TimePoint to = dependencies_.clock.now();
    Answers answers;
    std::optional<Error> failed;
    for (auto& [expression, answer] : kept) {
        if (!answer) continue;
        std::optional<Error> error;
        if (!*answer)
            error = answer->error();
        else if (auto why = why_clocks_differ(**answer, from, to))
            error = Error{Errc::bad_answer, std::move(*why)};
        else
            answers.emplace(expression, std::move(**answer));
        if (!error) continue;
        ++failures_;
        if (!failed) failed = std::move(error);
    }
    if (failed) co_return std::move(*failed);
    answered_at_ = dependencies_.clock.steady();
    co_return answers;
}

// ---- use ----

ResultTask<void> MetricsReader::read_usage() {
    const Policy policy = dependencies_.settings.oversubscription;
    if (!policy || !policy->estimator->measures()) {
        forget();
        co_return Result<void>{};
    }
    const UsageWindows windows = windows_of(*policy);
    if (windows_ != windows) {
        forget();
        windows_ = windows;
    }
    auto now = co_await read_now(policy, windows);
    if (!now || past_known_) co_return now;
    co_return co_await read_past(policy, windows);
}

ResultTask<void> MetricsReader::read_now(Policy policy, UsageWindows windows) {
    const config::Prometheus& asked = policy->configured.prometheus;
    std::vector<std::string> expressions{asked.usage_query, asked.cores_query, asked.age_query};
    read_at_ = dependencies_.clock.steady();
    auto answers = co_await ask(std::move(expressions));
    trouble_ = answers ? "" : answers.error().what;
    if (!answers) co_return answers.error();
    if (windows_ == windows) note(*policy, *answers);
    co_return Result<void>{};
}

ResultTask<void> MetricsReader::read_past(Policy policy, UsageWindows windows) {
    past_.clear();  // a part of it would count as all
    auto past = co_await read_all_pieces(policy, windows);
    if (!wanted() || windows_ != windows) co_return Result<void>{};
    if (!past && ++past_tries_ < most_past_tries) {
        trouble_ = past.error().what;
        co_return past.error();
    }
    if (!past) {
        past_.clear();
        spdlog::warn(
            "oversubscription: what was measured before can't be read, so that room rises only "
            "after {}: {}",
            format_duration(windows.trusted), past.error().what);
    }
    join_past();
    co_return Result<void>{};
}

void MetricsReader::join_past() {
    for (auto& [host, history] : past_) {
        const auto known = known_.find(host);
        if (known == known_.end()) continue;
        for (const UsagePoint& point : known->second.meanwhile) history.add(point);
        known->second.history = std::move(history);
    }
    for (auto& [host, known] : known_) known.meanwhile = {};
    past_.clear();
    past_known_ = true;
}

/// What the query for the use gives, about.
std::size_t MetricsReader::series_of(const OversubscriptionPolicy& policy) const {
    const auto hosts = dependencies_.refresher.cache().hosts();
    if (policy.configured.prometheus.server_label.empty()) return hosts.size();
    std::size_t servers = 0;
    for (const Host* const host : hosts) servers += host->servers.size();
    return std::max(servers, hosts.size());
}

ResultTask<void> MetricsReader::read_all_pieces(Policy policy, UsageWindows windows) {
    const TimePoint now = dependencies_.clock.now();
    const Duration back = std::max({windows.peak, windows.trusted, windows.smoothing});
    if (back < past_step) co_return Result<void>{};
    // How old the last values are is not known.
    auto pieces = past_pieces(now - back, now - past_step, past_step, series_of(*policy));
    const std::string& query = policy->configured.prometheus.usage_query;
    if (const TimePoint exact = pieces.front().from; exact > now - back) {
        // Rather too high than forgotten.
        auto older = older_past(now - back, exact - past_step, series_of(*policy));
        std::string highest = highest_within(query, older.step);
        spdlog::info(
            "oversubscription: what {} hosts used is read by the minute for the last {}, "
            "and before that by the highest of each {}",
            dependencies_.refresher.cache().hosts().size(), format_duration(now - exact),
            format_duration(older.step));
        auto read = co_await read_pieces(policy, windows, std::move(highest),
                                         std::move(older.pieces), older.step);
        if (!read) co_return read.error();
    }
    std::string each = query;
    co_return co_await read_pieces(std::move(policy), windows, std::move(each), std::move(pieces),
                                   past_step);
}

ResultTask<void> MetricsReader::read_pieces(Policy policy, UsageWindows windows, std::string query,
                                            std::vector<PastPiece> pieces, Duration step) {
    for (const PastPiece& piece : pieces) {
        std::string expression = query;
        auto past = co_await dependencies_.metrics.query_range(std::move(expression), piece.from,
                                                               piece.to, step);
        if (!past) ++failures_;
        if (!past) co_return past.error();
        if (windows_ != windows || !wanted())
            co_return Error{Errc::unreachable, "the earlier measurements are no longer needed"};
        note_past(*policy, *past);
        if (dependencies_.clock.steady() - read_at_ < policy->configured.publication.interval)
            continue;
        // If that fails, the last answer grows old.
        [[maybe_unused]] auto now = co_await read_now(policy, windows);
    }
    co_return Result<void>{};
}

void MetricsReader::note_past(const OversubscriptionPolicy& policy,
                              const std::vector<SampleSeries>& past) {
    const config::Prometheus& asked = policy.configured.prometheus;
    std::map<TimePoint, std::vector<Sample>> by_time;
    for (const SampleSeries& series : past)
        for (const auto& [at, value] : series.points)
            by_time[at].push_back(Sample{series.labels, value, at});
    const auto hosts = covered(policy);
    const HostNames names = names_of(dependencies_.refresher.cache().hosts());
    // How much was held then is not known.
    std::map<HostId, Amount> held_then;
    for (const Host* const host : hosts) held_then.emplace(host->id, anything);
    const auto past_of = [&](const HostId& host) -> UsageHistory& {
        return past_.try_emplace(host, *windows_).first->second;
    };
    for (const auto& [at, samples] : by_time) {
        const auto by_server =
            asked.server_label.empty()
                ? std::map<HostId, OthersUse>{}
                : use_by_others(samples, names, {asked.host_label, asked.server_label}, hosts,
                                held_then, policy.room_class, true);
        const auto whole = figures_by_host(samples, names, asked.host_label, use_words);
        for (const Host* const host : hosts) {
            const auto figure = whole.find(host->id);
            const bool told = figure != whole.end() && figure->second.why.empty();
            if (!asked.server_label.empty()) {
                const OthersUse& others = by_server.at(host->id);
                if (figure != whole.end() && others.why.empty())
                    past_of(host->id).add({at, others.used});
            } else if (told) {
                past_of(host->id).add({at, usage_of_whole(figure->second.value, anything)});
            }
        }
    }
}

MetricsReader::Known& MetricsReader::known_of(const HostId& host) {
    return known_.try_emplace(host, Known{UsageHistory{*windows_}}).first->second;
}

/// Since the start of the present figures' window.
std::map<HostId, Amount> MetricsReader::held_lately(const OversubscriptionPolicy& policy,
                                                    const std::vector<const Host*>& hosts) {
    const TimePoint now = dependencies_.clock.now();
    const auto& configured = policy.configured;
    const Duration span =
        reach_of(configured.prometheus.usage_query) + configured.publication.max_age;
    std::map<HostId, Amount> all;
    for (const Host* const host : hosts) {
        HeldLately& held = known_of(host->id).held;
        held.note(now, oversubscribed_on(*host, policy.room_class));
        all.emplace(host->id, held.most(now, span));
    }
    return all;
}

void MetricsReader::note(const OversubscriptionPolicy& policy, const Answers& answers) {
    const config::Prometheus& asked = policy.configured.prometheus;
    const HostNames names = names_of(dependencies_.refresher.cache().hosts());
    const auto hosts = covered(policy);
    const auto used = answer_to(answers, asked.usage_query);
    const bool by_server = !asked.server_label.empty();
    const auto cores = figures_by_host(answer_to(answers, asked.cores_query), names,
                                       asked.host_label, cores_words);
    const auto ages =
        figures_by_host(answer_to(answers, asked.age_query), names, asked.host_label, age_words);
    const auto whole = figures_by_host(used, names, asked.host_label, use_words);
    const auto held = held_lately(policy, hosts);
    const auto others = by_server
                            ? use_by_others(used, names, {asked.host_label, asked.server_label},
                                            hosts, held, policy.room_class, false)
                            : std::map<HostId, OthersUse>{};
    std::erase_if(known_, [&](const auto& each) {
        const Host* const host = dependencies_.refresher.cache().find(each.first);
        return host == nullptr || !policy.covers(*host);
    });
    for (const Host* const host : hosts) {
        Known& known = known_of(host->id);
        std::string& why = known.why_unknown;
        why.clear();
        const Figure* const age = needed(ages, host->id, age_words, why);
        const Figure* const count =
            asked.cores_query.empty() ? nullptr : needed(cores, host->id, cores_words, why);
        const Figure* const use = by_server ? nullptr : needed(whole, host->id, use_words, why);
        if (by_server && why.empty()) why = others.at(host->id).why;
        if (!why.empty()) continue;
        known.cores = count == nullptr ? vcpus_of_root(*host).value_or(0) : count->value;
        const UsageRange of_others = by_server ? within(others.at(host->id).used, known.cores)
                                               : usage_of_whole(use->value, held.at(host->id));
        why = why_impossible(of_others, known.cores);
        if (!why.empty()) continue;
        const UsagePoint point{time_of_reading(*age), of_others};
        if (known.history.add(point) && !past_known_) known.meanwhile.push_back(point);
    }
}

HostUsage MetricsReader::usage_of(const HostId& host) {
    HostUsage usage;
    usage.host = host;
    const auto at = known_.find(host);
    if (at == known_.end()) {
        usage.why_unknown = "it was not measured yet";
    } else if (!at->second.why_unknown.empty()) {
        usage.why_unknown = at->second.why_unknown;
    } else {
        usage = at->second.history.at(host, at->second.cores, dependencies_.clock.now());
    }
    // One reading is no peak: nothing rises or falls because of it.
    if (!past_known_) usage.coverage = usage.now.least = usage.peak.least = 0;
    if (!usage.known() && !trouble_.empty()) usage.why_unknown += "; " + printable(trouble_);
    return usage;
}

// ---- load ----

ResultTask<std::map<HostId, HostLoad>> MetricsReader::loads(LoadFigures wanted) {
    const Policy policy = dependencies_.settings.oversubscription;
    std::map<HostId, HostLoad> loads;
    if (!policy) co_return loads;
    const config::Prometheus& asked = policy->configured.prometheus;
    struct Wish {
        std::string expression;
        std::optional<double> HostLoad::*member;
        const char* what;
    };
    std::vector<Wish> wishes;
    if (wanted.load5)
        wishes.push_back({asked.load5_query, &HostLoad::load5, "its load of 5 minutes"});
    if (wanted.load15)
        wishes.push_back({asked.load15_query, &HostLoad::load15, "its load of 15 minutes"});
    if (wanted.cores) wishes.push_back({asked.cores_query, &HostLoad::cores, cores_words.data()});
    if (wanted.steal) wishes.push_back({asked.steal_query, &HostLoad::steal, "its stolen time"});
    if (wanted.pressure)
        wishes.push_back({asked.pressure_query, &HostLoad::pressure, "its CPU pressure"});
    std::vector<std::string> expressions;
    for (const Wish& wish : wishes) expressions.push_back(wish.expression);
    if (wanted.guest_steal) expressions.push_back(asked.guest_steal_query);
    Duration reach{};
    for (const std::string& each : expressions) reach = std::max(reach, reach_of(each));
    expressions.push_back(asked.age_query);
    auto answers = co_await ask(std::move(expressions));
    if (!answers) co_return answers.error();
    const HostNames names = names_of(dependencies_.refresher.cache().hosts());
    const auto ages =
        figures_by_host(answer_to(*answers, asked.age_query), names, asked.host_label, age_words);
    const TimePoint now = dependencies_.clock.now();
    for (const Host* const host : covered(*policy)) {
        HostLoad& load = loads[host->id];
        load.host = host->id;
        load.reach = reach;
        const Figure* const age = needed(ages, host->id, age_words, load.why_unknown);
        if (age == nullptr) continue;
        load.measured_at = time_of_reading(*age);
        if (now - load.measured_at > policy->configured.publication.max_age)
            load.why_unknown =
                "the last reading is " + format_duration(now - load.measured_at) + " old";
    }
    for (const Wish& wish : wishes)
        for (const auto& [host, figure] : figures_by_host(answer_to(*answers, wish.expression),
                                                          names, asked.host_label, wish.what)) {
            const auto at = loads.find(host);
            if (at == loads.end()) continue;
            if (!figure.why.empty())
                at->second.why_unknown = figure.why;
            else
                at->second.*wish.member = figure.value;
        }
    if (!wanted.guest_steal) co_return loads;
    for (auto& [host, figures] :
         figures_by_server(answer_to(*answers, asked.guest_steal_query), names,
                           {asked.host_label, asked.server_label}, "the waiting")) {
        const auto at = loads.find(host);
        if (at == loads.end()) continue;
        if (!figures.why.empty()) at->second.why_unknown = std::move(figures.why);
        at->second.guests = std::move(figures.values);
    }
    co_return loads;
}

}  // namespace reaper
