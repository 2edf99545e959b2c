// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/compare.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "collectives/collective.hpp"
#include "comm/check.hpp"
#include "interpose/operation.hpp"

namespace isochrone::mpi::interpose {
namespace {

std::string name_of(const Asked& asked) {
    std::string name(core::collectives::all()[static_cast<std::size_t>(asked.collective)].name);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return "MPI_" + name;
}

/// What a rank gives that another does not.
std::string in_words(const Asked& asked, const Asked& other, std::size_t rank) {
    const std::string who = "rank " + std::to_string(rank);
    if (asked.collective != other.collective) return who + " calls " + name_of(asked);
    if (asked.root != other.root) return who + " gives root " + std::to_string(asked.root);
    if (asked.op != other.op) return who + " gives " + operation_name(asked.op);
    if (asked.bytes == Asked::invalid) return who + " gives what the MPI library refuses";
    return who + " gives " + std::to_string(asked.bytes) + " bytes";
}

}  // namespace

std::string compare(const Asked& mine, MPI_Comm comm, int size) {
    std::vector<Asked> all(static_cast<std::size_t>(size));
    comm::check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
                "MPI_Allgather");
    const auto differs = [&](const Asked& asked) { return !(asked == all.front()); };
    if (std::none_of(all.begin(), all.end(), differs)) return {};
    const auto ranks_like = [&](const Asked& asked) { return std::count(all.begin(), all.end(), asked); };
    // On a tie the lowest rank counts as right.
    const auto usual = std::max_element(all.begin(), all.end(), [&](const Asked& a, const Asked& b) {
        return ranks_like(a) < ranks_like(b);
    });
    const auto odd =
        std::find_if(all.begin(), all.end(), [&](const Asked& asked) { return !(asked == *usual); });
    const auto rank = [&](auto position) { return static_cast<std::size_t>(position - all.begin()); };
    return name_of(mine) + ": " + in_words(*odd, *usual, rank(odd)) + ", " +
           in_words(*usual, *odd, rank(usual));
}

}  // namespace isochrone::mpi::interpose
