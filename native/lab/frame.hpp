// SPDX-License-Identifier: BSD-3-Clause
//
// A frame as a TAP device gives it: a virtio_net_hdr, then Ethernet. It may stand for several packets, which
// the kernel would have cut it into for a real network card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "network.hpp"

namespace isochrone::lab {

inline constexpr std::size_t virtio_header_bytes = 10;
inline constexpr std::size_t ethernet_header_bytes = 14;
inline constexpr std::size_t largest_frame_bytes = virtio_header_bytes + ethernet_header_bytes + 65536;

[[nodiscard]] inline bool is_frame(std::span<const std::byte> frame) {
    return frame.size() >= virtio_header_bytes + ethernet_header_bytes;
}

/// Its destination; 6 bytes.
[[nodiscard]] const std::uint8_t* destination(std::span<const std::byte> frame);

/// The burst of packets that it stands for, with a copy of the frame as its content.
[[nodiscard]] Burst burst_of(std::span<const std::byte> frame);

}  // namespace isochrone::lab
