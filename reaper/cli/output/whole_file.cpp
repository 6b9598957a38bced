#include "reaper/cli/output/whole_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace reaper::cli {
namespace {

Error failed(const std::string& path, int number) {
    return {Errc::storage, path + " can't be written: " + std::strerror(number)};
}

/// Removed unless it was kept.
struct Temporary {
    std::string path;
    bool kept = false;
    ~Temporary() {
        if (!kept) ::unlink(path.c_str());
    }
};

int sync(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (file < 0) return errno;
    const int result = ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    return result;
}

/// 0, or errno.
int write_to(const std::string& path, const std::function<void(std::ostream&)>& write) {
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (out) write(out);
    out.close();
    if (out) return 0;
    return errno == 0 ? EIO : errno;
}

}  // namespace

Result<void> write_whole_file(const std::string& path,
                              const std::function<void(std::ostream&)>& write) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (std::filesystem::is_directory(status)) return failed(path, EISDIR);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        if (const int error = write_to(path, write); error != 0) return failed(path, error);
        return {};
    }
    Temporary temporary{path + ".XXXXXX"};
    const int made = ::mkstemp(temporary.path.data());
    if (made < 0) {
        temporary.kept = true;  // there is none
        return failed(path, errno);
    }
    ::close(made);
    int error = write_to(temporary.path, write);
    if (error == 0) error = sync(temporary.path, O_RDONLY);
    if (error == 0 && ::rename(temporary.path.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) return failed(path, error);
    temporary.kept = true;
    const auto folder = std::filesystem::absolute(path).parent_path();
    sync(folder,
         O_RDONLY | O_DIRECTORY);  // some file systems can't; the file is there anyway
    return {};
}

}  // namespace reaper::cli
