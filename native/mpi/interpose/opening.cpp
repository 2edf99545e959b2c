// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/opening.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "comm/check.hpp"
#include "fabric/client.hpp"
#include "interpose/environment.hpp"
#include "place/hardware.hpp"
#include "select/only.hpp"

namespace isochrone::mpi::interpose {

using comm::check;

namespace {

constexpr int trips_of_a_pair = 4;  // the first sets up the connection

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
        plan = core::select::parse_plan(agreement.plan);
        auto topology = core::topology::parse(agreement.topology);
        check_belongs(plan, topology);
        core::select::use_names_of(plan, topology);
        plan.reproducible = agreement.reproducible;
        std::vector<core::topology::Place> ranks;
        for (const auto& place : agreement.places) ranks.push_back({place.host, place.cpus, place.signature});
        world = core::place::match(topology, ranks);
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
    const bool are_used = std::any_of(plan.rules.begin(), plan.rules.end(),
                                      [](const auto& rule) { return rule.recipe.is_mapped(); });
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

/// Round trips between first ranks of nodes.
class Trips {
  public:
    Trips(MPI_Comm comm, int rank, const std::vector<int>& node_of) : comm_(comm), rank_(rank) {
        const int nodes = 1 + *std::max_element(node_of.begin(), node_of.end());
        for (int node = 0; node < nodes; ++node)
            first_.push_back(
                static_cast<int>(std::find(node_of.begin(), node_of.end(), node) - node_of.begin()));
    }

    [[nodiscard]] int nodes() const { return static_cast<int>(first_.size()); }

    /// What a message there and back takes from one node to each of some others, in seconds. Collective.
    [[nodiscard]] std::vector<double> from(int node, const std::vector<int>& others, int bytes = 0) const {
        std::vector<double> rtts_s(others.size());
        for (std::size_t i = 0; i < others.size(); ++i) rtts_s[i] = between(node, others[i], bytes);
        check(PMPI_Bcast(rtts_s.data(), static_cast<int>(rtts_s.size()), MPI_DOUBLE, first(node), comm_),
              "MPI_Bcast");
        return rtts_s;
    }

  private:
    [[nodiscard]] int first(int node) const { return first_[static_cast<std::size_t>(node)]; }

    /// The shortest of a few, on the first rank of node `a`.
    [[nodiscard]] double between(int a, int b, int bytes) const {
        double shortest_s = 0;
        if (rank_ != first(a) && rank_ != first(b)) return shortest_s;
        std::vector<char> data(static_cast<std::size_t>(bytes));
        const int peer = first(rank_ == first(a) ? b : a);
        for (int trip = 0; trip < trips_of_a_pair; ++trip) {
            const auto begin = std::chrono::steady_clock::now();
            const auto send = [&] {
                check(PMPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, comm_), "MPI_Send");
            };
            if (rank_ == first(a)) send();
            check(PMPI_Recv(data.data(), bytes, MPI_BYTE, peer, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
            if (rank_ != first(a)) send();
            const double time_s =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            shortest_s = trip == 0 ? time_s : std::min(shortest_s, time_s);
        }
        return shortest_s;
    }

    MPI_Comm comm_;
    int rank_;
    std::vector<int> first_;
};

/// The number of each node's switch, from 0. Collective.
std::vector<int> switches(const Trips& trips, const std::vector<double>& from_first_s, double near_s) {
    std::vector<int> switch_of(static_cast<std::size_t>(trips.nodes()), -1);
    int number = 0;
    const auto take = [&](int node, const std::vector<int>& others, const std::vector<double>& rtts_s) {
        switch_of[static_cast<std::size_t>(node)] = number;
        for (std::size_t i = 0; i < others.size(); ++i) {
            if (rtts_s[i] < near_s) switch_of[static_cast<std::size_t>(others[i])] = number;
        }
        ++number;
    };
    const auto left = [&](int after) {
        std::vector<int> result;
        for (int node = after; node < trips.nodes(); ++node) {
            if (switch_of[static_cast<std::size_t>(node)] < 0) result.push_back(node);
        }
        return result;
    };
    take(0, left(1), from_first_s);
    for (auto nodes = left(1); !nodes.empty(); nodes = left(1)) {
        const int node = nodes.front();
        nodes.erase(nodes.begin());
        take(node, nodes, trips.from(node, nodes));
    }
    return switch_of;
}

}  // namespace

void measure_links(MPI_Comm comm, int rank, core::place::Layout& world) {
    constexpr int large = 65536;
    constexpr double longest_s = 0.25;
    if (world.levels.front() != "machine") return;
    const Trips trips(comm, rank, world.group_of[static_cast<std::size_t>(world.level("node"))]);
    /// The links between the first node and another one, to which an empty round trip takes so long.
    const auto links_to = [&](int other, double rtt_s) {
        return core::place::links_of(rtt_s, large, trips.from(0, {other}, large).front());
    };
    const auto is_too_long = [](double pairs, double rtt_s) {
        return trips_of_a_pair * pairs * rtt_s > longest_s;
    };
    const int last = trips.nodes() - 1;
    const double to_last_s = trips.from(0, {last}).front();
    if (is_too_long(last, to_last_s)) {
        world.links.front() = links_to(last, to_last_s);
        return;
    }
    std::vector<int> others(static_cast<std::size_t>(last));
    std::iota(others.begin(), others.end(), 1);
    const auto rtts_s = trips.from(0, others);
    const double near_s = core::place::near_below_s(rtts_s);
    const auto far = std::max_element(rtts_s.begin(), rtts_s.end());
    const auto other = [&](auto at) { return others[static_cast<std::size_t>(at - rtts_s.begin())]; };
    world.links.front() = links_to(other(far), *far);
    const auto is_near = [&](double rtt_s) { return rtt_s < near_s; };
    const auto near = std::find_if(rtts_s.begin(), rtts_s.end(), is_near);
    if (near == rtts_s.end()) return;
    // So many pairs, if each switch has as many nodes as the first.
    const auto at_first = static_cast<double>(1 + std::count_if(rtts_s.begin(), rtts_s.end(), is_near));
    if (is_too_long(0.5 * trips.nodes() * trips.nodes() / at_first, *far)) return;
    const auto switch_of = switches(trips, rtts_s, near_s);
    core::place::add_switches(world, switch_of, links_to(other(near), *near));
}

}  // namespace isochrone::mpi::interpose
