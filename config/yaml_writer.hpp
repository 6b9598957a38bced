// Writes a YAML document step by step. Texts stay texts: one that would be read as a number, a time
// or a truth value is quoted. So is one with control or invisible characters.
#pragma once

#include <memory>
#include <string>

namespace YAML {
class Emitter;
}

namespace reaper::config {

class YamlWriter {
public:
    YamlWriter();
    YamlWriter& operator=(YamlWriter&&) = delete;
    ~YamlWriter();

    void begin_map();
    void end_map();
    void begin_list();
    void end_list();
    /// Of a mapping; its value follows.
    void key(const std::string& name);
    void text(const std::string& value);
    /// As it stands: a number, `true` or `false`.
    void plain(const std::string& value);
    void null();
    /// The document, with a newline at its end.
    std::string finish() const;

private:
    std::unique_ptr<YAML::Emitter> out_;
};

}  // namespace reaper::config
