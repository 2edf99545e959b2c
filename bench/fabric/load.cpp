// SPDX-License-Identifier: BSD-3-Clause
//
// Load for a fabric server: connections that each ask one line after the other, from one thread.
//
//   load PORT CONNECTIONS SECONDS AHEAD < lines
//
// Each connection asks the lines of the input in turn, from a place of its own, and has AHEAD of them
// unanswered. Writes answers, errors and lost connections, and quantiles of the time from asking to the
// answer's end, as JSON. With AHEAD 0 connections are only held for so long, and those that end are counted.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Client {
    int socket = -1;
    std::size_t next = 0;
    std::deque<Clock::time_point> asked;
    bool at_start = true;  // of an answer
};

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

int connected(int port) {
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0) fail("socket");
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(made, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fail("connect");
    const int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS AHEAD < lines\n");
        return 2;
    }
    const int port = std::atoi(arguments[1]);
    const auto connections = static_cast<std::size_t>(std::atoi(arguments[2]));
    const double seconds = std::atof(arguments[3]);
    const int ahead = std::atoi(arguments[4]);
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) lines.push_back(line + "\n");
    if (lines.empty() && ahead > 0) return 2;

    std::vector<Client> clients(connections);
    const int poll = epoll_create1(0);
    for (std::size_t at = 0; at < connections; ++at) {
        clients[at].socket = connected(port);
        if (!lines.empty()) clients[at].next = at * 7919 % lines.size();
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = at;
        epoll_ctl(poll, EPOLL_CTL_ADD, clients[at].socket, &event);
    }

    std::size_t answers = 0, errors = 0, lost = 0;
    std::vector<float> waits_us;
    waits_us.reserve(1 << 22);
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration<double>(seconds);
    const auto ask = [&](Client& client) {
        const auto& line = lines[client.next];
        client.next = (client.next + 1) % lines.size();
        client.asked.push_back(Clock::now());
        if (send(client.socket, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
            ++lost;
    };
    for (auto& client : clients)
        for (int nth = 0; nth < ahead; ++nth) ask(client);
    std::vector<epoll_event> events(1024);
    std::vector<char> room(1 << 16);
    auto now = begin;
    while (now < end) {
        const int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 100);
        for (int nth = 0; nth < ready; ++nth) {
            auto& client = clients[events[static_cast<std::size_t>(nth)].data.u64];
            const auto got = recv(client.socket, room.data(), room.size(), 0);
            if (got <= 0) {
                ++lost;
                epoll_ctl(poll, EPOLL_CTL_DEL, client.socket, nullptr);
                continue;
            }
            now = Clock::now();
            const char* from = room.data();
            const char* const stop = from + got;
            while (from < stop) {
                if (client.at_start && *from == 'e') ++errors;
                const auto* found = static_cast<const char*>(
                    std::memchr(from, '\n', static_cast<std::size_t>(stop - from)));
                client.at_start = found != nullptr;
                if (found == nullptr || client.asked.empty()) break;
                ++answers;
                waits_us.push_back(std::chrono::duration<float, std::micro>(now - client.asked.front()).count());
                client.asked.pop_front();
                ask(client);
                from = found + 1;
            }
        }
        now = Clock::now();
    }
    const double took = std::chrono::duration<double>(now - begin).count();
    std::sort(waits_us.begin(), waits_us.end());
    const auto quantile = [&](double part) {
        return waits_us.empty() ? 0.0F
                                : waits_us[static_cast<std::size_t>(part * static_cast<double>(waits_us.size() - 1))];
    };
    std::printf("{\"connections\": %zu, \"ahead\": %d, \"seconds\": %.3f, \"answers\": %zu, \"errors\": %zu, "
                "\"lost\": %zu, \"per_second\": %.0f, \"median_us\": %.1f, \"p99_us\": %.1f, \"most_us\": %.1f}\n",
                connections, ahead, took, answers, errors, lost, static_cast<double>(answers) / took,
                static_cast<double>(quantile(0.5)), static_cast<double>(quantile(0.99)),
                static_cast<double>(quantile(1)));
    return 0;
}
