// SPDX-License-Identifier: BSD-3-Clause
//
// How what all ranks have comes together at the end.
//
// A rank that has no memory for it must not go while others wait for it. So memory is taken where all ranks
// agree afterwards whether all have it, and what is exchanged takes none.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "comm/check.hpp"
#include "record/world.hpp"

namespace isochrone::mpi::record {

using Words = std::vector<std::int64_t>;

/// Of one message or reduction, whose count is an int.
inline constexpr std::int64_t most_at_once = std::int64_t{1} << 27;

/// Does what takes memory and talks to nobody. Collective. Throws std::runtime_error on all ranks where one
/// has not got it, and comm::Error.
template <class Prepare>
void prepare_together(MPI_Comm comm, Prepare&& prepare) {
    int is_ready = 1;
    try {
        prepare();
    } catch (const std::exception&) {
        is_ready = 0;
    }
    comm::check(PMPI_Allreduce(MPI_IN_PLACE, &is_ready, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (is_ready == 0) throw std::runtime_error("a rank has no memory for what all have seen");
}

/// Calls `part(begin, count)` for all of so many, in parts whose count an int holds.
template <class Part>
void in_parts(std::int64_t all, Part&& part) {
    for (std::int64_t at = 0; at < all; at += most_at_once)
        part(at, static_cast<int>(std::min(most_at_once, all - at)));
}

/// Gives rank 0 the words of all ranks, one after the other in their order. Collective. Throws as
/// prepare_together.
///
/// make: gives this rank's.
/// room: on rank 0, how many there are together.
/// take: on rank 0, those of one rank.
void gather(const World& world, const std::function<Words()>& make,
            const std::function<void(std::int64_t)>& room,
            const std::function<void(const std::int64_t*)>& take);

/// What rank 0 has, for all. Collective. Throws as prepare_together.
void share(Words& words, const World& world);

/// Groups of ranks, each once, which ranks that tell of them number differently.
class Groups {
  public:
    static constexpr int anyone = -1;

    /// Appends those whose first rank is `first`, or all: how many, then of each its number here, its size
    /// and its ranks.
    static void append(Words& words, const std::vector<const std::vector<int>*>& here, int first);

    /// Reads what append has written, and goes on behind it: by the number there, the number among `ranks`.
    std::vector<std::int64_t> read(const std::int64_t*& words);

    std::vector<std::vector<int>> ranks;

  private:
    std::map<std::vector<int>, std::int64_t> numbers_;
};

}  // namespace isochrone::mpi::record
