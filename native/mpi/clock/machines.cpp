// SPDX-License-Identifier: BSD-3-Clause
#include "clock/machines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/place.hpp"

namespace isochrone::mpi::clock {

#ifdef ISOCHRONE_SMPI

Machines::Machines(MPI_Comm comm) : first_(static_cast<std::size_t>(comm::size_of(comm))) {
    std::iota(first_.begin(), first_.end(), 0);
}

#else

namespace {

using Mask = std::array<std::uint64_t, comm::max_cpus / 64>;

/// What a rank knows of the machine that it is on.
struct Known {
    std::uint64_t boot = 0;  ///< a digest of its id; 0: not known
    Mask cpus{};             ///< where this rank may run
};

Known known_here() {
    Known known;
    const std::string boot = comm::boot_id();
    if (!boot.empty()) known.boot = std::max<std::uint64_t>(std::hash<std::string>{}(boot), 1);
    for (const int cpu : comm::allowed_cpus())
        known.cpus[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
    return known;
}

/// Of each rank, the least rank that has memory in common with it. Collective.
std::vector<int> first_in_memory(MPI_Comm comm) {
    MPI_Comm shared = MPI_COMM_NULL;
    comm::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared),
                "MPI_Comm_split_type");
    int least = comm::rank_in(comm);
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, shared), "MPI_Allreduce");
    comm::check(MPI_Comm_free(&shared), "MPI_Comm_free");
    std::vector<int> first(static_cast<std::size_t>(comm::size_of(comm)));
    comm::check(MPI_Allgather(&least, 1, MPI_INT, first.data(), 1, MPI_INT, comm), "MPI_Allgather");
    return first;
}

std::vector<int> first_of(MPI_Comm comm, const std::vector<Known>& ranks) {
    if (std::any_of(ranks.begin(), ranks.end(), [](const Known& known) { return known.boot == 0; }))
        return first_in_memory(comm);
    std::map<std::uint64_t, int> first_of_boot;
    std::vector<int> first;
    for (const Known& known : ranks)
        first.push_back(first_of_boot.try_emplace(known.boot, static_cast<int>(first.size())).first->second);
    return first;
}

}  // namespace

Machines::Machines(MPI_Comm comm) {
    const Known mine = known_here();
    std::vector<Known> ranks(static_cast<std::size_t>(comm::size_of(comm)));
    comm::check(MPI_Allgather(&mine, sizeof(Known), MPI_BYTE, ranks.data(), sizeof(Known), MPI_BYTE, comm),
                "MPI_Allgather");
    first_ = first_of(comm, ranks);
    std::map<int, int> count;
    std::map<int, Mask> cpus;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        ++count[first_[rank]];
        Mask& mask = cpus[first_[rank]];
        for (std::size_t word = 0; word < mask.size(); ++word) mask[word] |= ranks[rank].cpus[word];
    }
    const int here = first_[static_cast<std::size_t>(comm::rank_in(comm))];
    for (const auto& [machine, on_it] : count) {
        int allowed = 0;
        for (const std::uint64_t word : cpus[machine]) allowed += __builtin_popcountll(word);
        // Where the system does not tell which CPUs are allowed, all ranks share one.
        const Occupancy occupancy{on_it, std::max(allowed, 1), machine};
        any_oversubscribed_ = any_oversubscribed_ || occupancy.oversubscribed();
        if (machine == here) occupancy_ = occupancy;
    }
}

#endif

}  // namespace isochrone::mpi::clock
