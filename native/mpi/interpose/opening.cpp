// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/opening.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/check.hpp"
#include "fabric/client.hpp"
#include "interpose/environment.hpp"
#include "place/hardware.hpp"
#include "select/only.hpp"

namespace isochrone::mpi::interpose {

using comm::check;

namespace {

/// What reading a file comes to, or why it cannot be read: with its name, and how to make it again.
template <class Read>
auto of_file(const std::string& name, const char* step, Read&& read) {
    try {
        return read();
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(name + ": " + error.what() + "; make it again with `isochrone " + step +
                                    "`");
    }
}

}  // namespace

std::string take_plan(const Agreement& agreement, core::select::Plan& plan, core::place::Layout& world) {
    if (agreement.unsurveyed) {
        std::vector<core::place::Seat> seats;
        for (std::size_t rank = 0; rank < agreement.places.size(); ++rank)
            seats.push_back({agreement.places[rank].host, agreement.inner[rank]});
        world = core::place::of_hardware(seats);
        plan.reproducible = agreement.reproducible;
        return {};
    }
    try {
        plan = of_file(plan_name(), "tune", [&] { return core::select::parse_plan(agreement.plan); });
        auto topology =
            of_file(topology_name(), "detect", [&] { return core::topology::parse(agreement.topology); });
        check_belongs(plan, topology);
        core::select::use_names_of(plan, topology);
        plan.reproducible = agreement.reproducible;
        world = core::place::match(topology, agreement.places);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    if (agreement.only.empty()) return {};
    try {
        core::select::keep_only(plan, core::select::parse_kept(agreement.only));
    } catch (const std::invalid_argument& error) {
        return std::string("ISOCHRONE_ONLY: ") + error.what();
    }
    return {};
}

std::string ask_for_delays(const Agreement& agreement, const core::select::Plan& plan) {
    const std::string address = read_inputs().fabric;
    const bool are_used = std::any_of(plan.rules.begin(), plan.rules.end(), [](const auto& rule) {
        return rule.recipe.is_mapped() || (rule.surveyed && rule.surveyed->recipe.is_mapped());
    });
    if (address.empty()) return {};
    if (!are_used) {
        if (agreement.explain) {
            std::fprintf(
                stderr,
                "isochrone: no recipe of the plan is a tree laid over the hosts, so the fabric's server is "
                "not asked\n");
        }
        return {};
    }
    try {
        return fabric::ask(core::place::parse_fabric_server(address),
                           fabric::hosts_of(agreement.places).names);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s: trees follow the topology alone\n", error.what());
        return {};
    }
}

namespace {

/// Round trips from the first rank of a node to those of some others, as far as there was time.
struct View {
    int node = 0;
    std::vector<int> others;
    std::vector<double> rtts_s;
};

/// Round trips between first ranks of nodes. All of it is collective, and what is found equal on all ranks.
class Trips {
  public:
    Trips(MPI_Comm comm, int rank, const std::vector<int>& node_of) : comm_(comm), rank_(rank) {
        const int nodes = 1 + *std::max_element(node_of.begin(), node_of.end());
        for (int node = 0; node < nodes; ++node) {
            const auto first = std::find(node_of.begin(), node_of.end(), node);
            first_.push_back(static_cast<int>(first - node_of.begin()));
        }
    }

    [[nodiscard]] int nodes() const { return static_cast<int>(first_.size()); }
    /// Whether more would take too long.
    [[nodiscard]] bool is_over() const { return spent_s_ > longest_s; }

    /// From a node to others, in portions that double, and none after what takes too long.
    View from(int node, const std::vector<int>& others) {
        View view{.node = node, .others = {}, .rtts_s = {}};
        std::size_t portion = 8;
        for (auto next = others.begin(); next != others.end() && !is_over(); portion *= 2) {
            const auto left = static_cast<std::size_t>(others.end() - next);
            const auto end = next + static_cast<std::ptrdiff_t>(std::min(portion, left));
            const std::vector<int> some(next, end);
            const auto rtts_s = measured(node, some, 0);
            view.others.insert(view.others.end(), some.begin(), some.end());
            view.rtts_s.insert(view.rtts_s.end(), rtts_s.begin(), rtts_s.end());
            next = end;
        }
        return view;
    }

    /// Looks at those again that do not look near: a trip that waited for a core makes none of the way
    /// longer.
    void look_again(View& view, double near_s) {
        for (int look = 0; look < more_looks && !is_over(); ++look) {
            std::vector<std::size_t> far;
            std::vector<int> some;
            for (std::size_t i = 0; i < view.others.size(); ++i) {
                if (view.rtts_s[i] < near_s) continue;
                far.push_back(i);
                some.push_back(view.others[i]);
            }
            if (far.empty()) return;
            const auto rtts_s = measured(view.node, some, 0);
            for (std::size_t i = 0; i < far.size(); ++i)
                view.rtts_s[far[i]] = std::min(view.rtts_s[far[i]], rtts_s[i]);
        }
    }

    /// The links between a node and the one of some others that is in the middle of them.
    [[nodiscard]] core::plogp::Parameters links(const View& view) {
        std::vector<std::pair<double, int>> sorted;
        for (std::size_t i = 0; i < view.others.size(); ++i)
            sorted.emplace_back(view.rtts_s[i], view.others[i]);
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        const double large_s = measured(view.node, {middle->second}, large_bytes).front();
        return core::place::links_of(middle->first, large_bytes, large_s);
    }

  private:
    static constexpr double longest_s = 1;
    static constexpr int trips_of_a_pair = 4;  // the first sets up the connection
    static constexpr int more_looks = 2;
    static constexpr int large_bytes = 65536;

    [[nodiscard]] int first(int node) const { return first_[static_cast<std::size_t>(node)]; }

    std::vector<double> measured(int node, const std::vector<int>& others, int bytes) {
        const double begin_s = PMPI_Wtime();
        std::vector<double> found;
        for (const int other : others) found.push_back(shortest_s(node, other, bytes));
        found.push_back(PMPI_Wtime() - begin_s);
        check(PMPI_Bcast(found.data(), static_cast<int>(found.size()), MPI_DOUBLE, first(node), comm_),
              "MPI_Bcast");
        spent_s_ += found.back();
        found.pop_back();
        return found;
    }

    /// Of a few trips, on the first rank of node `a`.
    [[nodiscard]] double shortest_s(int a, int b, int bytes) const {
        double result = 0;
        if (rank_ != first(a) && rank_ != first(b)) return result;
        std::vector<char> data(static_cast<std::size_t>(bytes));
        const int peer = first(rank_ == first(a) ? b : a);
        for (int trip = 0; trip < trips_of_a_pair; ++trip) {
            const double begin_s = PMPI_Wtime();
            const auto send = [&] {
                check(PMPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, comm_), "MPI_Send");
            };
            if (rank_ == first(a)) send();
            check(PMPI_Recv(data.data(), bytes, MPI_BYTE, peer, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
            if (rank_ != first(a)) send();
            const double time_s = PMPI_Wtime() - begin_s;
            result = trip == 0 ? time_s : std::min(result, time_s);
        }
        return result;
    }

    MPI_Comm comm_;
    int rank_;
    std::vector<int> first_;
    double spent_s_ = 0;
};

/// Those of a view that are near, or those that are not.
View side(const View& view, double near_s, bool is_near) {
    View result{.node = view.node, .others = {}, .rtts_s = {}};
    for (std::size_t i = 0; i < view.others.size(); ++i) {
        if ((view.rtts_s[i] < near_s) != is_near) continue;
        result.others.push_back(view.others[i]);
        result.rtts_s.push_back(view.rtts_s[i]);
    }
    return result;
}

/// All nodes but one.
std::vector<int> others_of(int node, int nodes) {
    std::vector<int> result;
    for (int other = 0; other < nodes; ++other) {
        if (other != node) result.push_back(other);
    }
    return result;
}

/// The number of each node's switch, from 0, where one node's is known. Nothing, where that takes too long.
std::vector<int> switches(Trips& trips, const View& near, double near_s) {
    std::vector<int> switch_of(static_cast<std::size_t>(trips.nodes()), -1);
    int number = 0;
    const auto take = [&](const View& one) {
        switch_of[static_cast<std::size_t>(one.node)] = number;
        for (const int other : one.others) switch_of[static_cast<std::size_t>(other)] = number;
        ++number;
    };
    take(near);
    while (true) {
        std::vector<int> left;
        for (int node = 0; node < trips.nodes(); ++node) {
            if (switch_of[static_cast<std::size_t>(node)] < 0) left.push_back(node);
        }
        if (left.empty()) return switch_of;
        const int node = left.front();
        left.erase(left.begin());
        View view = trips.from(node, left);
        trips.look_again(view, near_s);
        take(side(view, near_s, true));
        if (trips.is_over()) return {};
    }
}

}  // namespace

void measure_links(MPI_Comm comm, int rank, core::place::Layout& world) {
    if (world.levels.front() != "machine") return;
    Trips trips(comm, rank, world.group_of[static_cast<std::size_t>(world.level("node"))]);
    const int last = trips.nodes() - 1;
    View view = trips.from(0, others_of(0, trips.nodes()));
    double near_s = core::place::near_below_s(view.rtts_s);
    if (near_s == 0 && last > 1 && !trips.is_over()) {
        // The first may be alone at its switch.
        View other = trips.from(last, others_of(last, trips.nodes()));
        near_s = core::place::near_below_s(other.rtts_s);
        if (near_s > 0) view = std::move(other);
    }
    if (near_s > 0) {
        trips.look_again(view, near_s);
        near_s = core::place::near_below_s(view.rtts_s);
    }
    world.links.front() = trips.links(side(view, near_s, false));
    if (near_s == 0 || trips.is_over()) return;
    const View near = side(view, near_s, true);
    const auto switch_of = switches(trips, near, near_s);
    if (!switch_of.empty()) core::place::add_switches(world, switch_of, trips.links(near));
}

}  // namespace isochrone::mpi::interpose
