// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "route.hpp"

namespace isochrone::lab {

namespace {

constexpr const char* card = "eth0";
constexpr int longest_queue = 10000;
constexpr int network_bits = 16;  // of addresses, that all hosts have in common

void require(bool done, const std::string& what) {
    if (!done) throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

/// Settings that only spare disturbance: where the system has none of that name, nothing is lost.
void write_setting(const char* path, const char* value) { std::ofstream(path) << value; }

void enter_namespaces(const std::string& name) {
    require(unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC) == 0,
            "namespaces for a host cannot be made");
    require(sethostname(name.c_str(), name.size()) == 0, "a host cannot be named");
    require(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mounts cannot be made private");
    require(mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, nullptr) == 0,
            "/dev/shm of a host cannot be mounted");
    // MPI libraries look into it for network cards. Where it cannot be had they look at the real machine's.
    (void)mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
    // Hosts would fill the network with neighbour and router requests of IPv6.
    write_setting("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

int open_tap() {
    const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    require(tap >= 0, "/dev/net/tun cannot be opened");
    ifreq request{};
    std::strncpy(request.ifr_name, card, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    require(ioctl(tap, TUNSETIFF, &request) == 0, "a TAP device cannot be made");
    // Long bursts come and go in one piece: one system call instead of 45.
    require(ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) == 0,
            "a TAP device cannot take bursts");
    return tap;
}

in_addr address_of(const std::string& text) {
    in_addr address{};
    inet_pton(AF_INET, text.c_str(), &address);
    return address;
}

sockaddr internet_address(in_addr one) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr = one;
    sockaddr general{};
    std::memcpy(&general, &address, sizeof address);
    return general;
}

void bring_up(int socket, const char* interface) {
    ifreq request{};
    std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
    require(ioctl(socket, SIOCGIFFLAGS, &request) == 0, "the state of a network card cannot be read");
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
    require(ioctl(socket, SIOCSIFFLAGS, &request) == 0, "a network card cannot be brought up");
}

sockaddr ethernet_address(int host) {
    sockaddr address{};
    address.sa_family = ARPHRD_ETHER;
    std::memcpy(address.sa_data, hardware_address(host).data(), 6);
    return address;
}

void configure(const std::vector<HostName>& hosts, int number) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    require(socket >= 0, "a socket cannot be made");
    ifreq request{};
    std::strncpy(request.ifr_name, card, IFNAMSIZ - 1);
    request.ifr_hwaddr = ethernet_address(number);
    require(ioctl(socket, SIOCSIFHWADDR, &request) == 0, "a network card cannot be given its address");
    // For root of the machine only. In a user namespace the queue stays as it is, which bursts of whole
    // messages rarely fill.
    request.ifr_qlen = longest_queue;
    (void)ioctl(socket, SIOCSIFTXQLEN, &request);
    request.ifr_addr = internet_address(address_of(hosts[number].address));
    require(ioctl(socket, SIOCSIFADDR, &request) == 0, "a host cannot be given its address");
    request.ifr_netmask = internet_address(netmask(network_bits));
    require(ioctl(socket, SIOCSIFNETMASK, &request) == 0, "a host cannot be given its netmask");
    bring_up(socket, "lo");
    bring_up(socket, card);
    route_over(card, address_of(hosts[number].address), network_bits);
    // Hosts know each other from the start: no first message waits for an address to be found.
    for (int other = 0; other < static_cast<int>(hosts.size()); ++other) {
        if (other == number) continue;
        arpreq entry{};
        entry.arp_pa = internet_address(address_of(hosts[other].address));
        entry.arp_ha = ethernet_address(other);
        entry.arp_flags = ATF_COM | ATF_PERM;
        std::strncpy(entry.arp_dev, card, sizeof entry.arp_dev - 1);
        require(ioctl(socket, SIOCSARP, &entry) == 0, "a host cannot be told of another");
    }
    close(socket);
}

/// One message with a file descriptor (none: -1) and a text beside it.
void give(int socket, int descriptor, const std::string& text) {
    iovec data{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = space;
        message.msg_controllen = sizeof space;
        cmsghdr* control = CMSG_FIRSTHDR(&message);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
    }
    (void)sendmsg(socket, &message, MSG_NOSIGNAL);
}

int take(int socket) {
    char text[512] = {};
    iovec data{text, sizeof text - 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    require(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) > 0, "a host ended while it was starting");
    const cmsghdr* control = CMSG_FIRSTHDR(&message);
    if (control == nullptr) throw std::runtime_error(text);
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
    return descriptor;
}

/// Holds on to nothing of the lab's but its end of the socket.
int let_go(int socket) {
    constexpr int kept = STDERR_FILENO + 1;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    require(null >= 0, "/dev/null cannot be opened");
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
    if (socket != kept) dup2(socket, kept);
    require(close_range(kept + 1, ~0U, 0) == 0, "files cannot be closed");
    return kept;
}

[[noreturn]] void be_host(const std::vector<HostName>& hosts, int number, int socket) {
    try {
        socket = let_go(socket);
        enter_namespaces(hosts[number].name);
        const int tap = open_tap();
        configure(hosts, number);
        give(socket, tap, "ok");
        close(tap);
    } catch (const std::exception& error) {
        give(socket, -1, hosts[number].name + ": " + error.what());
        _exit(1);
    }
    close(socket);
    for (;;) pause();
}

}  // namespace

HardwareAddress hardware_address(int host) {
    return {0x02, 0, 0, 0, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
}

int host_of(const std::uint8_t* address) {
    const bool ours = address[0] == 0x02 && address[1] == 0 && address[2] == 0 && address[3] == 0;
    return ours ? address[4] << 8 | address[5] : -1;
}

Host start_host(const std::vector<HostName>& hosts, int number) {
    int pair[2];
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "a socket cannot be made");
    const pid_t process = fork();
    require(process >= 0, "a process cannot be made");
    if (process == 0) {
        close(pair[0]);
        be_host(hosts, number, pair[1]);
    }
    close(pair[1]);
    Host host{process, -1};
    try {
        host.tap = take(pair[0]);
    } catch (...) {
        close(pair[0]);
        throw;
    }
    close(pair[0]);
    return host;
}

}  // namespace isochrone::lab
