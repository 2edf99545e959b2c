// SPDX-License-Identifier: BSD-3-Clause
#include "frame.hpp"

#include <algorithm>
#include <cstring>

namespace isochrone::lab {

namespace {

/// struct virtio_net_hdr of virtio 1.2, section 5.1.6; <linux/virtio_net.h> is not valid C++.
struct VirtioHeader {
    std::uint8_t flags;
    std::uint8_t gso_type;  ///< 0: a single packet
    std::uint16_t hdr_len;
    std::uint16_t gso_size;
    std::uint16_t csum_start;
    std::uint16_t csum_offset;
};
static_assert(sizeof(VirtioHeader) == virtio_header_bytes);

}  // namespace

const std::uint8_t* destination(std::span<const std::byte> frame) {
    return reinterpret_cast<const std::uint8_t*>(frame.data()) + virtio_header_bytes;
}

Burst burst_of(std::span<const std::byte> frame) {
    VirtioHeader header{};
    std::memcpy(&header, frame.data(), sizeof header);
    const auto bytes = static_cast<std::int64_t>(frame.size() - virtio_header_bytes);
    Burst burst{bytes, 1, bytes, {frame.begin(), frame.end()}};
    const std::int64_t head = header.hdr_len;
    if (header.gso_type != 0 && header.gso_size > 0 && head > 0 && head < bytes) {
        // Each packet repeats the headers.
        const std::int64_t data = bytes - head;
        burst.packets = (data + header.gso_size - 1) / header.gso_size;
        burst.bytes = data + burst.packets * head;
        burst.packet_bytes = std::min<std::int64_t>(burst.bytes, header.gso_size + head);
    }
    return burst;
}

}  // namespace isochrone::lab
