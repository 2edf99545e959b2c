// SPDX-License-Identifier: BSD-3-Clause
#include "record/peers.hpp"

#include <algorithm>
#include <numeric>

#include "comm/check.hpp"

namespace isochrone::mpi::record {
namespace {

using comm::check;
using preload::handle;
using preload::word;

/// The one that is there; attributes may outlive it.
std::atomic<PeersOf*> open = nullptr;

/// Grows with every communicator that is gone, so that no thread takes another for it.
std::atomic<std::uint64_t> epoch = 1;

/// As the functions of neighbours want them: of a grid both ways along each dimension.
std::vector<int> ask_neighbours(MPI_Comm comm) {
    int kind = MPI_UNDEFINED;
    check(PMPI_Topo_test(comm, &kind), "MPI_Topo_test");
    std::vector<int> result;
    if (kind == MPI_CART) {
        int dimensions = 0;
        check(PMPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
        for (int dimension = 0; dimension < dimensions; ++dimension) {
            int before = MPI_PROC_NULL;
            int after = MPI_PROC_NULL;
            check(PMPI_Cart_shift(comm, dimension, 1, &before, &after), "MPI_Cart_shift");
            result.insert(result.end(), {before, after});
        }
    } else if (kind == MPI_GRAPH) {
        const int rank = comm::rank_in(comm);
        int count = 0;
        check(PMPI_Graph_neighbors_count(comm, rank, &count), "MPI_Graph_neighbors_count");
        result.resize(static_cast<std::size_t>(count));
        check(PMPI_Graph_neighbors(comm, rank, count, result.data()), "MPI_Graph_neighbors");
    } else if (kind == MPI_DIST_GRAPH) {
        int in = 0;
        int out = 0;
        int weighted = 0;
        check(PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
        std::vector<int> sources(static_cast<std::size_t>(in));
        std::vector<int> weights(static_cast<std::size_t>(std::max(in, out)));
        std::vector<int> weights_out(weights.size());
        result.resize(static_cast<std::size_t>(out));
        check(PMPI_Dist_graph_neighbors(comm, in, sources.data(), weights.data(), out, result.data(),
                                        weights_out.data()),
              "MPI_Dist_graph_neighbors");
    }
    return result;
}

}  // namespace

constinit thread_local PeersOf::Last PeersOf::last_communicator_;
constinit thread_local PeersOf::Last PeersOf::last_window_;

PeersOf::PeersOf() {
    check(PMPI_Comm_group(MPI_COMM_WORLD, &world_), "MPI_Comm_group");
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_communicator, &comm_key_, this),
          "MPI_Comm_create_keyval");
    check(PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &window_key_, this),
          "MPI_Win_create_keyval");
    open = this;
}

PeersOf::~PeersOf() { open = nullptr; }

Peers& PeersOf::communicator(Word comm) {
    const auto here = handle<MPI_Comm>(comm);
    return find(last_communicator_, communicators_, word(here), [&] {
        int is_inter = 0;
        check(PMPI_Comm_test_inter(here, &is_inter), "MPI_Comm_test_inter");
        MPI_Group group = MPI_GROUP_NULL;
        check(is_inter != 0 ? PMPI_Comm_remote_group(here, &group) : PMPI_Comm_group(here, &group),
              "MPI_Comm_group");
        auto peers = of_group(group);
        peers->is_inter = is_inter != 0;
        check(PMPI_Comm_set_attr(here, comm_key_, peers.get()), "MPI_Comm_set_attr");
        return peers;
    });
}

Peers& PeersOf::window(Word window) {
    const auto here = handle<MPI_Win>(window);
    return find(last_window_, windows_, word(here), [&] {
        MPI_Group group = MPI_GROUP_NULL;
        check(PMPI_Win_get_group(here, &group), "MPI_Win_get_group");
        auto peers = of_group(group);
        check(PMPI_Win_set_attr(here, window_key_, peers.get()), "MPI_Win_set_attr");
        return peers;
    });
}

const std::vector<int>& PeersOf::neighbours(Word comm) {
    Peers& peers = communicator(comm);
    const std::lock_guard lock(asking_);
    if (!peers.neighbours) peers.neighbours = ask_neighbours(handle<MPI_Comm>(comm));
    return *peers.neighbours;
}

int PeersOf::group_of(Peers& peers) {
    const std::lock_guard lock(mutex_);
    if (peers.group < 0)
        peers.group = groups_.try_emplace(peers.world, static_cast<int>(groups_.size())).first->second;
    return peers.group;
}

std::optional<int> PeersOf::known_group(const std::vector<int>& world) const {
    const auto found = groups_.find(world);
    return found == groups_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<const std::vector<int>*> PeersOf::groups() const {
    std::vector<const std::vector<int>*> ranks(groups_.size());
    for (const auto& [world, number] : groups_) ranks[static_cast<std::size_t>(number)] = &world;
    return ranks;
}

template <class Make>
Peers& PeersOf::find(Last& last, Known& known, Word word, Make&& make) {
    const std::uint64_t now = epoch.load(std::memory_order_acquire);
    if (last.epoch == now && last.word == word) return *last.peers;
    const auto find_known = [&]() -> Peers* {
        const std::lock_guard lock(mutex_);
        const auto found = known.find(word);
        return found == known.end() ? nullptr : found->second.get();
    };
    Peers* peers = find_known();
    if (peers == nullptr) {
        const std::lock_guard lock(asking_);
        peers = find_known();
        if (peers == nullptr) {
            auto made = make();
            peers = made.get();
            const std::lock_guard inner(mutex_);
            known[word] = std::move(made);
        }
    }
    last = {now, word, peers};
    return *peers;
}

std::unique_ptr<Peers> PeersOf::of_group(MPI_Group group) const {
    auto peers = std::make_unique<Peers>();
    int size = 0;
    check(PMPI_Group_size(group, &size), "MPI_Group_size");
    check(PMPI_Group_rank(group, &peers->rank), "MPI_Group_rank");
    std::vector<int> here(static_cast<std::size_t>(size));
    std::iota(here.begin(), here.end(), 0);
    peers->world.resize(here.size());
    const int code = PMPI_Group_translate_ranks(group, size, here.data(), world_, peers->world.data());
    PMPI_Group_free(&group);
    check(code, "MPI_Group_translate_ranks");
    peers->has_others =
        std::find(peers->world.begin(), peers->world.end(), MPI_UNDEFINED) != peers->world.end();
    return peers;
}

int PeersOf::forget_communicator(MPI_Comm comm, int /*key*/, void* /*value*/, void* self) {
    auto* const here = static_cast<PeersOf*>(self);
    if (open == here) here->forget(here->communicators_, word(comm));
    return MPI_SUCCESS;
}

int PeersOf::forget_window(MPI_Win window, int /*key*/, void* /*value*/, void* self) {
    auto* const here = static_cast<PeersOf*>(self);
    if (open == here) here->forget(here->windows_, word(window));
    return MPI_SUCCESS;
}

void PeersOf::forget(Known& known, Word word) {
    const std::lock_guard lock(mutex_);
    known.erase(word);
    ++epoch;
}

}  // namespace isochrone::mpi::record
