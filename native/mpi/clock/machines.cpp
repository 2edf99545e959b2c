// SPDX-License-Identifier: BSD-3-Clause
#include "clock/machines.hpp"

#include <algorithm>
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

using Mask = std::vector<std::uint64_t>;

/// Where this rank may run; no longer than it has to be.
Mask mask_here() {
    Mask mask;
    for (const int cpu : comm::allowed_cpus()) {
        const auto word = static_cast<std::size_t>(cpu) / 64;
        if (word >= mask.size()) mask.resize(word + 1);
        mask[word] |= std::uint64_t{1} << (cpu % 64);
    }
    return mask;
}

/// A digest of the boot's id; 0: it is not known.
std::uint64_t boot_here() {
    const std::string boot = comm::boot_id();
    return boot.empty() ? 0 : std::max<std::uint64_t>(std::hash<std::string>{}(boot), 1);
}

/// As many words of all ranks, in their order.
Mask gathered(MPI_Comm comm, const Mask& mine) {
    Mask all(mine.size() * static_cast<std::size_t>(comm::size_of(comm)));
    const int words = static_cast<int>(mine.size());
    comm::check(MPI_Allgather(mine.data(), words, MPI_UINT64_T, all.data(), words, MPI_UINT64_T, comm),
                "MPI_Allgather");
    return all;
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

std::vector<int> first_of(MPI_Comm comm, const std::vector<std::uint64_t>& boots) {
    if (std::find(boots.begin(), boots.end(), 0) != boots.end()) return first_in_memory(comm);
    std::map<std::uint64_t, int> first_of_boot;
    std::vector<int> first;
    for (const std::uint64_t boot : boots)
        first.push_back(first_of_boot.try_emplace(boot, static_cast<int>(first.size())).first->second);
    return first;
}

}  // namespace

Machines::Machines(MPI_Comm comm) {
    Mask mine = mask_here();
    const Mask known = gathered(comm, {boot_here(), mine.size()});
    std::vector<std::uint64_t> boots;
    std::size_t words = 0;
    for (std::size_t rank = 0; 2 * rank < known.size(); ++rank) {
        boots.push_back(known[2 * rank]);
        words = std::max(words, static_cast<std::size_t>(known[2 * rank + 1]));
    }
    mine.resize(words);
    const Mask masks = gathered(comm, mine);
    first_ = first_of(comm, boots);
    std::map<int, int> count;
    std::map<int, Mask> cpus;
    for (std::size_t rank = 0; rank < first_.size(); ++rank) {
        ++count[first_[rank]];
        Mask& mask = cpus[first_[rank]];
        mask.resize(words);
        for (std::size_t word = 0; word < words; ++word) mask[word] |= masks[rank * words + word];
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
