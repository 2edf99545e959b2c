// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "comm/check.hpp"
#include "comm/place.hpp"
#include "comm/shared_text.hpp"
#include "place/layout.hpp"
#include "preload/environment.hpp"
#include "preload/library.hpp"
#include "preload/roll_call.hpp"
#include "reorder/placement.hpp"
#include "reorder/topologies.hpp"
#include "reorder/world.hpp"
#include "topology/topology.hpp"

namespace isochrone::mpi::reorder {
namespace {

using comm::check;
using preload::variable;
using preload::word;

void say(const std::string& line) { std::fprintf(stderr, "isochrone: %s\n", line.c_str()); }

std::string complaint_about(const std::string& path, const std::string& what) {
    return path + what + "; ranks keep the order in which they were launched";
}

/// [rank as launched], the rank of the program; empty, which is said, where ranks keep their order. For rank
/// 0.
std::vector<int> read_order(const std::string& path, const std::vector<comm::Place>& places) {
    std::string complaint;
    const std::string text = preload::read_file(path, complaint);
    if (!complaint.empty()) {
        say(complaint_about(complaint, ""));
        return {};
    }
    Mapping mapping;
    try {
        mapping = parse_mapping(text);
    } catch (const std::invalid_argument& error) {
        say(complaint_about(path, std::string(" is damaged: ") + error.what() + ": map again"));
        return {};
    }
    try {
        return program_ranks(mapping, places);
    } catch (const std::invalid_argument& error) {
        say(complaint_about(path, std::string(" does not fit: ") + error.what() +
                                      ": map for this job, or launch as the mapping says"));
        return {};
    }
}

/// Where ranks are in the topology; nothing, which rank 0 says, where that cannot be told.
std::optional<core::place::Layout> layout_of(const std::string& path, const std::string& text,
                                             const std::vector<comm::Place>& places, int rank) {
    try {
        return core::place::match(core::topology::parse(text), places);
    } catch (const std::invalid_argument& error) {
        if (rank == 0) say(path + ": " + error.what() + "; grids and graphs are not reordered");
        return {};
    }
}

/// The first part of MPI_Finalize. Attributes of MPI_COMM_SELF go before all else, the last one first: what
/// the program does in its own still finds its ranks. Freed here, the communicator takes the program's
/// attributes of the world with it, as the world would.
int end(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    end_reordering();
    if (replaced.exchange(none) == none) return MPI_SUCCESS;
    auto comm = preload::handle<MPI_Comm>(permuted);
    return PMPI_Comm_free(&comm);
}

/// Collective over the world.
void permute(int program_rank) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    check(PMPI_Comm_split(MPI_COMM_WORLD, 0, program_rank, &comm), "MPI_Comm_split");
    check(PMPI_Comm_set_name(comm, "MPI_COMM_WORLD"), "MPI_Comm_set_name");
    check(PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &errhandler), "MPI_Comm_get_errhandler");
    check(PMPI_Comm_set_errhandler(comm, errhandler), "MPI_Comm_set_errhandler");
    check(PMPI_Errhandler_free(&errhandler), "MPI_Errhandler_free");
    permuted = word(comm);
    if constexpr (sizeof(MPI_Comm) < sizeof(Word)) handle_bits = (Word{1} << (8 * sizeof(MPI_Comm))) - 1;
    replaced.store(word(MPI_COMM_WORLD), std::memory_order_release);
}

/// Collective over the world.
void read_and_permute(const std::string& map, const std::vector<comm::Place>& places, int rank) {
    std::vector<int> order;
    if (rank == 0) order = read_order(map, places);
    int moved = 0;
    for (std::size_t launched = 0; launched < order.size(); ++launched)
        moved += order[launched] != static_cast<int>(launched) ? 1 : 0;
    if (!order.empty() && preload::is_on("ISOCHRONE_EXPLAIN"))
        say(std::to_string(moved) + " of " + std::to_string(order.size()) +
            " ranks run elsewhere than launched, as " + map + " says");
    check(PMPI_Bcast(&moved, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
    if (moved == 0) return;
    int mine = 0;
    check(PMPI_Scatter(order.data(), 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Scatter");
    permute(mine);
}

/// Collective over the world, before it is permuted.
void read_and_reorder(const std::string& topology, const std::vector<comm::Place>& places, int rank) {
    const auto text = comm::shared_text(MPI_COMM_WORLD, [&]() -> std::optional<std::string> {
        std::string complaint;
        std::string read = preload::read_file(topology, complaint);
        if (complaint.empty()) return read;
        say(complaint + "; grids and graphs are not reordered");
        return std::nullopt;
    });
    if (!text) return;
    // All read the same, so all come to the same.
    if (auto layout = layout_of(topology, *text, places, rank)) begin_reordering(std::move(*layout));
}

void open(const std::string& map, const std::string& topology) {
    MPI_Comm parent = MPI_COMM_NULL;
    check(PMPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
    // What a mapped program has started is a world of its own.
    if (parent != MPI_COMM_NULL) return;
    if (!preload::everyone_is_here(preload::Occasion::mapping)) {
        if (preload::is_rank_0_of_launcher())
            say("not all ranks have loaded the preload of --map: ranks keep the order in which they were "
                "launched");
        return;
    }
    const int rank = comm::rank_in(MPI_COMM_WORLD);
    const auto places = comm::gather_places(MPI_COMM_WORLD);
    int key = MPI_KEYVAL_INVALID;
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr), "MPI_Comm_create_keyval");
    check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
    if (!topology.empty()) read_and_reorder(topology, places, rank);
    if (!map.empty()) read_and_permute(map, places, rank);
}

}  // namespace

bool is_predefined(Word key) noexcept {
    const int asked = preload::handle<int>(key);
    return asked == MPI_TAG_UB || asked == MPI_HOST || asked == MPI_IO || asked == MPI_WTIME_IS_GLOBAL ||
           asked == MPI_UNIVERSE_SIZE || asked == MPI_APPNUM;
}

void started() noexcept {
    const std::string map = variable("ISOCHRONE_MAP");
    const std::string topology = variable("ISOCHRONE_REORDER");
    if ((map.empty() && topology.empty()) || preload::is_turned_off()) return;
    if (!preload::is_of_this_library()) {
        preload::say_that_library_is_another();
        return;
    }
    try {
        open(map, topology);
    } catch (const std::exception& error) {
        say(std::string(error.what()) + ": ranks keep the order in which they were launched");
    }
}

}  // namespace isochrone::mpi::reorder
