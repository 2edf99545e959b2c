// SPDX-License-Identifier: BSD-3-Clause
#include "relay.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "frame.hpp"

namespace isochrone::lab {

namespace {

constexpr int most_frames_at_once = 16;  // of one host, before the others have their turn
constexpr Nanoseconds second = 1'000'000'000;

Nanoseconds now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

void watch(int events, int descriptor, std::uint32_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = number;
    if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
}

nlohmann::json report_of(const Traffic& traffic) {
    return {
        {"packets", traffic.packets}, {"bytes", traffic.bytes}, {"dropped_packets", traffic.dropped_packets}};
}

double seconds(Nanoseconds time) { return static_cast<double>(time) / static_cast<double>(second); }

}  // namespace

Relay::Relay(Network network, std::vector<Host> hosts, int status)
    : network_(std::move(network)),
      hosts_(std::move(hosts)),
      host_at_(network_.nodes().size(), -1),
      lateness_(hosts_.size()),
      status_(status),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      start_(now()),
      frame_(largest_frame_bytes) {
    if (events_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        host_at_[network_.hosts()[host]] = static_cast<int>(host);
        watch(events_, hosts_[host].tap, static_cast<std::uint32_t>(host));
    }
    watch(events_, status_, static_cast<std::uint32_t>(hosts_.size()));
}

void Relay::run() {
    for (;;) {
        hand_over(now());
        wait();
    }
}

void Relay::wait() {
    timespec timeout{};
    timespec* until = nullptr;
    if (const auto next = network_.next()) {
        const Nanoseconds left = std::max<Nanoseconds>(0, *next - now());
        timeout = {left / second, left % second};
        until = &timeout;
    }
    std::array<epoll_event, 64> ready{};
    const int count = epoll_pwait2(events_, ready.data(), static_cast<int>(ready.size()), until, nullptr);
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_pwait2");
    for (int i = 0; i < count; ++i) {
        const std::uint32_t number = ready[i].data.u32;
        if (number < hosts_.size()) {
            take_in(static_cast<int>(number));
        } else {
            answer();
        }
    }
}

void Relay::take_in(int host) {
    for (int i = 0; i < most_frames_at_once; ++i) {
        const ssize_t bytes = read(hosts_[host].tap, frame_.data(), frame_.size());
        if (bytes < 0) return;  // nothing more
        const std::span<const std::byte> frame(frame_.data(), static_cast<std::size_t>(bytes));
        if (!is_frame(frame)) continue;
        const Nanoseconds time = now();
        const int from = network_.hosts()[host];
        const std::uint8_t* address = destination(frame);
        const bool to_all = (address[0] & 1) != 0;
        const int one = host_of(address);
        if (!to_all && (one < 0 || one >= static_cast<int>(hosts_.size()))) ++foreign_;
        for (int other = 0; other < static_cast<int>(hosts_.size()); ++other) {
            if (other == host || !(to_all || other == one)) continue;
            network_.enter(from, network_.hosts()[other], burst_of(frame), time);
        }
    }
}

void Relay::hand_over(Nanoseconds time) {
    while (auto arrival = network_.leave(time)) {
        const int host = host_at_[arrival->host];
        const auto& content = arrival->burst.content;
        if (write(hosts_[host].tap, content.data(), content.size()) < 0) ++refused_;
        Lateness& lateness = lateness_[host];
        const Nanoseconds late = time - arrival->due;
        ++lateness.bursts;
        lateness.total += late;
        lateness.most = std::max(lateness.most, late);
        time = now();
    }
}

void Relay::answer() {
    const int peer = accept4(status_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer < 0) return;
    // A lab is small and the socket's buffer is not: whoever does not read gets no more than fits.
    const std::string text = report();
    (void)send(peer, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(peer);
}

std::string Relay::report() const {
    nlohmann::json links = nlohmann::json::array();
    for (std::size_t i = 1; i < network_.nodes().size(); ++i) {
        const int node = static_cast<int>(i);
        nlohmann::json link{{"name", network_.nodes()[i].name},
                            {"up", report_of(network_.up(node))},
                            {"down", report_of(network_.down(node))}};
        if (const int host = host_at_[i]; host >= 0) {
            const Lateness& late = lateness_[host];
            link["late_mean_s"] =
                late.bursts > 0 ? seconds(late.total) / static_cast<double>(late.bursts) : 0.0;
            link["late_max_s"] = seconds(late.most);
        }
        links.push_back(std::move(link));
    }
    return nlohmann::json{{"elapsed_s", seconds(now() - start_)},
                          {"links", std::move(links)},
                          {"refused_bursts", refused_},
                          {"foreign_frames", foreign_}}
               .dump() +
           "\n";
}

}  // namespace isochrone::lab
