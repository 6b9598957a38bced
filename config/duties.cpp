#include <algorithm>

#include "config/sections.hpp"
#include "config/values.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::config {
namespace {

using namespace std::chrono_literals;

constexpr const char* marks_expected =
    "a list of mappings with `class`, `high` and `low`, such as {class: VCPU, high: 90, low: 80}";
constexpr const char* spans_expected =
    "a list of mappings with `tagger` and `after`, such as {tagger: flavor, after: 72h}";
constexpr milliseconds longest_life = 87600h;

bool read_percent(const YAML::Node& node, const std::string& key, int& into, Findings& findings) {
    const auto number = node.IsScalar() ? integer_of(node.Scalar()) : std::nullopt;
    const bool good = number && *number >= 1 && *number <= 100;
    if (!good) findings.error(key, "is no percentage", "a whole number from 1 to 100");
    into = good ? static_cast<int>(*number) : 0;
    return good;
}

bool read_mark(const YAML::Node& node, const std::string& key, Mark& mark, Findings& findings) {
    std::string name;
    const EntryMembers members{
        {"class", member(read_entry_text, name, findings)},
        {"high", member(read_percent, mark.high, findings)},
        {"low", member(read_percent, mark.low, findings)},
    };
    if (!read_entry(node, key, marks_expected, members, findings)) return false;
    mark.resource_class = ResourceClass{name};
    if (!is_upper_name(name))
        findings.error(key, "has no resource class", marks_expected);
    else if (mark.low == 0 || mark.high <= mark.low)
        findings.error(key, "has no low mark below its high mark", marks_expected);
    else
        return true;
    return false;
}

bool read_after(const YAML::Node& node, const std::string& key, Duration& into,
                Findings& findings) {
    const auto span = node.IsScalar() ? parse_duration(node.Scalar()) : std::nullopt;
    const bool good = span && *span >= 0ms && *span <= longest_life;
    if (!good) findings.error(key, "is no duration", "such as 72h, up to 87600h; 0s: no end");
    into = good ? *span : Duration{};
    return good;
}

bool read_span(const YAML::Node& node, const std::string& key, TaggerSpan& span,
               Findings& findings) {
    const EntryMembers members{
        {"tagger", member(read_entry_text, span.tagger, findings)},
        {"after", member(read_after, span.after, findings)},
    };
    if (!read_entry(node, key, spans_expected, members, findings)) return false;
    const bool both = !span.tagger.empty() && findings.has(key + ".after");
    if (!both) findings.error(key, "lacks `tagger` or `after`", spans_expected);
    return both;
}

/// `name_of` what an entry is for: each stands there once.
template <class Entry, class Name>
void read_all(const YAML::Node& node, const std::string& key, std::vector<Entry>& into,
              Findings& findings, const char* expected, Name name_of,
              bool (*read)(const YAML::Node&, const std::string&, Entry&, Findings&)) {
    into.clear();
    for_each_entry(
        node, key, expected, findings, [&](const YAML::Node& item, const std::string& full) {
            Entry entry;
            if (!read(item, full, entry, findings)) return;
            const bool twice = std::ranges::any_of(
                into, [&](const Entry& other) { return name_of(other) == name_of(entry); });
            if (twice) return findings.error(full, "is there twice", expected);
            into.push_back(std::move(entry));
        });
}

template <auto... Path>
Target duties_at() {
    return at<&Settings::policy, &Policy::duties, Path...>();
}

template <auto Member>
Target watermark_at() {
    return duties_at<&DutySettings::watermark, Member>();
}

template <auto Member>
Target life_span_at() {
    return duties_at<&DutySettings::life_span, Member>();
}

}  // namespace

void read_entries(const YAML::Node& node, const std::string& key, std::vector<Mark>& into,
                  Findings& findings) {
    read_all(
        node, key, into, findings, marks_expected,
        [](const Mark& mark) { return mark.resource_class; }, &read_mark);
}

void read_entries(const YAML::Node& node, const std::string& key, std::vector<TaggerSpan>& into,
                  Findings& findings) {
    read_all(
        node, key, into, findings, spans_expected,
        [](const TaggerSpan& span) { return span.tagger; }, &read_span);
}

void check_duties(const Policy& policy, Findings& findings) {
    const auto& spans = policy.duties.life_span.taggers;
    for (std::size_t i = 0; i < spans.size(); ++i)
        if (std::ranges::none_of(policy.taggers, [&](const Plugin& tagger) {
                return tagger.name == spans[i].tagger;
            }))
            findings.error("life_span.taggers[" + std::to_string(i) + "]",
                           "is of " + shown(spans[i].tagger) + ", which is none of the taggers",
                           "one of those in `taggers`");
}

std::vector<Section> duty_sections() {
    return {
        {"watermark",
         "room that is kept free for any request: revocable servers go when more is used",
         {
             {"marks", EntryList{marks_expected}, "[]",
              "by class, in per cent of the whole cloud or of each of `watched_aggregates`: above "
              "high, servers go until low",
              watermark_at<&WatermarkSettings::marks>()},
             {"cooldown", Span{1min, 168h}, "30min", "between two culls of the same hosts",
              watermark_at<&WatermarkSettings::cooldown>()},
         },
         true},
        {"life_span",
         "revocable servers end after a time",
         {
             {"after", Span{0ms, longest_life}, "0s",
              "of servers of which nothing below says it; 0s: no end",
              life_span_at<&LifeSpanSettings::after>()},
             {"taggers", EntryList{spans_expected}, "[]",
              "of servers that these call revocable; of several the longest",
              life_span_at<&LifeSpanSettings::taggers>()},
             {"flavor_key", Text{255}, "",
              "extra spec with the duration for servers of the flavor, such as reaper:life_span",
              life_span_at<&LifeSpanSettings::flavor_key>()},
             {"jitter", Span{0ms, 720h}, "1h",
              "a server ends up to this time later, the same for each reaper",
              life_span_at<&LifeSpanSettings::jitter>()},
             {"per_hour", WholeNumber{1, 90'000}, "300", "servers that end, at most",
              life_span_at<&LifeSpanSettings::per_hour>()},
         },
         true}};
}

}  // namespace reaper::config
