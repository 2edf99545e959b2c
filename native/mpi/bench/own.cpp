// SPDX-License-Identifier: BSD-3-Clause
#include "bench/own.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "comm/check.hpp"
#include "comm/simgrid.hpp"

#ifdef ISOCHRONE_SMPI
#define ISOCHRONE_SMPI_SETTER(name) simgrid::smpi::colls::name
#else
#define ISOCHRONE_SMPI_SETTER(name) nullptr
#endif

namespace isochrone::mpi::bench {

using comm::check;

namespace {

constexpr std::array<std::string_view, 7> mpich_bcasts = {
    "binomial",       "nb",  "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather",
    "pipelined_tree", "tree"};
constexpr std::array<std::string_view, 4> mpich_reduces = {"binomial", "nb", "smp", "reduce_scatter_gather"};
constexpr std::array<std::string_view, 9> mpich_allreduces = {"nb",
                                                              "smp",
                                                              "recursive_doubling",
                                                              "recursive_multiplying",
                                                              "reduce_scatter_allgather",
                                                              "tree",
                                                              "recexch",
                                                              "ring",
                                                              "k_reduce_scatter_allgather"};
constexpr std::array<std::string_view, 5> mpich_barriers = {"nb", "smp", "dissemination", "k_dissemination",
                                                            "recexch"};

constexpr std::array<std::string_view, 3> mpich_allgathers = {"recursive_doubling", "brucks", "ring"};
constexpr std::array<std::string_view, 4> mpich_alltoalls = {"brucks", "scattered", "pairwise",
                                                             "pairwise_sendrecv_replace"};
constexpr std::array<std::string_view, 2> mpich_alltoallvs = {"scattered", "pairwise_sendrecv_replace"};
// Not "noncommutative", which aborts where ranks are no power of two.
constexpr std::array<std::string_view, 3> mpich_reduce_scatters = {"recursive_doubling", "pairwise",
                                                                   "recursive_halving"};
constexpr std::array<std::string_view, 2> mpich_scans = {"smp", "recursive_doubling"};

constexpr std::array<std::string_view, 4> openmpi_bcasts = {"chain", "pipeline", "split_binary_tree",
                                                            "binary_tree"};
constexpr std::array<std::string_view, 1> openmpi_reduces = {"in-order_binary"};

constexpr auto table = std::to_array<Own>({
    {"bcast", "MPI_Bcast",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Bcast(with.output, with.count, with.type, with.root, comm);
     },
     mpich_bcasts, ISOCHRONE_SMPI_SETTER(set_bcast), nullptr, openmpi_bcasts},
    {"reduce", "MPI_Reduce",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce(with.input, with.output, with.count, with.type, with.op, with.root, comm);
     },
     mpich_reduces, ISOCHRONE_SMPI_SETTER(set_reduce), nullptr, openmpi_reduces},
    {"allreduce", "MPI_Allreduce",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allreduce(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_allreduces, ISOCHRONE_SMPI_SETTER(set_allreduce)},
    {"barrier", "MPI_Barrier", [](const Arguments& /*with*/, MPI_Comm comm) { return PMPI_Barrier(comm); },
     mpich_barriers, ISOCHRONE_SMPI_SETTER(set_barrier)},
    {"gather",
     "MPI_Gather",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Gather(with.input, with.count, with.type, with.output, with.count, with.type, with.root,
                            comm);
     },
     {},
     ISOCHRONE_SMPI_SETTER(set_gather)},
    {"gatherv",
     "MPI_Gatherv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Gatherv(with.input, with.input_blocks->counts[0], with.type, with.output,
                             with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                             with.type, with.root, comm);
     },
     {},
     nullptr},
    {"scatter",
     "MPI_Scatter",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scatter(with.input, with.count, with.type, with.output, with.count, with.type, with.root,
                             comm);
     },
     {},
     ISOCHRONE_SMPI_SETTER(set_scatter)},
    {"scatterv",
     "MPI_Scatterv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scatterv(with.input, with.input_blocks->counts.data(),
                              with.input_blocks->displacements.data(), with.type, with.output,
                              with.output_blocks->counts[0], with.type, with.root, comm);
     },
     {},
     nullptr},
    {"allgather", "MPI_Allgather",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allgather(with.input, with.count, with.type, with.output, with.count, with.type, comm);
     },
     mpich_allgathers, ISOCHRONE_SMPI_SETTER(set_allgather)},
    {"allgatherv", "MPI_Allgatherv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allgatherv(with.input, with.input_blocks->counts[0], with.type, with.output,
                                with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                                with.type, comm);
     },
     mpich_allgathers, ISOCHRONE_SMPI_SETTER(set_allgatherv)},
    {"alltoall", "MPI_Alltoall",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Alltoall(with.input, with.count, with.type, with.output, with.count, with.type, comm);
     },
     mpich_alltoalls, ISOCHRONE_SMPI_SETTER(set_alltoall),
     // Libraries exchange with (rank + i) and (rank - i) where ranks are no power of two.
     "ring"},
    {"alltoallv", "MPI_Alltoallv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Alltoallv(with.input, with.input_blocks->counts.data(),
                               with.input_blocks->displacements.data(), with.type, with.output,
                               with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                               with.type, comm);
     },
     mpich_alltoallvs, ISOCHRONE_SMPI_SETTER(set_alltoallv), "ring"},
    {"alltoallw", "MPI_Alltoallw",
     [](const Arguments& with, MPI_Comm comm) {
         // All that is timed is of one type, but this one wants a list of types, and bytes.
         int element_bytes = 0;
         check(PMPI_Type_size(with.type, &element_bytes), "MPI_Type_size");
         const auto places = [&](const Blocks& blocks) {
             auto result = blocks.displacements;
             for (int& place : result) place *= element_bytes;
             return result;
         };
         const std::vector types(with.input_blocks->counts.size(), with.type);
         return PMPI_Alltoallw(with.input, with.input_blocks->counts.data(),
                               places(*with.input_blocks).data(), types.data(), with.output,
                               with.output_blocks->counts.data(), places(*with.output_blocks).data(),
                               types.data(), comm);
     },
     mpich_alltoallvs, nullptr},
    {"reduce_scatter_block", "MPI_Reduce_scatter_block",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce_scatter_block(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_reduce_scatters, nullptr},
    {"reduce_scatter", "MPI_Reduce_scatter",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce_scatter(with.input, with.output, with.input_blocks->counts.data(), with.type,
                                    with.op, comm);
     },
     mpich_reduce_scatters, ISOCHRONE_SMPI_SETTER(set_reduce_scatter)},
    {"scan", "MPI_Scan",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scan(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_scans, nullptr},
    {"exscan",
     "MPI_Exscan",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Exscan(with.input, with.output, with.count, with.type, with.op, comm);
     },
     {},
     nullptr},
});

}  // namespace

const Own& own(const core::collectives::Collective& collective) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const Own& one) { return one.collective == collective.name; });
    if (row == table.end()) {
        throw std::invalid_argument("the library's own " + std::string(collective.words) +
                                    " cannot be timed");
    }
    return *row;
}

}  // namespace isochrone::mpi::bench
