// SPDX-License-Identifier: BSD-3-Clause
#include "route.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace isochrone::lab {

namespace {

/// A message of netlink (rtnetlink(7)), as it is put together.
struct Request {
    nlmsghdr head{};
    rtmsg route{};
    std::array<char, 128> space{};

    Request() { head.nlmsg_len = NLMSG_LENGTH(sizeof route); }

    rtattr* add(std::uint16_t type, const void* data, std::size_t bytes) {
        auto* const attribute = reinterpret_cast<rtattr*>(reinterpret_cast<char*>(this) + end());
        attribute->rta_type = type;
        attribute->rta_len = static_cast<std::uint16_t>(RTA_LENGTH(bytes));
        if (bytes > 0) std::memcpy(RTA_DATA(attribute), data, bytes);
        head.nlmsg_len = end() + RTA_ALIGN(attribute->rta_len);
        return attribute;
    }
    /// What was added after `outer` is inside it.
    void close(rtattr* outer) {
        outer->rta_len = static_cast<std::uint16_t>(reinterpret_cast<char*>(this) + end() -
                                                    reinterpret_cast<char*>(outer));
    }

  private:
    [[nodiscard]] std::uint32_t end() const { return NLMSG_ALIGN(head.nlmsg_len); }
};

/// The error that the system answers with; 0: none.
int ask(const Request& request) {
    const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (socket < 0) return errno;
    struct {
        nlmsghdr head;
        nlmsgerr error;
        std::array<char, 512> more;
    } answer{};
    int error = EPROTO;
    if (send(socket, &request, request.head.nlmsg_len, 0) < 0 ||
        recv(socket, &answer, sizeof answer, 0) < 0) {
        error = errno;
    } else if (answer.head.nlmsg_type == NLMSG_ERROR) {
        error = -answer.error.error;
    }
    close(socket);
    return error;
}

}  // namespace

in_addr netmask(int prefix_bits) { return {htonl(~0U << (32 - prefix_bits))}; }

void route_over(const char* card, in_addr address, int prefix_bits) {
    Request request;
    request.head.nlmsg_type = RTM_NEWROUTE;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    request.route.rtm_family = AF_INET;
    request.route.rtm_dst_len = static_cast<unsigned char>(prefix_bits);
    request.route.rtm_table = RT_TABLE_MAIN;
    request.route.rtm_protocol = RTPROT_KERNEL;
    request.route.rtm_scope = RT_SCOPE_LINK;
    request.route.rtm_type = RTN_UNICAST;
    const in_addr network{address.s_addr & netmask(prefix_bits).s_addr};
    const unsigned int index = if_nametoindex(card);
    request.add(RTA_DST, &network, sizeof network);
    request.add(RTA_OIF, &index, sizeof index);
    request.add(RTA_PREFSRC, &address, sizeof address);
    rtattr* const metrics = request.add(RTA_METRICS, nullptr, 0);
    request.add(RTAX_CC_ALGO, congestion_control, std::strlen(congestion_control) + 1);
    request.close(metrics);
    if (const int error = ask(request); error != 0) {
        // So it answers where it does not know the name.
        const std::string what = error == EINVAL
                                     ? std::string("hosts cannot have TCP's ") + congestion_control +
                                           ", load the module tcp_" + congestion_control
                                     : "a host cannot be given its route";
        throw std::runtime_error(what + ": " + std::generic_category().message(error));
    }
}

}  // namespace isochrone::lab
