// What the loader found: mistakes and warnings, and on which line each key of the file stands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reaper::config {

// A mistake in the configuration: where it is, what it is, what would be right. One line each.

struct ConfigError {
    std::string file;
    int line = 0;          ///< from 1; 0: the file as a whole
    std::string key;       ///< `http.max_retries`; empty: the file as a whole
    std::string problem;   ///< never a secret
    std::string expected;  ///< may be empty
    /// A file that it names is missing or can't be read as things are: a mount, a secret or a right
    /// may come later, without a change of the configuration.
    bool unreadable = false;

    friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// `FILE:LINE: key.path: problem; expected ...`
std::string to_string(const ConfigError& error);

/// Nothing is wrong with what the configuration says: files are missing.
bool only_unreadable(const std::vector<ConfigError>& errors);

/// Behind the name of a variable, where the name of a file would stand.
inline constexpr std::string_view in_environment = " (environment)";

class Findings {
public:
    explicit Findings(std::string file) : file_(std::move(file)) {}

    /// About a key of the main file, at the key's own line.
    void error(const std::string& key, std::string problem, std::string expected = "");
    /// The same of a file that can't be read as things are.
    void unreadable(const std::string& key, std::string problem, std::string expected = "");
    void warn(const std::string& key, std::string problem, std::string expected = "");
    /// Anywhere.
    void add_error(ConfigError error) { errors_.push_back(std::move(error)); }
    void add_warning(ConfigError warning) { warnings_.push_back(std::move(warning)); }

    /// The key's value comes from this variable of the environment: mistakes in it, and in what is
    /// inside of it, are reported as the variable's.
    void of_variable(const std::string& key, const std::string& variable) {
        variables_.emplace(key, variable);
    }
    /// Remembers where a key stands; false if it was there already.
    bool place(const std::string& key, int line) { return lines_.emplace(key, line).second; }
    bool has(const std::string& key) const { return lines_.contains(key); }
    /// The key's line; else that of the section around it; else 0.
    int line(std::string_view key) const;

    const std::string& file() const noexcept { return file_; }
    /// By line, the main file first.
    std::vector<ConfigError> errors() const { return sorted(errors_); }
    std::vector<ConfigError> warnings() const { return sorted(warnings_); }
    bool clean() const noexcept { return errors_.empty(); }

private:
    std::vector<ConfigError> sorted(std::vector<ConfigError> findings) const;

    ConfigError found(const std::string& key, std::string problem, std::string expected) const;

    std::string file_;
    std::map<std::string, std::string, std::less<>> variables_;  // by key
    std::map<std::string, int, std::less<>> lines_;
    std::vector<ConfigError> errors_;
    std::vector<ConfigError> warnings_;
};

}  // namespace reaper::config
