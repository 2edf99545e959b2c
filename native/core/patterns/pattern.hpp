// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point patterns that are timed beside collectives, and the table of all of them: one row each. A
// row says who sends to whom, in which flow, and what of a call's time and bytes is told. What each is like
// in the benchmarks that people know (OSU's and Intel's, "IMB") is in the row too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace isochrone::core::patterns {

/// Where a message comes from: which of the messages of that rank, as counted in its `to`.
struct From {
    int rank = 0;
    int slot = 0;
};

/// What one rank sends and gets in each round. Equal ranks may be there several times.
struct Peers {
    std::vector<int> to = {};
    std::vector<From> from = {};
};

/// How messages follow one another.
enum class Flow : std::uint8_t {
    ping_pong,  ///< a message there, then one back
    exchange,   ///< all at once, and then all are waited for
    stream,     ///< many to each peer at once, and then an answer from it
};

struct Pattern {
    std::string_view name;   ///< in work files: "pingpong"
    std::string_view words;  ///< in a sentence
    std::string_view like;   ///< the benchmarks whose figures are the same
    Flow flow = Flow::exchange;
    bool rooted = false;
    Peers (*peers)(int rank, int size, int root) = nullptr;
    /// How many messages the bandwidth counts in the time that is told of one.
    std::int64_t (*messages)(int size) = nullptr;
};

inline constexpr int fewest_ranks = 2;

[[nodiscard]] std::span<const Pattern> all();

/// The row of that name. Throws std::invalid_argument, in one line, if there is none.
[[nodiscard]] const Pattern& named(std::string_view name);

/// Of all ranks the most messages that one gets in a round.
[[nodiscard]] int most_incoming(const Pattern& pattern, int size, int root);

/// How many messages each peer is sent before it answers: 64, as in OSU's benchmarks, or as many as a rank
/// has memory for, since each has its own. 1 where messages are no stream.
[[nodiscard]] int window(const Pattern& pattern, int size, int root, std::int64_t bytes);

/// In how many parts the time of a round is told: that of a ping-pong by halves, that of a stream by
/// messages.
[[nodiscard]] int parts(const Pattern& pattern, int window);

}  // namespace isochrone::core::patterns
