#include "tests/support/mariadb_server.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace reaper::journal::test {
namespace {

constexpr std::array<const char*, 2> programs{"/usr/sbin/mariadbd", "/usr/libexec/mariadbd"};
constexpr std::chrono::minutes longest_start{3};

std::string mariadb_program() {
    for (const char* const program : programs)
        if (std::filesystem::exists(program)) return program;
    return {};
}

std::uint16_t free_port_of_loopback() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("no port for MariaDB");
    ::close(socket);
    return ntohs(address.sin_port);
}

pid_t run_program(const std::vector<std::string>& words, const std::string& log,
                  const std::string& input = "/dev/null") {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(::open(input.c_str(), O_RDONLY), 0);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

}  // namespace

bool mariadb_installed() {
    return !mariadb_program().empty();
}

MariadbServer::MariadbServer(const Options& options) : options_(options) {
    std::string name = (std::filesystem::temp_directory_path() / "reaper-mariadb-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for MariaDB");
    folder_ = name;
    std::filesystem::create_directory(folder_ / "data");
    if (options_.users) {
        port_ = free_port_of_loopback();
        make_users();
    }
    start();
}

MariadbServer::~MariadbServer() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

MariadbServer& MariadbServer::shared() {
    static MariadbServer server{Options{}};
    return server;
}

void MariadbServer::start() {
    std::vector<std::string> words{mariadb_program(),
                                   "--no-defaults",
                                   "--datadir=" + (folder_ / "data").string(),
                                   "--socket=" + (folder_ / "socket").string(),
                                   "--pid-file=" + (folder_ / "pid").string(),
                                   "--performance-schema=OFF",
                                   "--innodb-buffer-pool-size=16M",
                                   "--innodb-log-file-size=4M",
                                   "--innodb-flush-log-at-trx-commit=0",
                                   "--innodb-use-native-aio=0",
                                   "--innodb-undo-tablespaces=0"};
    if (::getuid() == 0) words.emplace_back("--user=root");
    if (!options_.users) {
        words.emplace_back("--skip-grant-tables");
        words.emplace_back("--skip-networking");
    } else {
        words.emplace_back("--bind-address=127.0.0.1");
        words.emplace_back("--port=" + std::to_string(port_));
    }
    words.insert(words.end(), options_.more.begin(), options_.more.end());
    process_ = run_program(words, (folder_ / "log").string());
    wait_until_it_answers();
}

// What mariadb-install-db does, without its help texts and time zones.
void MariadbServer::make_users() {
    const std::string script = (folder_ / "users.sql").string();
    const std::string make =
        "{ printf 'CREATE DATABASE mysql;\\nUSE mysql;\\nSET @auth_root_socket = NULL;\\n'; "
        "cat /usr/share/mysql/mysql_system_tables.sql "
        "/usr/share/mysql/mysql_performance_tables.sql "
        "/usr/share/mysql/mysql_system_tables_data.sql; } >" +
        script;
    if (std::system(make.c_str()) != 0) throw std::runtime_error("no tables of MariaDB's users");
    std::vector<std::string> words{mariadb_program(),
                                   "--no-defaults",
                                   "--datadir=" + (folder_ / "data").string(),
                                   "--bootstrap",
                                   "--log-warnings=0",
                                   "--enforce-storage-engine=",
                                   "--innodb-log-file-size=4M",
                                   "--innodb-use-native-aio=0",
                                   "--innodb-undo-tablespaces=0"};
    if (::getuid() == 0) words.emplace_back("--user=root");
    int status = 0;
    ::waitpid(run_program(words, (folder_ / "log").string(), script), &status, 0);
    if (status != 0) throw std::runtime_error("MariaDB can't be set up: " + folder_.string());
}

void MariadbServer::wait_until_it_answers() {
    const auto end = std::chrono::steady_clock::now() + longest_start;
    while (true) {
        try {
            execute("DO 1");
            return;
        } catch (const DatabaseFailure& failure) {
            if (::waitpid(process_, nullptr, WNOHANG) == process_ ||
                std::chrono::steady_clock::now() > end)
                throw std::runtime_error("MariaDB does not start: " + failure.message + "; " +
                                         (folder_ / "log").string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

MariadbAddress MariadbServer::address(const std::string& database) const {
    MariadbAddress address;
    address.socket = (folder_ / "socket").string();
    address.user = "root";
    address.database = database;
    address.timeout = std::chrono::seconds{60};  // the machine may be slow
    return address;
}

MariadbAddress MariadbServer::new_database() {
    const std::string name = "test_" + std::to_string(++databases_);
    execute("CREATE DATABASE " + name);
    return address(name);
}

void MariadbServer::execute(const std::string& sql, const std::string& database) {
    MariadbDatabase{address(database), MariadbDatabase::Use::reading}.execute(sql);
}

void MariadbServer::stop() {
    if (process_ < 0) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

void MariadbServer::kill() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

}  // namespace reaper::journal::test
