#include "config/secrets.hpp"

#include <optional>
#include <sstream>

#include "config/broker_url.hpp"
#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"

namespace reaper::config {
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

}  // namespace

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

}  // namespace reaper::config
