// What both ends of tests/bench/gateway know: what is asked for and answered, and sockets.
#pragma once

#include <netinet/in.h>
#include <string>
#include <string_view>
#include <vector>

/// What is asked for, and what is answered.
struct Kind {
    std::string name, target, body;
};

const std::vector<Kind>& kinds();

int new_socket();
sockaddr_in loopback(int port);
bool send_all(int fd, std::string_view text);

/// An upstream that answers at once, each in a thread; prints its port, and never returns. Searches
/// find these hosts, and others.
int stub(std::vector<std::string> hosts);
