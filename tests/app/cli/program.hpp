// Runs the real `reaper` binary, which stands beside the test program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace reaper::test {

struct ProgramResult {
    int exit_code = -1;  ///< 128 + signal if it was killed
    std::string out;
    std::string err;
};

/// A running program. Killed by the destructor if it still runs.
class Program {
public:
    using Environment = std::map<std::string, std::string>;

    /// Only `environment` and PATH are set in the program's environment.
    explicit Program(std::vector<std::string> arguments, Environment environment = {},
                     const std::string& input = "");
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();

    pid_t pid() const { return pid_; }
    void send_signal(int number) const;
    /// Reads until stderr holds `text`, from the place where the last such call found its text on.
    /// False after a minute, or when the program ended without it.
    bool wait_for_error_text(const std::string& text);
    /// The same of stdout.
    bool wait_for_text(const std::string& text);
    /// Reads the rest and waits for the end; a minute at most.
    ProgramResult finish();

private:
    /// False when both streams are at their end or the deadline has passed.
    bool read_some();
    void reap();

    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
    bool wait_for(const std::string& text, const std::string& in, const int& stream,
                  std::size_t& seen);
    std::size_t seen_ = 0, seen_out_ = 0;
    ProgramResult result_;
};

/// Runs it to its end.
ProgramResult run_program(std::vector<std::string> arguments, Program::Environment environment = {},
                          const std::string& input = "");

/// A directory of its own, removed at the end.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory();
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// Writes a file and returns its path.
    std::string write(const std::string& name, const std::string& text) const;

private:
    std::string path_;
};

}  // namespace reaper::test
