#include "config/reader.hpp"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "config/broker_url.hpp"
#include "config/document.hpp"
#include "config/plugins.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::config {

// Secrets: in the file itself, in a file of their own, or in a variable.

namespace {

enum class Origin { here, file, variable };

Origin origin_of(const Key& key, const std::string& spelling) {
    if (spelling.size() == key.name.size()) return Origin::here;
    return spelling.ends_with("_file") ? Origin::file : Origin::variable;
}

/// The text of the secret's file or variable.
std::optional<std::string> fetch(Origin origin, const std::string& full, const YAML::Node& node,
                                 const Environment& environment, Findings& findings) {
    const bool file = origin == Origin::file;
    const std::string expected =
        file ? "the path of a readable file with the secret" : "the name of a variable that is set";
    const auto name = read_text(node, full, file ? 4096 : 255, expected, findings);
    if (!name) return std::nullopt;
    std::string text;
    if (file) {
        const auto content = environment.read_file(*name);
        if (!content) {
            findings.unreadable(full, unreadable(*name, content.error()), expected);
            return std::nullopt;
        }
        if (content->others_can_read)
            findings.warn(full, "everyone can read " + shown(*name), "a file of mode 0640 or less");
        text = without_newline(content->text);
    } else {
        const auto value = environment.variable(*name);
        if (!value) {
            findings.error(full, "the variable " + shown(*name) + " is not set", expected);
            return std::nullopt;
        }
        text = *value;
    }
    if (!text.empty()) return text;
    findings.error(full, (file ? "the file " : "the variable ") + shown(*name) + " is empty",
                   expected);
    return std::nullopt;
}

/// The URLs of a file (one a line, # comments) or of a variable (between spaces).
std::vector<std::string> split_urls(const std::string& text, Origin origin) {
    std::vector<std::string> urls;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        for (std::string word; words >> word;) {
            if (origin == Origin::file && word.front() == '#') break;
            urls.push_back(word);
        }
    }
    return urls;
}

void keep_urls(const Key& key, const std::string& full, const std::vector<std::string>& urls,
               Draft& draft, Findings& findings) {
    if (urls.empty()) return findings.error(full, "names no URL", expectation(key.type));
    std::vector<Secret> kept;
    for (std::size_t i = 0; i < urls.size(); ++i) {
        const std::string item = full + "[" + std::to_string(i) + "]";
        Secret url{urls[i]};
        if (const auto brokers = parse_broker_urls(url); !brokers)
            findings.error(item, brokers.error().what, expectation(key.type));
        kept.push_back(std::move(url));
    }
    std::get<Member<std::vector<Secret>>>(key.target)(draft) = std::move(kept);
}

void read_url_list(const Key& key, const std::string& full, const YAML::Node& node, Draft& draft,
                   Findings& findings) {
    if (!node.IsSequence()) return findings.error(full, "is not a list", expectation(key.type));
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = full + "[" + std::to_string(i) + "]";
        findings.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings.line(full));
        if (auto url = read_text(node[i], item, 2048, expectation(key.type), findings))
            urls.push_back(std::move(*url));
    }
    if (urls.size() == node.size()) keep_urls(key, full, urls, draft, findings);
}

void read_text_here(const Key& key, const std::string& full, const YAML::Node& node, Draft& draft,
                    Findings& findings) {
    // Not through read_text: a password may hold anything.
    if (!node.IsScalar() || node.Scalar().empty())
        return findings.error(full, node.IsScalar() || node.IsNull() ? "is empty" : "is not a text",
                              expectation(key.type));
    std::get<Member<Secret>>(key.target)(draft) = Secret{node.Scalar()};
}

/// Reads `spelling` (K, K_file or K_env) of a secret key into the draft. A second spelling of the
/// same secret is a mistake.
void read_secret(const Key& key, const std::string& section, const std::string& spelling,
                 const YAML::Node& node, const Environment& environment, Draft& draft,
                 Findings& findings) {
    const std::string full = join_path(section, spelling);
    for (const auto& other : spellings(key)) {
        const std::string path = join_path(section, other);
        if (other == spelling || !findings.has(path)) continue;
        return findings.error(full,
                              "given with " + other + " (line " +
                                  std::to_string(findings.line(path)) +
                                  "), which has the same meaning",
                              "only one of " + joined(spellings(key)));
    }
    const bool urls = std::holds_alternative<SecretUrls>(key.type);
    const Origin origin = origin_of(key, spelling);
    if (origin == Origin::here)
        return urls ? read_url_list(key, full, node, draft, findings)
                    : read_text_here(key, full, node, draft, findings);
    const auto text = fetch(origin, full, node, environment, findings);
    if (!text) return;
    if (urls) return keep_urls(key, full, split_urls(*text, origin), draft, findings);
    std::get<Member<Secret>>(key.target)(draft) = Secret{*text};
}

using std::chrono::milliseconds;
using std::chrono::seconds;

const Section* find_section(const std::string& path) {
    for (const auto& section : sections())
        if (section.path == path) return &section;
    return nullptr;
}

/// The names that may stand in a section: its keys and the sections inside it.
std::vector<std::string> names_in(const Section& section) {
    std::vector<std::string> names;
    for (const auto& key : section.keys)
        for (auto& name : spellings(key)) names.push_back(std::move(name));
    for (const auto& child : sections()) {
        const auto dot = child.path.rfind('.');
        const auto parent = dot == std::string_view::npos ? "" : child.path.substr(0, dot);
        if (!child.path.empty() && parent == section.path)
            names.emplace_back(dot == std::string_view::npos ? child.path
                                                             : child.path.substr(dot + 1));
    }
    return names;
}

class Reader {
public:
    Reader(const Environment& environment, Draft& draft, Findings& findings)
        : environment_(environment), draft_(draft), findings_(findings) {}

    void section(const YAML::Node& node, const Section& section) {
        if (node.IsNull()) return;  // all of it commented out
        const std::string path{section.path};
        if (!node.IsMap()) return findings_.error(path, "not a mapping", "a mapping of keys");
        for (const auto& entry : in_order(node)) {
            if (!entry.first.IsScalar()) {
                findings_.error(path, "a key that is not a word (line " +
                                          std::to_string(line_of(entry.first)) + ")");
                continue;
            }
            const std::string& name = entry.first.Scalar();
            const int line = line_of(entry.first);
            const std::string full = join_path(path, name);
            if (!findings_.place(full, line)) {
                findings_.add_error(
                    {findings_.file(), line, printable(full),
                     "given twice (first on line " + std::to_string(findings_.line(full)) + ")",
                     "one"});
                continue;
            }
            this->entry(section, name, full, entry.second);
        }
    }

private:
    /// Modules first: other keys name what they bring.
    static std::vector<std::pair<YAML::Node, YAML::Node>> in_order(const YAML::Node& node) {
        std::vector<std::pair<YAML::Node, YAML::Node>> entries;
        for (const bool modules : {true, false})
            for (const auto& entry : node)
                if ((entry.first.IsScalar() && entry.first.Scalar() == "modules") == modules)
                    entries.emplace_back(entry.first, entry.second);
        return entries;
    }

    static std::string printable(const std::string& text) {
        const std::string quoted = shown(text);
        return quoted.substr(1, quoted.size() - 2);
    }

    void entry(const Section& section, const std::string& name, const std::string& full,
               const YAML::Node& value) {
        // A dot in a name would look like the path of a key elsewhere.
        if (name.find_first_of(".[") != std::string::npos) return unknown(section, name, full);
        if (const Section* const inner = find_section(full)) return this->section(value, *inner);
        for (const auto& key : section.keys) {
            const auto names = spellings(key);
            if (std::ranges::find(names, name) == names.end()) continue;
            if (names.size() == 1) return this->value(key, full, value);
            return read_secret(key, std::string{section.path}, name, value, environment_, draft_,
                               findings_);
        }
        unknown(section, name, full);
    }

    void unknown(const Section& section, const std::string& name, const std::string& full) {
        const int line = findings_.line(full);
        if (name == "<<")
            return findings_.add_error(
                {findings_.file(), line, full, "merge keys are not known here", "plain keys"});
        const auto known = names_in(section);
        const auto near = nearest(name, known);
        findings_.add_error({findings_.file(), line, printable(full), "unknown key",
                             near ? *near : "one of " + joined(known)});
    }

    void value(const Key& key, const std::string& full, const YAML::Node& node) {
        if (node.IsNull()) return findings_.error(full, "has no value", expectation(key.type));
        std::visit([&](const auto& type) { read(key, type, full, node); }, key.type);
    }

    void wrong(const Key& key, const std::string& full, const YAML::Node& node) {
        const std::string got = node.IsScalar()     ? shown(node.Scalar())
                                : node.IsSequence() ? "a list"
                                                    : "a mapping";
        findings_.error(full, "is " + got, expectation(key.type));
    }

    void read(const Key& key, const WholeNumber& type, const std::string& full,
              const YAML::Node& node) {
        const auto number = node.IsScalar() ? integer_of(node.Scalar()) : std::nullopt;
        if (!number || *number < type.least || *number > type.most) return wrong(key, full, node);
        const std::int64_t amount = *number * type.unit;
        if (const auto* const target = std::get_if<Member<int>>(&key.target))
            (*target)(draft_) = static_cast<int>(amount);
        else if (const auto* const large = std::get_if<Member<std::uint64_t>>(&key.target))
            (*large)(draft_) = static_cast<std::uint64_t>(amount);
        else
            std::get<Member<std::int64_t>>(key.target)(draft_) = amount;
    }

    void read(const Key& key, const Span& type, const std::string& full, const YAML::Node& node) {
        const auto span = node.IsScalar() ? parse_duration(node.Scalar()) : std::nullopt;
        if (!span || *span < type.least || *span > type.most ||
            *span % type.step != milliseconds::zero())
            return wrong(key, full, node);
        if (const auto* const target = std::get_if<Member<seconds>>(&key.target))
            (*target)(draft_) = std::chrono::duration_cast<seconds>(*span);
        else
            std::get<Member<milliseconds>>(key.target)(draft_) = *span;
    }

    void read(const Key& key, const Fraction& type, const std::string& full,
              const YAML::Node& node) {
        const auto fraction = node.IsScalar() ? fraction_of(node.Scalar()) : std::nullopt;
        if (!fraction || *fraction < type.least || *fraction > type.most)
            return wrong(key, full, node);
        std::get<Member<double>>(key.target)(draft_) = *fraction;
    }

    void read(const Key& key, const Flag&, const std::string& full, const YAML::Node& node) {
        const bool yes = node.IsScalar() && node.Scalar() == "true";
        if (!yes && !(node.IsScalar() && node.Scalar() == "false")) return wrong(key, full, node);
        std::get<Member<bool>>(key.target)(draft_) = yes;
    }

    void read(const Key& key, const Text& type, const std::string& full, const YAML::Node& node) {
        if (auto text = read_text(node, full, type.longest, expectation(key.type), findings_))
            std::get<Member<std::string>>(key.target)(draft_) = std::move(*text);
    }

    void read(const Key& key, const Choice& type, const std::string& full, const YAML::Node& node) {
        const auto& choices = type.choices;
        if (!node.IsScalar() || std::ranges::find(choices, node.Scalar()) == choices.end())
            return wrong(key, full, node);
        std::get<Member<std::string>>(key.target)(draft_) = node.Scalar();
    }

    void read(const Key& key, const TextList& type, const std::string& full,
              const YAML::Node& node) {
        if (!node.IsSequence()) return wrong(key, full, node);
        if (node.size() == 0 && !type.may_be_empty)
            return findings_.error(full, "is an empty list", expectation(key.type));
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < node.size(); ++i) {
            const std::string item = full + "[" + std::to_string(i) + "]";
            findings_.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings_.line(full));
            if (auto text = read_text(node[i], item, 255, "a text of 1 to 255 bytes", findings_))
                texts.push_back(std::move(*text));
        }
        std::get<Member<std::vector<std::string>>>(key.target)(draft_) = std::move(texts);
    }

    void read(const Key& key, const Url& type, const std::string& full, const YAML::Node& node) {
        auto text = read_text(node, full, 2048, expectation(key.type), findings_);
        if (!text) return;
        if (const auto problem = url_problem(*text, type.schemes))
            return findings_.error(full, *problem, expectation(key.type));
        std::get<Member<std::string>>(key.target)(draft_) = std::move(*text);
    }

    void read(const Key& key, const ReadableFile& type, const std::string& full,
              const YAML::Node& node) {
        auto path = read_text(node, full, 4096, expectation(key.type), findings_);
        if (!path) return;
        const auto file = environment_.read_file(*path);
        if (!file)
            return findings_.unreadable(full, unreadable(*path, file.error()),
                                        expectation(key.type));
        if (type.secret && file->others_can_read)
            findings_.warn(full, "everyone can read " + shown(*path),
                           "a file of mode 0640 or less");
        std::get<Member<std::string>>(key.target)(draft_) = std::move(*path);
    }

    void read(const Key& key, const OnePlugin& type, const std::string& full,
              const YAML::Node& node) {
        if (auto plugin = read_plugin(type.kind, node, full, findings_))
            std::get<Member<Plugin>>(key.target)(draft_) = std::move(*plugin);
    }

    void read(const Key& key, const PluginList&, const std::string& full, const YAML::Node& node) {
        std::get<Member<std::vector<Plugin>>>(key.target)(draft_) =
            read_taggers(node, full, findings_);
    }

    void read(const Key& key, const ModuleList&, const std::string& full, const YAML::Node& node) {
        std::get<Member<std::vector<Module>>>(key.target)(draft_) =
            read_modules(node, full, environment_, findings_);
    }

    void read(const Key& key, const CellList&, const std::string& full, const YAML::Node& node) {
        std::get<Member<std::vector<Cell>>>(key.target)(draft_) = read_cells(node, full, findings_);
    }

    void read(const Key& key, const EntryList&, const std::string& full, const YAML::Node& node) {
        std::visit(
            [&](auto target) {
                if constexpr (requires { read_entries(node, full, target(draft_), findings_); })
                    read_entries(node, full, target(draft_), findings_);
            },
            key.target);
    }

    // Secrets have several spellings and never come here.
    void read(const Key&, const SecretText&, const std::string&, const YAML::Node&) {}
    void read(const Key&, const SecretUrls&, const std::string&, const YAML::Node&) {}

    const Environment& environment_;
    Draft& draft_;
    Findings& findings_;
};

}  // namespace

void read_document(const YAML::Node& root, const Environment& environment, Draft& draft,
                   Findings& findings) {
    Reader reader{environment, draft, findings};
    reader.section(root, sections().front());
}

std::optional<std::string> read_text(const YAML::Node& node, const std::string& key,
                                     std::size_t longest, const std::string& expected,
                                     Findings& findings) {
    if (!node.IsScalar()) {
        findings.error(key, node.IsNull() ? "has no value" : "is not a plain text", expected);
        return std::nullopt;
    }
    const std::string& text = node.Scalar();
    const bool clean = std::ranges::none_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (!text.empty() && text.size() <= longest && clean) return text;
    findings.error(key,
                   text.empty() ? "is empty"
                   : clean      ? "is too long"
                                : "has a control character in it",
                   expected);
    return std::nullopt;
}

std::string unreadable(const std::string& path, const Error& error) {
    return "can't read " + shown(path) + " (" + error.what + ")";
}

}  // namespace reaper::config
