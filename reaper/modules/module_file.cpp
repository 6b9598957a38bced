#include "reaper/modules/module_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

Error wrong(std::string what) {
    return {Errc::bad_input, std::move(what)};
}

std::string error_text() {
    return std::strerror(errno);
}

/// Any user who may write it would have the reaper's rights.
Result<void> check_owner(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        return wrong("can't look at " + path + ": " + error_text());
    if (status.st_uid != 0)
        return wrong(path + " belongs to user " + std::to_string(status.st_uid) +
                     ", and what may be written by others than root is not run; do: chown root " +
                     path);
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
        return wrong("others than root may write " + path + "; do: chmod go-w " + path);
    return {};
}

Result<void> check_owners(const std::string& path) {
    for (std::string at = path; !at.empty(); at.resize(at.rfind('/')))
        if (auto good = check_owner(at); !good) return good;
    return check_owner("/");
}

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    int fd;
};

Result<std::string> digest_of(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0) return wrong("can't read " + path + ": " + error_text());
    struct stat status {};
    if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode))
        return wrong(path + " is no file");
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                          EVP_MD_CTX_free};
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
        return wrong("OpenSSL has no SHA-256");
    std::array<char, 64 * 1024> buffer{};
    while (true) {
        const ssize_t got = ::read(file.fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return wrong("can't read " + path + ": " + error_text());
        if (got == 0) break;
        EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(got));
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context.get(), digest.data(), &size);
    return hexadecimal({digest.data(), size});
}

/// The entry, if it is one that this program understands.
Result<const ModuleEntry*> entry_of(void* library, const std::string& path) {
    const auto* const entry = static_cast<const ModuleEntry*>(::dlsym(library, "reaper_module"));
    if (entry == nullptr)
        return wrong(path +
                     " is no module of the reaper: it has no symbol reaper_module; see "
                     "REAPER_MODULE in reaper/modules/module.hpp");
    if (entry->interface_version != module_interface_version)
        return wrong(path + " has version " + std::to_string(entry->interface_version) +
                     " of the interface, and this program " +
                     std::to_string(module_interface_version) +
                     "; compile it again with the headers of openstack-reaper-dev " +
                     REAPER_INTERFACE_VERSION);
    if (std::strcmp(entry->interface_digest, REAPER_INTERFACE_DIGEST) != 0)
        return wrong(path + " was compiled with the headers " + entry->interface_digest + " of " +
                     entry->program_version + ", and this program has " REAPER_INTERFACE_DIGEST +
                     " of " REAPER_INTERFACE_VERSION +
                     "; compile it again with the package openstack-reaper-dev of this program");
    return entry;
}

}  // namespace

Result<ModuleFile> open_module(const std::string& path, const std::string& sha256) {
    if (!path.starts_with('/')) return wrong("is not an absolute path: " + path);
    const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                           std::free};
    if (!real) return wrong("can't find " + path + ": " + error_text());
    ModuleFile file{real.get(), "", {}};
    if (auto good = check_owners(file.path); !good) return good.error();
    auto digest = digest_of(file.path);
    if (!digest) return digest.error();
    file.sha256 = std::move(*digest);
    if (!sha256.empty() && sha256 != file.sha256)
        return wrong(file.path + " has the SHA-256 " + file.sha256 +
                     ", and the configuration says " + sha256 + ": it is not the intended file");
    void* const library = ::dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return wrong("can't be loaded: " + std::string{::dlerror()});
    auto entry = entry_of(library, file.path);
    if (!entry) return entry.error();
    try {
        file.info = (*entry)->info();
    } catch (const std::exception& exception) {
        return wrong(file.path + " fails when it describes itself: " + exception.what());
    } catch (...) {
        return wrong(file.path + " fails when it describes itself");
    }
    if (file.info.name.empty() || file.info.make == nullptr)
        return wrong(file.path + " has no name, or no function that makes its parts");
    return file;
}

}  // namespace reaper
