// SPDX-License-Identifier: BSD-3-Clause
#include "probe/turn_groups.hpp"

#include <cstddef>
#include <map>
#include <numeric>
#include <string>

#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

/// Labels as numbers from 0, in order of first appearance.
template <class Label>
std::vector<int> numbered(const std::vector<Label>& labels) {
    std::map<Label, int> numbers;
    std::vector<int> result;
    for (const Label& label : labels) {
        result.push_back(numbers.try_emplace(label, static_cast<int>(numbers.size())).first->second);
    }
    return result;
}

std::vector<int> number_hosts(const std::vector<comm::Place>& places) {
    std::vector<std::string> hosts;
    for (const comm::Place& place : places) hosts.push_back(place.host);
    return numbered(hosts);
}

/// Hosts that are one machine (namespaces, containers) take CPUs from each other where there are fewer than
/// ranks: then their pairs don't take turns at once either.
std::vector<int> number_machines(MPI_Comm comm, const clock::Occupancy& occupancy) {
    std::vector<int> machine_of_rank(static_cast<std::size_t>(comm::size_of(comm)));
    comm::check(MPI_Allgather(&occupancy.machine, 1, MPI_INT, machine_of_rank.data(), 1, MPI_INT, comm),
                "MPI_Allgather");
    return numbered(machine_of_rank);
}

}  // namespace

std::optional<Clusters> clusters_to_obey(MPI_Comm comm, const Options& options,
                                         const clock::Occupancy& occupancy, bool crowded) {
    std::optional<Clusters> clusters = options.clusters;
    if (clusters && crowded) clusters->keep_together(number_machines(comm, occupancy));
    return clusters;
}

std::vector<int> turn_groups(MPI_Comm comm, const Options& options, const std::optional<Clusters>& clusters,
                             const std::vector<comm::Place>& places, const clock::Occupancy& occupancy,
                             bool crowded) {
    if (clusters) return numbered(clusters->groups());
    if (options.together == "none") return std::vector<int>(places.size(), 0);
    if (crowded) return number_machines(comm, occupancy);
    if (options.together == "nodes") return number_hosts(places);
    std::vector<int> ranks(places.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

}  // namespace isochrone::mpi::probe
