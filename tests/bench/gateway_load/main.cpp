// The two ends of tests/bench/gateway: an upstream that answers at once, and a client that measures
// how long answers take, through one way after another. Threads that block: nothing is quicker.
//
//   gateway_load stub [HOST ...]  prints its port; answers GET by the path, see stub.cpp
//   gateway_load measure [--rounds N] [--small N] [--large N] NAME=PORT[:PID] ...   prints JSON
//   gateway_load crowd PORT COUNT so many ask at once, each for its own long search; prints a line
//   gateway_load hold PORT COUNT  opens so many connections, each with one answer; prints a line,
//                                 and leaves when stdin ends
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <iostream>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/bench/gateway_load/stub.hpp"

namespace {

using std::chrono::steady_clock;

std::size_t length_told(const std::string& head) {
    for (const std::string name : {"\r\nContent-Length: ", "\r\ncontent-length: "})
        if (const auto at = head.find(name); at != head.npos)
            return std::stoul(head.substr(at + name.size(), 20));
    throw std::runtime_error("no length: " + head.substr(0, 200));
}

/// One connection that is kept.
class Connection {
public:
    explicit Connection(int port, int number = 0)
        : fd_(new_socket()),
          asked_(100'000'000'000 + 1'000'000'000ULL * static_cast<unsigned>(number)),
          block_(256 * 1024) {
        sockaddr_in address = loopback(port);
        if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("can't connect to port " + std::to_string(port));
    }
    Connection(Connection&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)),
          asked_(other.asked_),
          block_(std::move(other.block_)) {}
    Connection& operator=(Connection&&) = delete;
    ~Connection() {
        if (fd_ >= 0) ::close(fd_);
    }

    /// Milliseconds from the request's first byte to the answer's last. `exactly`: nothing may be
    /// left out of it.
    double get(const Kind& kind, bool exactly = true) {
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
            if (end != head.npos) wanted = end + 4 + length_told(head);
        }
        const std::chrono::duration<double, std::milli> took = steady_clock::now() - began;
        const bool whole = !exactly || length_told(head) == kind.body.size();
        if (!head.starts_with("HTTP/1.1 200 ") || taken != wanted || !whole)
            throw std::runtime_error("not the answer: " + head.substr(0, 200));
        return took.count();
    }

private:
    int fd_;
    std::uint64_t asked_;  // a request each, as of nova-scheduler
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
    std::vector<std::vector<double>> p99_of_rounds = took;
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
                std::vector<double> took;
                for (int i = 0; i < (kind % 2 == 0 ? many : few); ++i)
                    took.push_back(connection.get(kinds()[kind]));
                way.cpu[kind] += cpu_ms(way.pid) - before;
                way.took[kind].insert(way.took[kind].end(), took.begin(), took.end());
                way.p99_of_rounds[kind].push_back(percentile(took, 0.99));
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
                {"usual_p99_ms", percentile(way.p99_of_rounds[kind], 0.5)},
                {"cpu_ms", way.cpu[kind] / static_cast<double>(way.took[kind].size())}};
    std::cout << said.dump() << std::endl;
    return 0;
}

/// Waits for all answers; whether all came.
int crowd(int port, int count) {
    std::vector<Connection> connections;
    for (int i = 0; i < count; ++i) connections.emplace_back(port, i);
    std::latch together(count);
    std::atomic<int> answered = 0;
    std::vector<std::thread> threads;
    for (Connection& connection : connections)
        threads.emplace_back([&] {
            together.arrive_and_wait();
            try {
                connection.get(kinds().back(), false);
                ++answered;
            } catch (const std::exception& error) {
                std::cerr << "gateway_load: " << error.what() << "\n";
            }
        });
    for (std::thread& thread : threads) thread.join();
    std::cout << answered << " answers" << std::endl;
    return answered == count ? 0 : 1;
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
        if (!words.empty() && words[0] == "stub") return stub({words.begin() + 1, words.end()});
        if (words.size() > 1 && words[0] == "measure")
            return measure({words.begin() + 1, words.end()});
        if (words.size() == 3 && words[0] == "crowd")
            return crowd(std::stoi(words[1]), std::stoi(words[2]));
        if (words.size() == 3 && words[0] == "hold")
            return hold(std::stoi(words[1]), std::stoi(words[2]));
    } catch (const std::exception& error) {
        std::cerr << "gateway_load: " << error.what() << "\n";
        return 1;
    }
    std::cerr << "gateway_load: stub [HOST ...] | measure NAME=PORT[:PID] ... | crowd PORT COUNT | "
                 "hold PORT COUNT\n";
    return 2;
}
