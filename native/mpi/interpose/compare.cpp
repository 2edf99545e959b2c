// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/compare.hpp"

#include <algorithm>
#include <vector>

#include "comm/check.hpp"

namespace isochrone::mpi::interpose {
namespace {

std::string in_words(const Asked& asked, std::size_t rank, bool of_root) {
    const std::string who = "rank " + std::to_string(rank) + " gives ";
    if (of_root) return who + "root " + std::to_string(asked.root);
    if (asked.bytes == Asked::invalid) return who + "what the MPI library refuses";
    return who + std::to_string(asked.bytes) + " bytes";
}

}  // namespace

std::string compare(const Asked& mine, MPI_Comm comm, int size) {
    std::vector<Asked> all(static_cast<std::size_t>(size));
    comm::check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
                "MPI_Allgather");
    const auto ranks_like = [&](const Asked& asked) { return std::count(all.begin(), all.end(), asked); };
    // On a tie the lowest rank counts as right.
    const auto usual = std::max_element(all.begin(), all.end(), [&](const Asked& a, const Asked& b) {
        return ranks_like(a) < ranks_like(b);
    });
    const auto odd =
        std::find_if(all.begin(), all.end(), [&](const Asked& asked) { return !(asked == *usual); });
    if (odd == all.end()) return {};
    const bool of_root = odd->root != usual->root;
    const auto rank = [&](auto position) { return static_cast<std::size_t>(position - all.begin()); };
    return "MPI_Bcast: " + in_words(*odd, rank(odd), of_root) + ", " + in_words(*usual, rank(usual), of_root);
}

}  // namespace isochrone::mpi::interpose
