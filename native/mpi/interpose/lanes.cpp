// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "comm/check.hpp"
#include "executor/tags.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;

/// MPI promises 32768 tags. A library that has more gives more lanes, within reason.
constexpr int tags_of_a_lane = 8;
constexpr int most_lanes = 1 << 16;

/// Proposed at once: some may be taken on other ranks, or about to be by other threads.
constexpr int proposals = 31;
constexpr unsigned usable_bit = 1U << proposals;
constexpr int rounds = 8;

}  // namespace

Lanes::Lanes() {
    const int tags = executor::largest_tag();
    taken_.resize(static_cast<std::size_t>(std::min(most_lanes, tags / tags_of_a_lane)));
    tags_ = tags / static_cast<int>(taken_.size());
}

std::vector<int> Lanes::propose() {
    const std::lock_guard lock(mutex_);
    std::vector<int> result;
    const std::size_t size = taken_.size();
    const std::size_t start = random_() % size;
    for (std::size_t i = 0; i < size && result.size() < proposals; ++i) {
        const std::size_t lane = (start + i) % size;
        if (!taken_[lane]) result.push_back(static_cast<int>(lane));
    }
    result.resize(proposals, none);
    return result;
}

/// Takes those that are free, as bits.
unsigned Lanes::reserve(const std::vector<int>& lanes) {
    const std::lock_guard lock(mutex_);
    unsigned result = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (lanes[i] == none) continue;
        const auto lane = static_cast<std::size_t>(lanes[i]);
        if (taken_[lane]) continue;
        taken_[lane] = true;
        result |= 1U << i;
    }
    return result;
}

int Lanes::take(MPI_Comm comm, bool usable) {
    for (int round = 0; round < rounds; ++round) {
        std::vector<int> lanes = propose();
        check(PMPI_Bcast(lanes.data(), proposals, MPI_INT, 0, comm), "MPI_Bcast");
        const unsigned mine = reserve(lanes);
        unsigned bits = mine | (usable ? usable_bit : 0);
        check(PMPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UNSIGNED, MPI_BAND, comm), "MPI_Allreduce");
        const unsigned free = (bits & usable_bit) != 0 ? bits & ~usable_bit : 0;
        const int taken = free != 0 ? lanes[static_cast<std::size_t>(std::countr_zero(free))] : none;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if ((mine >> i & 1U) != 0 && lanes[i] != taken) give_back(lanes[i]);
        }
        if (taken != none || (bits & usable_bit) == 0) return taken;
    }
    return none;
}

void Lanes::give_back(int lane) {
    if (lane == none) return;
    const std::lock_guard lock(mutex_);
    taken_[static_cast<std::size_t>(lane)] = false;
}

}  // namespace isochrone::mpi::interpose
