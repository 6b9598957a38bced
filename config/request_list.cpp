#include "config/request_list.hpp"

#include <set>

#include "config/document.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"

namespace reaper::config {
namespace {

/// Of one request. Aliases make long lists cheap to write.
constexpr std::size_t max_listed = 100;
/// At most this many mistakes are listed.
constexpr std::size_t max_mistakes = 100;

const std::vector<std::string> fields{"flavor",   "group_policy", "groups", "id",     "project",
                                      "res_type", "resources",    "slots",  "traits", "zone"};

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = first_character(text).size;
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

/// Reads one entry; mistakes go to `errors`.
class EntryReader {
public:
    EntryReader(const std::string& file, std::string path, std::vector<ConfigError>& errors)
        : file_(file), path_(std::move(path)), errors_(errors) {}

    RequestEntry read(const YAML::Node& node) {
        RequestEntry entry;
        entry.line = line_of(node);
        if (!node.IsMap()) {
            wrong(node, "", "not a mapping", "project, resources and other fields");
            return entry;
        }
        std::set<std::string> seen;
        for (const auto& member : node) {
            const std::string name = member.first.IsScalar() ? member.first.Scalar() : "";
            if (!seen.insert(name).second) wrong(member.first, name, "is there twice", "one");
            read_member(name, member.first, member.second, entry);
        }
        if (!seen.contains("project")) wrong(node, "project", "missing", "");
        check_what(node, seen);
        return entry;
    }

private:
    /// What one server is: a flavor, or resources.
    void check_what(const YAML::Node& node, const std::set<std::string>& seen) {
        const bool flavor = seen.contains("flavor");
        if (!flavor && !seen.contains("resources")) wrong(node, "resources", "missing", "");
        for (const char* const part : {"resources", "groups", "group_policy"})
            if (flavor && seen.contains(part))
                wrong(node, part, "is given with a flavor, which defines it", "");
    }
    void read_member(const std::string& name, const YAML::Node& key, const YAML::Node& value,
                     RequestEntry& entry) {
        if (name == "id") {
            entry.id = text(value, name);
        } else if (name == "project") {
            entry.project = text(value, name);
        } else if (name == "flavor") {
            entry.flavor = text(value, name);
        } else if (name == "zone") {
            entry.zone = text(value, name);
        } else if (name == "res_type") {
            entry.res_type = text(value, name);
        } else if (name == "slots") {
            entry.slots = slots(value);
        } else if (name == "resources") {
            entry.resources = value.IsMap() ? amounts(value) : text(value, name);
        } else if (name == "traits") {
            entry.traits = texts(value, name, "[CUSTOM_GPU=required, ...]");
        } else if (name == "groups") {
            entry.groups = texts(value, name, "['VGPU=1,CUSTOM_GPU=required', ...]");
        } else if (name == "group_policy") {
            entry.group_policy = text(value, name);
        } else {
            const auto near = nearest(name, fields);
            wrong(key, "", "there is no field " + shown(name),
                  near ? "'" + *near + "'?" : joined(fields));
        }
    }

    std::string text(const YAML::Node& node, const std::string& name) {
        if (node.IsScalar() && !node.Scalar().empty() && node.Scalar().size() <= 1024)
            return node.Scalar();
        wrong(node, name, "not a text", "1 to 1024 characters");
        return {};
    }
    int slots(const YAML::Node& node) {
        const auto number = node.IsScalar() ? integer_of(node.Scalar()) : std::nullopt;
        if (number && *number >= 1 && *number <= 100'000) return static_cast<int>(*number);
        wrong(node, "slots", "not a number of slots", "a whole number from 1 to 100000");
        return 1;
    }
    /// In the words of --resources.
    std::string amounts(const YAML::Node& node) {
        std::string all;
        if (too_long(node, "resources")) return all;
        for (const auto& member : node) {
            const std::string name = text(member.first, "resources");
            all += (all.empty() ? "" : ",") + name + "=" + text(member.second, "resources." + name);
        }
        if (all.empty()) wrong(node, "resources", "empty", "VCPU: 4, MEMORY_MB: 2048, ...");
        return all;
    }
    std::vector<std::string> texts(const YAML::Node& node, const std::string& name,
                                   const std::string& expected) {
        std::vector<std::string> all;
        if (!node.IsSequence()) {
            wrong(node, name, "not a list", expected);
            return all;
        }
        if (too_long(node, name)) return all;
        for (const auto& each : node) all.push_back(text(each, name));
        return all;
    }
    bool too_long(const YAML::Node& node, const std::string& name) {
        if (node.size() <= max_listed) return false;
        wrong(node, name, std::to_string(node.size()) + " of them",
              "at most " + std::to_string(max_listed));
        return true;
    }
    void wrong(const YAML::Node& node, const std::string& name, std::string problem,
               std::string expected) {
        if (errors_.size() >= max_mistakes) return;
        errors_.push_back({file_, line_of(node), path_ + (name.empty() ? "" : "." + name),
                           std::move(problem), std::move(expected)});
    }

    const std::string& file_;
    std::string path_;
    std::vector<ConfigError>& errors_;
};

}  // namespace

std::variant<std::vector<RequestEntry>, std::vector<ConfigError>> read_request_list(
    const std::string& name, std::string_view text) {
    using Errors = std::vector<ConfigError>;
    const std::string wanted = "a list of requests: - {project: ..., resources: {VCPU: 4, ...}}";
    if (!is_utf8(text)) return Errors{{name, 0, "", "not UTF-8", wanted}};
    const auto parsed = parse_yaml(name, text, wanted, {16U * 1024 * 1024, 50 * max_requests});
    if (const auto* error = std::get_if<ConfigError>(&parsed)) return Errors{*error};
    const auto& root = std::get<YAML::Node>(parsed);
    if (!root.IsSequence() || root.size() == 0)
        return Errors{{name, line_of(root), "", "not a list of requests", wanted}};
    if (root.size() > max_requests)
        return Errors{{name, 0, "", std::to_string(root.size()) + " requests",
                       "at most " + std::to_string(max_requests)}};
    std::vector<RequestEntry> entries;
    Errors errors;
    for (const auto& node : root) {
        const std::string path = "[" + std::to_string(entries.size()) + "]";
        entries.push_back(EntryReader(name, path, errors).read(node));
        if (errors.size() < max_mistakes) continue;
        errors.push_back({name, 0, "", "more mistakes may follow", ""});
        return errors;
    }
    if (!errors.empty()) return errors;
    return entries;
}

}  // namespace reaper::config
