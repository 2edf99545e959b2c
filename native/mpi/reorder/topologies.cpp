// SPDX-License-Identifier: BSD-3-Clause
#include "reorder/topologies.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "comm/check.hpp"
#include "preload/environment.hpp"
#include "reorder/order.hpp"

namespace isochrone::mpi::reorder {
namespace {

using comm::check;
using preload::handle;
using preload::word;

struct Reordering {
    core::place::Layout world;
    MPI_Group group = MPI_GROUP_NULL;  ///< of the ranks as launched
};

/// What there is between the start of MPI and its end, where topologies are reordered.
std::atomic<Reordering*> reordering = nullptr;

/// The ranks as launched of a communicator; nothing where some are of another world. All its ranks come to
/// the same: each side of a connection misses the other.
std::optional<std::vector<int>> launched(const Reordering& here, MPI_Comm comm, int size) {
    MPI_Group group = MPI_GROUP_NULL;
    check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> result(ranks.size());
    const int code = PMPI_Group_translate_ranks(group, size, ranks.data(), here.group, result.data());
    PMPI_Group_free(&group);
    check(code, "MPI_Group_translate_ranks");
    if (std::find(result.begin(), result.end(), MPI_UNDEFINED) != result.end()) return {};
    return result;
}

/// What a call is about that all ranks make alike.
struct Asked {
    const char* name;
    int vertices;
    std::vector<int> dimensions = {};
};

/// The communicator of a call, with what is known of it.
class Members {
  public:
    /// Nothing where ranks cannot be reordered, which all know alike.
    static std::optional<Members> of(Word word, int reorder) {
        const Reordering* here = reordering.load(std::memory_order_acquire);
        const auto comm = handle<MPI_Comm>(word);
        if (here == nullptr || reorder == 0 || comm == MPI_COMM_NULL) return {};
        int is_inter = 0;
        check(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
        const int size = comm::size_of(comm);
        if (is_inter != 0 || size < 2 || size > most_vertices) return {};
        auto ranks = launched(*here, comm, size);
        if (!ranks) return {};
        return Members(*here, comm, std::move(*ranks));
    }

    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] int size() const { return static_cast<int>(launched_.size()); }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] bool has(int rank) const { return rank >= 0 && rank < size(); }

    /// [position], the rank that takes it: the same on all ranks, as rank 0 finds it. `edges`: read on rank
    /// 0.
    [[nodiscard]] std::vector<int> order(const Asked& asked, const std::vector<Edge>& edges) const {
        std::vector<int> ranks(launched_.size());
        std::iota(ranks.begin(), ranks.end(), 0);
        if (rank_ == 0) {
            try {
                const Order found = best_order(here_->world.restricted_to(launched_), asked.vertices, edges,
                                               asked.dimensions);
                ranks = found.ranks;
                if (preload::is_on("ISOCHRONE_EXPLAIN")) {
                    const bool is_better = found.cost_s < found.given_cost_s;
                    std::fprintf(stderr,
                                 "isochrone: %s of %d ranks: %s, %.3g s along its edges instead of %.3g s\n",
                                 asked.name, size(), is_better ? "reordered" : "no better order found",
                                 found.cost_s, found.given_cost_s);
                }
            } catch (const std::exception& error) {
                std::fprintf(stderr, "isochrone: %s: ranks keep their order: %s\n", asked.name, error.what());
            }
        }
        check(PMPI_Bcast(ranks.data(), size(), MPI_INT, 0, comm_), "MPI_Bcast");
        return ranks;
    }

    /// A communicator of the ranks in an order, as the program's is otherwise.
    [[nodiscard]] MPI_Comm ordered(const std::vector<int>& order) const {
        const auto mine = std::find(order.begin(), order.end(), rank_) - order.begin();
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
        check(PMPI_Comm_split(comm_, 0, static_cast<int>(mine), &made), "MPI_Comm_split");
        check(PMPI_Comm_get_errhandler(comm_, &errhandler), "MPI_Comm_get_errhandler");
        check(PMPI_Comm_set_errhandler(made, errhandler), "MPI_Comm_set_errhandler");
        check(PMPI_Errhandler_free(&errhandler), "MPI_Errhandler_free");
        return made;
    }

    /// Whether all ranks have valid arguments, and not too many edges together. Collective.
    [[nodiscard]] bool all_have(bool is_valid, std::size_t edges) const {
        std::array<std::int64_t, 2> sums{is_valid ? 0 : 1, static_cast<std::int64_t>(edges)};
        check(PMPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
        return sums[0] == 0 && sums[1] <= most_edges;
    }

    /// Those of all ranks, on rank 0. Collective.
    [[nodiscard]] std::vector<Edge> gathered(const std::vector<Edge>& mine) const {
        constexpr int words = sizeof(Edge) / sizeof(int);
        const int count = static_cast<int>(mine.size()) * words;
        std::vector<int> counts(launched_.size());
        std::vector<int> offsets(launched_.size());
        check(PMPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_), "MPI_Gather");
        std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
        std::vector<Edge> all(rank_ == 0 ? static_cast<std::size_t>((offsets.back() + counts.back()) / words)
                                         : 0);
        check(PMPI_Gatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), offsets.data(), MPI_INT, 0,
                           comm_),
              "MPI_Gatherv");
        return all;
    }

  private:
    Members(const Reordering& here, MPI_Comm comm, std::vector<int> launched)
        : here_(&here), comm_(comm), launched_(std::move(launched)), rank_(comm::rank_in(comm)) {}

    const Reordering* here_;
    MPI_Comm comm_;
    std::vector<int> launched_;  // [rank]
    int rank_;
};

bool is_in_order(const std::vector<int>& order) { return std::is_sorted(order.begin(), order.end()); }

/// The library's function on the ranks in an order.
template <class Call>
int on_ordered(const Members& members, const std::vector<int>& order, Call&& call) {
    if (is_in_order(order)) return call(members.comm());
    MPI_Comm made = members.ordered(order);
    const int code = call(made);
    check(PMPI_Comm_free(&made), "MPI_Comm_free");
    return code;
}

/// Hands what goes wrong to the communicator's error handler, as the library does.
template <class Act>
int guarded(Word comm, const char* name, Act&& act) noexcept {
    try {
        return act();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s: %s\n", name, error.what());
        const auto* known = dynamic_cast<const comm::Error*>(&error);
        const int code = known != nullptr ? known->code() : MPI_ERR_INTERN;
        PMPI_Comm_call_errhandler(handle<MPI_Comm>(comm), code);
        return code;
    }
}

/// The edges of a grid, each both ways. Periodic dimensions of 2 have two to the same neighbour.
std::vector<Edge> edges_of_grid(const std::vector<int>& dimensions, const int* periods, int vertices) {
    std::vector<Edge> edges;
    int stride = vertices;
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
        const int length = dimensions[axis];
        stride /= length;
        for (int vertex = 0; vertex < vertices; ++vertex) {
            const bool is_last = vertex / stride % length == length - 1;
            if (is_last && periods[axis] == 0) continue;
            const int next = is_last ? vertex - (length - 1) * stride : vertex + stride;
            edges.push_back({vertex, next, 1});
            edges.push_back({next, vertex, 1});
        }
    }
    return edges;
}

bool are_valid(const Neighbours& neighbours, const Members& members) {
    if (neighbours.count < 0) return false;
    for (int i = 0; i < neighbours.count; ++i) {
        if (!members.has(neighbours.ranks[i])) return false;
        if (neighbours.weights != MPI_UNWEIGHTED && neighbours.weights[i] < 0) return false;
    }
    return true;
}

/// What vertex `from` says of its neighbours, at the process that is the vertex from now on.
class Moved {
  public:
    /// Collective over `made`, the ranks in their new order; `order`: what it was made by.
    Moved(const Neighbours& mine, const std::vector<int>& order, int rank, MPI_Comm made)
        : is_weighted_(mine.weights != MPI_UNWEIGHTED ? 1 : 0) {
        const int now = comm::rank_in(made);
        // Rank r of the old order is vertex r, and knows what vertex r has.
        const int to = rank;
        const auto from = static_cast<int>(std::find(order.begin(), order.end(), now) - order.begin());
        std::array<int, 2> sent{mine.count, is_weighted_};
        std::array<int, 2> got{};
        exchange(sent.data(), 2, to, got.data(), 2, from, made);
        ranks_.resize(static_cast<std::size_t>(got[0]));
        exchange(mine.ranks, mine.count, to, ranks_.data(), got[0], from, made);
        weights_.resize(got[1] != 0 ? ranks_.size() : 0);
        exchange(mine.weights, is_weighted_ != 0 ? mine.count : 0, to, weights_.data(),
                 static_cast<int>(weights_.size()), from, made);
        is_weighted_ = got[1];
    }

    [[nodiscard]] Neighbours neighbours() const {
        const int* weights = MPI_UNWEIGHTED;
        if (is_weighted_ != 0) weights = weights_.empty() ? MPI_WEIGHTS_EMPTY : weights_.data();
        return {static_cast<int>(ranks_.size()), ranks_.data(), weights};
    }

  private:
    static void exchange(const int* out, int sent, int to, int* in, int received, int from, MPI_Comm comm) {
        check(
            PMPI_Sendrecv(out, sent, MPI_INT, to, 0, in, received, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
    }

    std::vector<int> ranks_;
    std::vector<int> weights_;
    int is_weighted_;
};

}  // namespace

void begin_reordering(core::place::Layout world) {
    auto made = std::make_unique<Reordering>(Reordering{std::move(world)});
    check(PMPI_Comm_group(MPI_COMM_WORLD, &made->group), "MPI_Comm_group");
    reordering.store(made.release(), std::memory_order_release);
}

void end_reordering() noexcept {
    const std::unique_ptr<Reordering> here(reordering.exchange(nullptr));
    if (here) PMPI_Group_free(&here->group);
}

int make_grid(Word comm, int count, const int* dimensions, const int* periods, int reorder,
              const Make& make) noexcept {
    return guarded(comm, "MPI_Cart_create", [&] {
        const auto members = Members::of(comm, reorder);
        if (!members || count < 1 || dimensions == nullptr || periods == nullptr) return make(comm, reorder);
        Asked asked{"MPI_Cart_create", 1, {dimensions, dimensions + count}};
        for (const int length : asked.dimensions) {
            if (length < 1 || length > members->size() / asked.vertices) return make(comm, reorder);
            asked.vertices *= length;
        }
        std::vector<Edge> edges;
        if (members->rank() == 0) edges = edges_of_grid(asked.dimensions, periods, asked.vertices);
        return on_ordered(*members, members->order(asked, edges),
                          [&](MPI_Comm ordered) { return make(word(ordered), 0); });
    });
}

int make_graph(Word comm, int nodes, const int* index, const int* edges, int reorder,
               const Make& make) noexcept {
    return guarded(comm, "MPI_Graph_create", [&] {
        const auto members = Members::of(comm, reorder);
        if (!members || nodes < 1 || nodes > members->size() || index == nullptr) return make(comm, reorder);
        // Each has the neighbours from the end of those of the one before to its index.
        std::vector<Edge> found;
        int begin = 0;
        for (int node = 0; node < nodes; ++node) {
            if (index[node] < begin || index[node] > most_edges) return make(comm, reorder);
            for (; begin < index[node]; ++begin) {
                if (edges[begin] < 0 || edges[begin] >= nodes) return make(comm, reorder);
                found.push_back({node, edges[begin], 1});
            }
        }
        return on_ordered(*members, members->order({"MPI_Graph_create", nodes}, found),
                          [&](MPI_Comm ordered) { return make(word(ordered), 0); });
    });
}

int make_edges(Word comm, int count, const int* nodes, const int* degrees, const int* destinations,
               const int* weights, int reorder, const Make& make) noexcept {
    return guarded(comm, "MPI_Dist_graph_create", [&] {
        const auto members = Members::of(comm, reorder);
        if (!members) return make(comm, reorder);
        std::vector<Edge> mine;
        bool is_valid = count >= 0;
        std::size_t next = 0;
        for (int i = 0; is_valid && i < count; ++i) {
            is_valid = members->has(nodes[i]) && degrees[i] >= 0;
            for (int j = 0; is_valid && j < degrees[i]; ++j, ++next) {
                const int weight = weights == MPI_UNWEIGHTED ? 1 : weights[next];
                is_valid = members->has(destinations[next]) && weight >= 0;
                mine.push_back({nodes[i], destinations[next], weight});
            }
        }
        if (!members->all_have(is_valid, mine.size())) return make(comm, reorder);
        const auto order =
            members->order({"MPI_Dist_graph_create", members->size()}, members->gathered(mine));
        return on_ordered(*members, order, [&](MPI_Comm ordered) { return make(word(ordered), 0); });
    });
}

int make_adjacent(Word comm, const Neighbours& sources, const Neighbours& destinations, int reorder,
                  const MakeAdjacent& make) noexcept {
    return guarded(comm, "MPI_Dist_graph_create_adjacent", [&] {
        const auto members = Members::of(comm, reorder);
        if (!members) return make(comm, sources, destinations, reorder);
        // Every edge is told at both of its ends.
        const bool is_valid = are_valid(sources, *members) && are_valid(destinations, *members);
        std::vector<Edge> mine;
        for (int i = 0; is_valid && i < destinations.count; ++i) {
            const int weight = destinations.weights == MPI_UNWEIGHTED ? 1 : destinations.weights[i];
            mine.push_back({members->rank(), destinations.ranks[i], weight});
        }
        if (!members->all_have(is_valid, mine.size())) return make(comm, sources, destinations, reorder);
        const auto order =
            members->order({"MPI_Dist_graph_create_adjacent", members->size()}, members->gathered(mine));
        if (is_in_order(order)) return make(comm, sources, destinations, 0);
        return on_ordered(*members, order, [&](MPI_Comm ordered) {
            const Moved in(sources, order, members->rank(), ordered);
            const Moved out(destinations, order, members->rank(), ordered);
            return make(word(ordered), in.neighbours(), out.neighbours(), 0);
        });
    });
}

}  // namespace isochrone::mpi::reorder
