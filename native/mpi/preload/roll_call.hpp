// SPDX-License-Identifier: BSD-3-Clause
//
// Whether all ranks of a job have a preload. A rank without it takes part in nothing, so nothing may wait for
// it longer than for a while, and no message may go to it that its program could receive. A rank may give up
// while rank 0 hears it, so what is collective begins after two words each:
//
//   rank 1   here ──▶ rank 0: stay ──▶ rank 1: staying ──▶ rank 0, when all stay: the decision ──▶
//   rank 2   here ──▶         stay ──▶   (has given up)    or not all do:          0            ──▶
//
// Who stays waits for the decision without a limit: rank 0 is there, and decides. Nobody takes a receive
// back, since its message may be on the way: it stays open until the end of MPI, and the program cannot
// receive what it waits for. Only where rank 0 itself is without the preload are there messages that nobody
// asked for: one from each rank, on one of the highest tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone::mpi::preload {

/// What is called for. At the start of MPI, which all ranks leave together, more or less, rank 0 waits 5 s
/// for the others, and they 15 s for its first word: who has not come then is taken to be without the
/// preload. Each has a tag of its own, so that what one leaves open is not in the way of the next.
enum class Occasion : std::uint8_t {
    plan,       ///< at the start
    recording,  ///< at the start
    mapping,    ///< at the start
    opening,    ///< isochrone_open, which all ranks call, each sooner or later: it waits, and says on whom
};

/// What has come to rank 0.
struct Roll {
    std::vector<std::string> said;  ///< by each rank of itself; empty: the rank did not come
    std::vector<int> absent;        ///< ranks that did not come, ascending
    std::vector<int> gone;          ///< ranks that came, and had given up when rank 0 answered

    [[nodiscard]] bool is_complete() const { return absent.empty() && gone.empty(); }
};

/// How long what a rank says may be, in bytes.
inline constexpr std::size_t longest_said = 4096;

/// Rank 0 is asked once; what it decides is 0 for all, unless all are there.
using Decide = std::function<std::int64_t(const Roll&)>;

/// To be called by all ranks that have the preload. `about`: what this rank says of itself, not empty.
/// Returns what rank 0 has decided, the same on all that come; nothing on a rank that gives up on rank 0,
/// where all others get 0. What `decide` throws, this throws on rank 0, and the others get 0. Throws
/// comm::Error.
[[nodiscard]] std::optional<std::int64_t> call_the_roll(Occasion occasion, std::string_view about,
                                                        const Decide& decide);

/// Right after MPI has started: whether all ranks have the preload, the same on each. Throws comm::Error.
[[nodiscard]] bool everyone_is_here(Occasion occasion);

/// "rank 2 of 8 has", "ranks 1, 2 and 3 more of 8 have".
[[nodiscard]] std::string ranks_have(const std::vector<int>& ranks, int size);

}  // namespace isochrone::mpi::preload
