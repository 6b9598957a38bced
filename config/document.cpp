#include "config/document.hpp"

#include <optional>
#include <sstream>
#include <yaml-cpp/eventhandler.h>

namespace reaper::config {
namespace {

struct TooMuch {
    int line;
    std::string problem;
    std::string expected;
};

/// Follows the parser's events without keeping anything, and stops it when a bound is passed.
class Bounds : public YAML::EventHandler {
public:
    explicit Bounds(int most_nodes) : most_nodes_(most_nodes) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  const std::string&) override {
        count(mark);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        enter(mark);
    }
    void OnSequenceEnd() override { --depth_; }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        enter(mark);
    }
    void OnMapEnd() override { --depth_; }

private:
    void enter(const YAML::Mark& mark) {
        count(mark);
        if (++depth_ > max_document_depth)
            throw TooMuch{mark.line + 1, "nested too deeply",
                          "at most " + std::to_string(max_document_depth) + " levels"};
    }
    void count(const YAML::Mark& mark) {
        if (++nodes_ > most_nodes_)
            throw TooMuch{mark.line + 1, "too many values",
                          "at most " + std::to_string(most_nodes_)};
    }

    const int most_nodes_;
    int depth_ = 0;
    int nodes_ = 0;
};

/// What is wrong with the text before any key is looked at.
std::optional<TooMuch> out_of_bounds(const std::string& text, int most_nodes) {
    std::istringstream input{text};
    YAML::Parser parser{input};
    try {
        Bounds first{most_nodes};
        if (!parser.HandleNextDocument(first)) return std::nullopt;
        Bounds second{most_nodes};
        if (parser.HandleNextDocument(second))
            return TooMuch{0, "more than one YAML document",
                           "one document, without a second `---`"};
    } catch (const TooMuch& too_much) {
        return too_much;
    }
    return std::nullopt;
}

}  // namespace

std::variant<YAML::Node, ConfigError> parse_yaml(const std::string& name, std::string_view text,
                                                 const std::string& wanted,
                                                 const DocumentLimits& limits) {
    if (text.size() > limits.bytes)
        return ConfigError{name, 0, "",
                           "larger than " + std::to_string(limits.bytes / (1024 * 1024)) + " MiB",
                           "a small YAML file"};
    if (text.find('\0') != std::string_view::npos)
        return ConfigError{name, 0, "", "not a text file (it holds a zero byte)", "YAML"};
    const std::string copy{text};
    try {
        if (auto too_much = out_of_bounds(copy, limits.nodes))
            return ConfigError{name, too_much->line, "", too_much->problem, too_much->expected};
        YAML::Node root = YAML::Load(copy);
        if (!root.IsDefined() || root.IsNull())
            return ConfigError{name, 0, "", "the file is empty", wanted};
        return root;
    } catch (const YAML::Exception& exception) {
        const int line = exception.mark.is_null() ? 0 : exception.mark.line + 1;
        return ConfigError{name, line, "", "not valid YAML: " + exception.msg, ""};
    }
}

std::variant<YAML::Node, ConfigError> parse_document(const std::string& name,
                                                     std::string_view text) {
    const std::string mapping = "a mapping of sections (cloud:, broker:, ...)";
    auto parsed = parse_yaml(name, text, mapping, {});
    if (const auto* root = std::get_if<YAML::Node>(&parsed); root != nullptr && !root->IsMap())
        return ConfigError{name, line_of(*root), "", "not a mapping", mapping};
    return parsed;
}

int line_of(const YAML::Node& node) {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? 0 : mark.line + 1;
}

}  // namespace reaper::config
