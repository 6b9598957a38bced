#include "config/keys.hpp"

#include "config/plugins.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::config {
namespace {

using namespace std::chrono_literals;

struct Expectation {
    static std::string schemes(const std::vector<std::string_view>& names) {
        return joined(names, " or ",
                      [](std::string_view name) { return std::string{name} + "://HOST:PORT"; });
    }
    std::string operator()(const WholeNumber& number) const {
        return "a whole number from " + std::to_string(number.least) + " to " +
               std::to_string(number.most);
    }
    std::string operator()(const Span& span) const {
        return "a duration with its unit (500ms, 5min, 2h, 1d) from " + exact_duration(span.least) +
               " to " + exact_duration(span.most) +
               (span.step > 1ms ? ", a multiple of " + exact_duration(span.step) : "");
    }
    std::string operator()(const Fraction& fraction) const {
        return "a number from " + fraction_text(fraction.least) + " to " +
               fraction_text(fraction.most) + ", such as 0.25";
    }
    std::string operator()(const Flag&) const { return "true or false"; }
    std::string operator()(const Text& text) const {
        return "a text of 1 to " + std::to_string(text.longest) + " bytes";
    }
    std::string operator()(const Choice& choice) const {
        return "one of " + joined(choice.choices);
    }
    std::string operator()(const TextList& list) const {
        return list.may_be_empty ? "a list of texts" : "a list of texts, at least one";
    }
    std::string operator()(const Url& url) const { return "a URL, " + schemes(url.schemes); }
    std::string operator()(const ReadableFile&) const { return "the path of a readable file"; }
    std::string operator()(const SecretText&) const { return "a text that is not empty"; }
    std::string operator()(const SecretUrls& urls) const {
        return "a list of URLs, " + schemes(urls.schemes);
    }
    std::string operator()(const OnePlugin&) const { return "a mapping with `name`"; }
    std::string operator()(const PluginList&) const {
        return "a list of mappings with `name`, at least one";
    }
    std::string operator()(const ModuleList&) const { return modules_expected; }
    std::string operator()(const CellList&) const { return cells_expected; }
    std::string operator()(const EntryList& list) const { return std::string{list.expected}; }
};

}  // namespace

std::string expectation(const Type& type) {
    return std::visit(Expectation{}, type);
}

std::vector<std::string> spellings(const Key& key) {
    const std::string name{key.name};
    const bool secret = std::holds_alternative<SecretText>(key.type) ||
                        std::holds_alternative<SecretUrls>(key.type);
    if (!secret) return {name};
    return {name, name + "_file", name + "_env"};
}

std::string join_path(std::string_view section, std::string_view key) {
    if (section.empty()) return std::string{key};
    return std::string{section} + "." + std::string{key};
}

}  // namespace reaper::config
