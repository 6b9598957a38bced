#include "app/cli/program.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace reaper::test {
namespace {

constexpr int deadline_ms = 240'000;  // of silence

std::string binary() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "reaper";
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

struct Pipe {
    int ends[2] = {-1, -1};
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    }
};

}  // namespace

Program::Program(std::vector<std::string> arguments, Environment environment,
                 const std::string& input) {
    const Pipe in, out, err;
    arguments.insert(arguments.begin(), binary());
    std::vector<std::string> variables{"PATH=/usr/bin:/bin"};
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    const auto argv = pointers(arguments);
    const auto envp = pointers(variables);
    pid_ = fork();
    if (pid_ == 0) {
        dup2(in.ends[0], STDIN_FILENO);
        dup2(out.ends[1], STDOUT_FILENO);
        dup2(err.ends[1], STDERR_FILENO);
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
    close(in.ends[0]);
    close(out.ends[1]);
    close(err.ends[1]);
    // Inputs of tests fit into the pipe.
    if (write(in.ends[1], input.data(), input.size()) != static_cast<ssize_t>(input.size()))
        throw std::runtime_error("the program's input does not fit into a pipe");
    close(in.ends[1]);
    out_ = out.ends[0];
    err_ = err.ends[0];
}

Program::~Program() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        reap();
    }
    for (const int fd : {out_, err_})
        if (fd >= 0) close(fd);
}

void Program::send_signal(int number) const {
    kill(pid_, number);
}

bool Program::read_some() {
    pollfd watched[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (out_ < 0 && err_ < 0) return false;
    if (poll(watched, 2, deadline_ms) <= 0) return false;
    for (const pollfd& ready : watched) {
        if (ready.revents == 0) continue;
        const bool is_out = ready.fd == out_;
        char block[4096];
        const ssize_t got = read(ready.fd, block, sizeof block);
        if (got > 0) {
            (is_out ? result_.out : result_.err).append(block, static_cast<std::size_t>(got));
        } else {
            close(ready.fd);
            (is_out ? out_ : err_) = -1;
        }
    }
    return true;
}

bool Program::wait_for(const std::string& text, const std::string& in, const int& stream,
                       std::size_t& seen) {
    while (true) {
        if (const auto at = in.find(text, seen); at != std::string::npos) {
            seen = at + text.size();
            return true;
        }
        if (stream < 0 || !read_some()) return false;
    }
}

bool Program::wait_for_error_text(const std::string& text) {
    return wait_for(text, result_.err, err_, seen_);
}

bool Program::wait_for_text(const std::string& text) {
    return wait_for(text, result_.out, out_, seen_out_);
}

void Program::reap() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ProgramResult Program::finish() {
    while (out_ >= 0 || err_ >= 0)
        if (!read_some()) break;
    if (out_ >= 0 || err_ >= 0) kill(pid_, SIGKILL);  // it hangs: the exit code will tell
    reap();
    return result_;
}

ProgramResult run_program(std::vector<std::string> arguments, Program::Environment environment,
                          const std::string& input) {
    return Program(std::move(arguments), std::move(environment), input).finish();
}

TemporaryDirectory::TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "reaper-cli-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    std::filesystem::permissions(
        file(name), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return file(name);
}

}  // namespace reaper::test
