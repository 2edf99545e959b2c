// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/client.hpp"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace isochrone::mpi::fabric {
namespace {

using Clock = std::chrono::steady_clock;
using core::place::DelayBy;
using core::place::FabricServer;

/// For all of it: ranks wait in MPI_Init.
constexpr std::chrono::seconds patience{5};
constexpr const char* silent = "does not answer";
constexpr std::size_t longest_error = 300;
constexpr std::uint16_t no_route = 65535;

/// A socket, closed at the end.
class Socket {
  public:
    explicit Socket(int number = -1) : number_(number) {}
    ~Socket() {
        if (number_ >= 0) close(number_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    void swap(Socket& other) { std::swap(number_, other.number_); }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool is_open() const { return number_ >= 0; }

  private:
    int number_;
};

/// Threads that begin meanwhile get none of the program's signals, which are for its own threads.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

struct Addresses {
    int code = 0;  ///< of getaddrinfo
    std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all{nullptr, freeaddrinfo};
};

/// A name server that does not answer holds getaddrinfo up for as long as the resolver is told to wait, so it
/// runs in a thread of its own, which outlives whoever has given up.
std::future<Addresses> start_looking_up(const FabricServer& server) {
    std::promise<Addresses> promise;
    auto answer = promise.get_future();
    const SignalsBlocked blocked;
    std::thread([server, promise = std::move(promise)]() mutable {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        Addresses result;
        result.code = getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
        if (result.code == 0) result.all.reset(found);
        promise.set_value(std::move(result));
    }).detach();
    return answer;
}

/// A connection that gives up when time is over.
class Connection {
  public:
    explicit Connection(const FabricServer& server) : where_(server.host + ":" + server.port) {
        auto answer = start_looking_up(server);
        if (answer.wait_until(end_) != std::future_status::ready)
            throw failure("its name is not found in time");
        const Addresses found = answer.get();
        if (found.code != 0) throw failure(gai_strerror(found.code));
        std::vector<const addrinfo*> all;
        for (const addrinfo* one = found.all.get(); one != nullptr; one = one->ai_next) all.push_back(one);
        int why = 0;
        for (std::size_t tried = 0; tried < all.size() && !socket_.is_open(); ++tried) {
            // One that is silent leaves the others their share of the time.
            const auto share = (end_ - Clock::now()) / static_cast<int>(all.size() - tried);
            why = try_(*all[tried], Clock::now() + share);
        }
        if (!socket_.is_open()) throw failure(why == ETIMEDOUT ? silent : std::strerror(why));
    }

    void send_all(std::string_view text) {
        while (!text.empty()) {
            wait_for_server(POLLOUT);
            const auto sent = ::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN && errno != EINTR) throw failure(std::strerror(errno));
            if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    /// Without its end, and at most so long.
    std::string line(std::size_t longest) {
        std::size_t end = 0;
        while ((end = read_.find('\n')) == std::string::npos) {
            if (read_.size() > longest) throw failure("what answers is no fabric server");
            receive();
        }
        std::string result = read_.substr(0, end);
        read_.erase(0, end + 1);
        return result;
    }

    std::string bytes(std::size_t count) {
        while (read_.size() < count) receive();
        return read_.substr(0, count);
    }

    [[nodiscard]] std::runtime_error failure(const std::string& why) const {
        return std::runtime_error("the fabric server " + where_ + ": " + why);
    }

  private:
    /// Returns why not, as errno has it.
    int try_(const addrinfo& one, Clock::time_point end) {
        Socket made(socket(one.ai_family, one.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one.ai_protocol));
        if (!made.is_open()) return errno;
        int why = connect(made.number(), one.ai_addr, one.ai_addrlen) == 0 ? 0 : errno;
        if (why == EINPROGRESS) {
            if (!is_ready(made, POLLOUT, end)) return ETIMEDOUT;
            socklen_t length = sizeof why;
            if (getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &why, &length) != 0) why = errno;
        }
        if (why == 0) socket_.swap(made);
        return why;
    }

    /// Whether it comes so far until then.
    [[nodiscard]] bool is_ready(const Socket& socket, short what, Clock::time_point end) const {
        for (;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
            pollfd one{socket.number(), what, 0};
            const int ready = left.count() > 0 ? poll(&one, 1, static_cast<int>(left.count())) : 0;
            if (ready >= 0) return ready > 0;
            if (errno != EINTR) throw failure(std::strerror(errno));
        }
    }

    void wait_for_server(short what) const {
        if (!is_ready(socket_, what, end_)) throw failure(silent);
    }

    void receive() {
        wait_for_server(POLLIN);
        char part[65536];
        const auto got = recv(socket_.number(), part, sizeof part, MSG_DONTWAIT);
        if (got == 0) throw failure("ended before it had answered");
        if (got < 0 && errno != EAGAIN && errno != EINTR) throw failure(std::strerror(errno));
        if (got > 0) read_.append(part, static_cast<std::size_t>(got));
    }

    std::string where_;
    Socket socket_;
    Clock::time_point end_ = Clock::now() + patience;
    std::string read_;
};

/// The bytes of a number come lowest first, whatever this processor's order.
std::uint32_t little_endian(const char* bytes, std::size_t width) {
    std::uint32_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

float figure(const char* bytes, bool is_hops) {
    if (is_hops) {
        const auto hops = little_endian(bytes, sizeof(std::uint16_t));
        return hops == no_route ? std::numeric_limits<float>::infinity() : static_cast<float>(hops);
    }
    const auto bits = little_endian(bytes, sizeof(float));
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace

Hosts hosts_of(const std::vector<comm::Place>& ranks) {
    Hosts hosts;
    std::map<std::string, int> numbers;
    for (const auto& rank : ranks) {
        const auto [found, is_new] = numbers.try_emplace(rank.host, static_cast<int>(hosts.names.size()));
        if (is_new) hosts.names.push_back(rank.host);
        hosts.of_rank.push_back(found->second);
    }
    return hosts;
}

std::string ask(const FabricServer& server, const std::vector<std::string>& hosts) {
    const bool is_hops = server.by == DelayBy::hops;
    std::string question = is_hops ? "matrix hops " : "matrix speed ";
    for (const auto& host : hosts) {
        // Such a name would be read as several.
        if (host.empty() || host.find_first_of(", \t\r\n") != std::string::npos)
            throw std::runtime_error("host '" + host + "' cannot be on a fabric");
        question += host + ",";
    }
    question.back() = '\n';
    Connection connection(server);
    connection.send_all(question);
    const std::size_t width = is_hops ? sizeof(std::uint16_t) : sizeof(float);
    const std::size_t size = hosts.size() * hosts.size();
    const std::string wanted = std::string("matrix ") + (is_hops ? "hops " : "speed ") +
                               std::to_string(hosts.size()) + (is_hops ? " uint16 " : " float32 ") +
                               std::to_string(size * width);
    const std::string head = connection.line(longest_error);
    if (head != wanted) {
        if (!head.starts_with("error ")) throw connection.failure("what answers is no fabric server");
        std::string why = head.substr(6, longest_error);
        // Whoever answers has written it, and it comes to a terminal.
        std::replace_if(
            why.begin(), why.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
        throw connection.failure(why);
    }
    const std::string bytes = connection.bytes(size * width);
    std::string asked(1, static_cast<char>(server.by));
    for (std::size_t i = 0; i < size; ++i) {
        const float one = figure(bytes.data() + i * width, is_hops);
        asked.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
    return asked;
}

void set_delays(core::place::Layout& layout, Hosts hosts, std::string_view asked) {
    const auto by = static_cast<DelayBy>(asked.front());
    asked.remove_prefix(1);
    std::vector<float> figures(asked.size() / sizeof(float));
    std::memcpy(figures.data(), asked.data(), asked.size());
    core::place::set_delays(layout, std::move(hosts.of_rank), by, std::move(figures));
}

}  // namespace isochrone::mpi::fabric
