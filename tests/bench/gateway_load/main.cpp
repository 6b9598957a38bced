// The two ends of tests/bench/gateway: an upstream that answers at once, and a client that measures
// how long answers take, through one way after another. Threads that block: nothing is quicker.
//
//   gateway_load stub             prints its port; answers GET by the path, see below
//   gateway_load measure [--rounds N] [--small N] [--large N] NAME=PORT[:PID] ...   prints JSON
//   gateway_load hold PORT COUNT  opens so many connections, each with one answer; prints a line,
//                                 and leaves when stdin ends
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <iostream>
#include <map>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using std::chrono::steady_clock;

constexpr std::size_t small_size = 400;
constexpr std::size_t large_size = 4 * 1024 * 1024;

/// As Placement tells of so many hosts that have room; at least `size` bytes then, with traits.
std::string candidates(int hosts, std::size_t size) {
    nlohmann::json answer;
    const nlohmann::json slot = {{"MEMORY_MB", 2048}, {"VCPU", 2}};
    const std::size_t traits = size / static_cast<std::size_t>(hosts) / 32;
    for (int host = 0; host < hosts; ++host) {
        char id[37];
        std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d", host);
        answer["allocation_requests"].push_back(
            {{"allocations", {{id, {{"resources", slot}}}}}, {"mappings", {{"", {id}}}}});
        auto& summary = answer["provider_summaries"][id];
        summary = {{"parent_provider_uuid", nullptr}, {"root_provider_uuid", id}};
        for (const auto& [name, amount] : slot.items())
            summary["resources"][name] = {{"capacity", 64 * amount.get<int>()}, {"used", 0}};
        summary["traits"] = nlohmann::json::array();
        for (std::size_t trait = 0; trait < traits; ++trait)
            summary["traits"].push_back("HW_CPU_X86_FEATURE_" + std::to_string(100'000 + trait));
    }
    return answer.dump();
}

/// What is asked for, and what is answered.
struct Kind {
    std::string name, target, body;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = [] {
        const std::string search = "/allocation_candidates?limit=1000&resources=";
        std::vector<Kind> made;
        made.push_back({"small", "/small", std::string(small_size, 'x')});
        made.push_back({"large", "/large", std::string(large_size, 'x')});
        made.push_back({"search", search + "MEMORY_MB:2048,VCPU:2", candidates(100, 0)});
        made.push_back({"long-search", search + "VCPU:2", candidates(1'000, large_size)});
        return made;
    }();
    return all;
}

int new_socket() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

bool send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string answer_of(const Kind& kind) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(kind.body.size()) + "\r\n\r\n" + kind.body;
}

/// To the head of a request; the reaper may have put what is asked for into other words.
const std::string& answer_to(std::string_view head) {
    static const std::vector<std::string> answers = [] {
        std::vector<std::string> made;
        for (const Kind& kind : kinds()) made.push_back(answer_of(kind));
        return made;
    }();
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (line.starts_with("GET /allocation_candidates"))
        return answers[line.find("MEMORY_MB") != line.npos ? 2 : 3];
    return answers[line.starts_with("GET /large ") ? 1 : 0];
}

void serve(int fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string heard;
    char block[16 * 1024];
    for (ssize_t got = 0; (got = ::recv(fd, block, sizeof block, 0)) > 0;) {
        heard.append(block, static_cast<std::size_t>(got));
        for (auto end = heard.find("\r\n\r\n"); end != heard.npos; end = heard.find("\r\n\r\n")) {
            if (!send_all(fd, answer_to(heard))) break;
            heard.erase(0, end + 4);
        }
    }
    ::close(fd);
}

int stub() {
    const int listener = new_socket();
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener, 4096) != 0)
        return 1;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::cout << ntohs(address.sin_port) << std::endl;
    while (true) {
        const int fd = ::accept(listener, nullptr, nullptr);
        if (fd >= 0) std::thread(serve, fd).detach();
    }
}

/// One connection that is kept.
class Connection {
public:
    explicit Connection(int port) : fd_(new_socket()), block_(256 * 1024) {
        sockaddr_in address = loopback(port);
        if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("can't connect to port " + std::to_string(port));
    }
    Connection(Connection&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), block_(std::move(other.block_)) {}
    Connection& operator=(Connection&&) = delete;
    ~Connection() {
        if (fd_ >= 0) ::close(fd_);
    }

    /// Milliseconds from the request's first byte to the answer's last.
    double get(const Kind& kind) {
        const std::string request = "GET " + kind.target +
                                    " HTTP/1.1\r\nHost: placement\r\nX-Auth-Token: none\r\n" +
                                    "X-Openstack-Request-Id: req-00000000-0000-4000-8000-" +
                                    std::to_string(++asked_) + "\r\n\r\n";
        const auto began = steady_clock::now();
        if (!send_all(fd_, request)) throw std::runtime_error("the connection ended");
        std::size_t taken = 0, wanted = 0;
        std::string head;
        while (wanted == 0 || taken < wanted) {
            const ssize_t got = ::recv(fd_, block_.data(), block_.size(), 0);
            if (got <= 0) throw std::runtime_error("the answer broke off");
            taken += static_cast<std::size_t>(got);
            if (wanted != 0) continue;
            head.append(block_.data(), static_cast<std::size_t>(got));
            const auto end = head.find("\r\n\r\n");
            if (end != head.npos) wanted = end + 4 + kind.body.size();
        }
        const std::chrono::duration<double, std::milli> took = steady_clock::now() - began;
        if (!head.starts_with("HTTP/1.1 200 ") || taken != wanted)
            throw std::runtime_error("not the answer: " + head.substr(0, 200));
        return took.count();
    }

private:
    int fd_;
    std::uint64_t asked_ = 100'000'000'000;  // a request each, as of nova-scheduler
    std::vector<char> block_;
};

/// What all threads of the process have used so far, in milliseconds.
double cpu_ms(int pid) {
    if (pid == 0) return 0;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    double sum = 0;
    DIR* const tasks = ::opendir(folder.c_str());
    if (tasks == nullptr) return 0;
    while (const dirent* const entry = ::readdir(tasks)) {
        if (entry->d_name[0] == '.') continue;
        std::ifstream file(folder + "/" + entry->d_name + "/schedstat");
        double nanoseconds = 0;
        file >> nanoseconds;
        sum += nanoseconds / 1e6;
    }
    ::closedir(tasks);
    return sum;
}

struct Way {
    std::string name;
    int port = 0, pid = 0;
    std::vector<std::vector<double>> took = std::vector<std::vector<double>>(kinds().size());
    std::vector<double> cpu = std::vector<double>(kinds().size());
};

double percentile(std::vector<double>& values, double part) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
    return values[at];
}

int measure(const std::vector<std::string>& arguments) {
    std::map<std::string, int> counts{{"--rounds", 20}, {"--small", 20'000}, {"--large", 400}};
    std::vector<Way> ways;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (counts.contains(word)) {
            counts[word] = std::stoi(arguments.at(++i));
            continue;
        }
        const auto equals = word.find('='), colon = word.find(':');
        Way way;
        way.name = word.substr(0, equals);
        way.port = std::stoi(word.substr(equals + 1));
        if (colon != word.npos) way.pid = std::stoi(word.substr(colon + 1));
        ways.push_back(std::move(way));
    }
    const int rounds = counts["--rounds"];
    const int few = counts["--large"] / rounds, many = counts["--small"] / rounds;
    for (int round = 0; round < rounds; ++round) {
        for (Way& way : ways) {
            Connection connection(way.port);
            for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
                // The first one opens the connection behind.
                connection.get(kinds()[kind]);
                const double before = cpu_ms(way.pid);
                for (int i = 0; i < (kind % 2 == 0 ? many : few); ++i)
                    way.took[kind].push_back(connection.get(kinds()[kind]));
                way.cpu[kind] += cpu_ms(way.pid) - before;
            }
        }
        // Another order each time.
        std::rotate(ways.begin(), ways.begin() + 1, ways.end());
    }
    nlohmann::json said;
    for (Way& way : ways)
        for (std::size_t kind = 0; kind < kinds().size(); ++kind)
            said[way.name][kinds()[kind].name] = {
                {"bytes", kinds()[kind].body.size()},
                {"requests", way.took[kind].size()},
                {"median_ms", percentile(way.took[kind], 0.5)},
                {"p99_ms", percentile(way.took[kind], 0.99)},
                {"cpu_ms", way.cpu[kind] / static_cast<double>(way.took[kind].size())}};
    std::cout << said.dump() << std::endl;
    return 0;
}

int hold(int port, int count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<Connection> connections;
    for (int i = 0; i < count; ++i) {
        connections.emplace_back(port);
        connections.back().get(kinds().front());
    }
    std::cout << "held" << std::endl;
    std::string rest;
    while (std::getline(std::cin, rest)) {
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words.size() == 1 && words[0] == "stub") return stub();
        if (words.size() > 1 && words[0] == "measure")
            return measure({words.begin() + 1, words.end()});
        if (words.size() == 3 && words[0] == "hold")
            return hold(std::stoi(words[1]), std::stoi(words[2]));
    } catch (const std::exception& error) {
        std::cerr << "gateway_load: " << error.what() << "\n";
        return 1;
    }
    std::cerr << "gateway_load: stub | measure NAME=PORT[:PID] ... | hold PORT COUNT\n";
    return 2;
}
