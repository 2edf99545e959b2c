// SPDX-License-Identifier: BSD-3-Clause
//
// How many messages a pipeline keeps under way between two ranks.
#pragma once

#include <cstdint>

#include "place/layout.hpp"

namespace isochrone::core::place {

inline constexpr int least_window = 8;
inline constexpr int largest_window = 64;

/// So many messages of `segment_bytes` (0: any size) that the farthest link is never idle, least_window to
/// largest_window. A message that is sent by rendezvous is done after its request, the answer, the data and
/// their acknowledgement have each crossed the link: 4 L, and what of g(m) keeps the link busy. For others it
/// is enough as well. Not more than that: messages that share a link arrive together, and the next hop waits
/// for the first of them.
[[nodiscard]] int window(const Layout& layout, std::int64_t segment_bytes);

}  // namespace isochrone::core::place
