// SPDX-License-Identifier: BSD-3-Clause
//
// The patterns, one row each.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "patterns/peers.hpp"

namespace isochrone::core::patterns {
namespace {

std::int64_t one(int /*size*/) { return 1; }
std::int64_t two(int /*size*/) { return 2; }
std::int64_t of_pairs(int size) { return size / 2; }
std::int64_t of_senders(int size) { return size - 1; }
/// What one rank sends and gets.
std::int64_t of_neighbours(int size) { return 2 * static_cast<std::int64_t>(grid(0, size, 0).to.size()); }

constexpr auto table = std::to_array<Pattern>({
    {.name = "pingpong",
     .words = "ping-pong of ranks 0 and 1",
     .like = "osu_latency, IMB-MPI1 PingPong",
     .flow = Flow::ping_pong,
     .peers = both_ways,
     .messages = one},
    {.name = "pingping",
     .words = "ping-ping of ranks 0 and 1",
     .like = "IMB-MPI1 PingPing",
     .flow = Flow::exchange,
     .peers = both_ways,
     .messages = one},
    {.name = "bandwidth",
     .words = "stream from rank 0 to rank 1",
     .like = "osu_bw",
     .flow = Flow::stream,
     .peers = one_way,
     .messages = one},
    {.name = "bidirectional",
     .words = "stream both ways between ranks 0 and 1",
     .like = "osu_bibw",
     .flow = Flow::stream,
     .peers = both_ways,
     .messages = two},
    {.name = "multipair",
     .words = "stream from each rank of the first half to one of the second",
     .like = "osu_mbw_mr",
     .flow = Flow::stream,
     .peers = halves,
     .messages = of_pairs},
    {.name = "fanin",
     .words = "fan-in of streams from all ranks to the root",
     .like = "",
     .flow = Flow::stream,
     .rooted = true,
     .peers = to_root,
     .messages = of_senders},
    {.name = "halo",
     .words = "halo exchange with the neighbours in a grid",
     .like = "IMB-MPI1 Exchange where ranks are a ring",
     .flow = Flow::exchange,
     .peers = grid,
     .messages = of_neighbours},
});

/// Of messages to each peer.
constexpr int widest_window = 64;
/// What a rank may have for the messages of one round.
constexpr std::int64_t most_bytes = 64 << 20;

}  // namespace

std::span<const Pattern> all() { return table; }

const Pattern& named(std::string_view name) {
    const auto* const found = std::find_if(table.begin(), table.end(),
                                           [&](const Pattern& pattern) { return pattern.name == name; });
    if (found == table.end()) {
        throw std::invalid_argument("there is no pattern '" + std::string(name.substr(0, 100)) + "'");
    }
    return *found;
}

int most_incoming(const Pattern& pattern, int size, int root) {
    std::size_t most = 0;
    for (int rank = 0; rank < size; ++rank)
        most = std::max(most, pattern.peers(rank, size, root).from.size());
    return static_cast<int>(most);
}

int window(const Pattern& pattern, int size, int root, std::int64_t bytes) {
    if (pattern.flow != Flow::stream) return 1;
    const std::int64_t once = std::max<std::int64_t>(1, bytes * most_incoming(pattern, size, root));
    return static_cast<int>(std::clamp<std::int64_t>(most_bytes / once, 1, widest_window));
}

int parts(const Pattern& pattern, int window) { return pattern.flow == Flow::ping_pong ? 2 : window; }

}  // namespace isochrone::core::patterns
