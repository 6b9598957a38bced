#include "tests/bench/gateway_load/stub.hpp"

#include <arpa/inet.h>
#include <cstdio>
#include <iostream>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

constexpr std::size_t small_size = 400;
constexpr std::size_t large_size = 4 * 1024 * 1024;

std::vector<std::string>& known_hosts() {
    static std::vector<std::string> known;
    return known;
}

/// As Placement tells of so many hosts that have room, the known ones first; at least `size` bytes
/// then, with traits.
std::string candidates(int hosts, std::size_t size) {
    nlohmann::json answer;
    const nlohmann::json slot = {{"MEMORY_MB", 2048}, {"VCPU", 2}};
    const std::size_t traits = size / static_cast<std::size_t>(hosts) / 32;
    for (int host = 0; host < hosts; ++host) {
        char made[37];
        std::snprintf(made, sizeof made, "00000000-0000-4000-8000-%012d", host);
        const auto at = static_cast<std::size_t>(host);
        const std::vector<std::string>& known = known_hosts();
        const std::string id = at < known.size() ? known[at] : made;
        answer["allocation_requests"].push_back(
            {{"allocations", {{id, {{"resources", slot}}}}}, {"mappings", {{"", {id}}}}});
        auto& summary = answer["provider_summaries"][id];
        summary = {{"parent_provider_uuid", nullptr}, {"root_provider_uuid", id}};
        for (const auto& [name, amount] : slot.items())
            summary["resources"][name] = {{"capacity", 4 * amount.get<int>()}, {"used", 0}};
        summary["traits"] = nlohmann::json::array();
        for (std::size_t trait = 0; trait < traits; ++trait)
            summary["traits"].push_back("HW_CPU_X86_FEATURE_" + std::to_string(100'000 + trait));
    }
    return answer.dump();
}

}  // namespace

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

namespace {

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

}  // namespace

int stub(std::vector<std::string> hosts) {
    known_hosts() = std::move(hosts);
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
