#include "config/environment.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/document.hpp"

namespace reaper::config {
namespace {

Error not_readable(int why) {
    const Errc code = why == ENOENT || why == ENOTDIR ? Errc::not_found : Errc::bad_input;
    return Error{code, std::strerror(why)};
}

/// May the folder of the path be looked into?
bool folder_is_open(const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    return ::faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0;
}

/// Closes the descriptor at the end of its scope.
struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    int fd;
};

Result<FileText> read_small_file(const std::string& path) {
    // Without O_NONBLOCK a path that names a FIFO would hang the start.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0) {
        const int why = errno;
        // Whether it is there is not for us to know: to us it is not.
        if (why == EACCES && !folder_is_open(path))
            return Error{Errc::not_found, "its folder may not be looked into"};
        return not_readable(why);
    }
    struct stat status {};
    if (::fstat(file.fd, &status) != 0) return not_readable(errno);
    if (S_ISDIR(status.st_mode)) return not_readable(EISDIR);
    FileText result;
    result.others_can_read = (status.st_mode & S_IROTH) != 0;
    char buffer[16 * 1024];
    while (true) {
        const ssize_t got = ::read(file.fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return not_readable(errno);
        if (got == 0) return result;
        result.text.append(buffer, static_cast<std::size_t>(got));
        if (result.text.size() > max_document_bytes)
            return Error{Errc::bad_input, "larger than 1 MiB"};
    }
}

}  // namespace

Environment system_environment() {
    Environment environment;
    environment.variable = [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return std::string{value};
    };
    environment.read_file = read_small_file;
    environment.open_module = open_module;
    return environment;
}

}  // namespace reaper::config
