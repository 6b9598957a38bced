#include "config/values.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "config/document.hpp"
#include "config/reader.hpp"
#include "reaper/model/text.hpp"

namespace reaper::config {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> fraction_of(std::string_view text) {
    double value = 0;
    const char* const past = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), past, value, std::chars_format::fixed);
    // It also knows words, such as `inf`.
    if (error != std::errc{} || end != past || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string fraction_text(double fraction) {
    std::array<char, 400> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), fraction,
                                       std::chars_format::fixed);
    return std::string{buffer.data(), written.ptr};
}

std::optional<std::string> url_problem(std::string_view url,
                                       const std::vector<std::string_view>& schemes) {
    const auto unfit = [](char c) { return c == ' ' || is_control(c); };
    if (std::ranges::any_of(url, unfit)) return "has a space or a control character in it";
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    const auto known = [&](std::string_view scheme) {
        const std::string_view begin = url.substr(0, scheme.size());
        return std::equal(begin.begin(), begin.end(), scheme.begin(), scheme.end(), same) &&
               url.substr(begin.size()).starts_with("://");
    };
    if (std::ranges::none_of(schemes, known)) return "has another scheme";
    const auto parsed = boost::urls::parse_uri(url);
    const std::string_view authority = url.substr(url.find("://") + 3);
    if (authority.substr(0, authority.find_first_of("/?#")).find('@') != std::string_view::npos)
        return "carries user information, which does not belong here";
    if (!parsed) return "has an invalid host, port or path";
    if (parsed->has_fragment()) return "has a #fragment";
    const std::string host = parsed->host_address();
    if (host.empty()) return "has no host";
    if (printable(host, host.size() * 4) != host || std::ranges::any_of(host, unfit))
        return "has a host that is not a name or address";
    const std::string port = parsed->port();
    const auto number = integer_of(port);
    if (!port.empty() && (!number || *number < 1 || *number > 65535))
        return "has a port that is not 1 to 65535";
    // Boost 1.81 takes `:80)x` for port 80 and path `)x`.
    if (!parsed->encoded_path().empty() && !parsed->encoded_path().starts_with('/'))
        return "has no / after its port";
    return std::nullopt;
}

std::string shown(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string safe{text.substr(0, longest)};
    std::ranges::replace_if(safe, is_control, '?');
    return "\"" + safe + (text.size() > longest ? "...\"" : "\"");
}

std::string without_newline(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

namespace {

constexpr std::size_t longest_entry_text = 255;

int line_in(const YAML::Node& node, const std::string& around, const Findings& findings) {
    const int line = line_of(node);
    return line > 0 ? line : findings.line(around);
}

}  // namespace

void for_each_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                    Findings& findings,
                    const std::function<void(const YAML::Node&, const std::string& path)>& read) {
    if (!node.IsSequence()) return findings.error(key, "is not a list", expected);
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = key + "[" + std::to_string(i) + "]";
        findings.place(item, line_in(node[i], key, findings));
        read(node[i], item);
    }
}

bool read_mapping(const YAML::Node& node, const std::string& key, const std::string& expected,
                  Findings& findings,
                  const std::function<bool(const std::string& name, const std::string& path,
                                           const YAML::Node&)>& read) {
    if (!node.IsMap()) {
        findings.error(key, "is not a mapping", expected);
        return false;
    }
    bool good = true;
    for (const auto& entry : node) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        const std::string full = key + "." + name;
        if (!findings.place(full, line_of(entry.first))) {
            findings.error(full, "given twice", "one");
            good = false;
            continue;
        }
        good = read(name, full, entry.second) && good;
    }
    return good;
}

bool read_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                const EntryMembers& members, Findings& findings) {
    return read_mapping(
        node, key, expected, findings,
        [&](const std::string& name, const std::string& full, const YAML::Node& value) {
            const auto member = members.find(name);
            if (member != members.end()) return member->second(value, full);
            std::vector<std::string> known;
            for (const auto& [each, reader] : members) known.push_back(each);
            const auto near = nearest(name, known);
            findings.error(full, "unknown key", near ? *near : "one of " + joined(known));
            return false;
        });
}

bool read_entry_text(const YAML::Node& node, const std::string& key, std::string& into,
                     Findings& findings) {
    auto text = read_text(node, key, longest_entry_text, "a text of 1 to 255 bytes", findings);
    into = text.value_or("");
    return text.has_value();
}

bool read_entry_texts(const YAML::Node& node, const std::string& key,
                      std::vector<std::string>& into, Findings& findings) {
    bool good = node.IsSequence();
    for_each_entry(node, key, "a list of texts", findings,
                   [&](const YAML::Node& item, const std::string& full) {
                       std::string text;
                       good = read_entry_text(item, full, text, findings) && good;
                       if (!text.empty()) into.push_back(std::move(text));
                   });
    return good;
}

bool read_entry_flag(const YAML::Node& node, const std::string& key, bool& into,
                     Findings& findings) {
    const bool flag = node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false");
    if (!flag) findings.error(key, "is no flag", "true or false");
    into = flag && node.Scalar() == "true";
    return flag;
}

}  // namespace reaper::config
