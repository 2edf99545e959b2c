// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/opening.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "comm/check.hpp"
#include "fabric/client.hpp"
#include "interpose/environment.hpp"
#include "place/hardware.hpp"
#include "select/only.hpp"

namespace isochrone::mpi::interpose {

using comm::check;

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

void measure_links(MPI_Comm comm, int rank, core::place::Layout& world) {
    constexpr int trips = 5;  // of each size; the first sets up the connection
    constexpr std::array<int, 2> sizes{0, 65536};
    if (world.levels.front() != "machine") return;
    const auto& nodes = world.group_of[static_cast<std::size_t>(world.level("node"))];
    const int last = *std::max_element(nodes.begin(), nodes.end());
    const auto partner = static_cast<int>(std::find(nodes.begin(), nodes.end(), last) - nodes.begin());
    std::array<double, 2> rtt_s{};
    if (rank == 0 || rank == partner) {
        std::vector<char> data(static_cast<std::size_t>(sizes.back()));
        const int peer = rank == 0 ? partner : 0;
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            for (int trip = 0; trip < trips; ++trip) {
                const auto begin = std::chrono::steady_clock::now();
                const auto send = [&] {
                    check(PMPI_Send(data.data(), sizes[size], MPI_BYTE, peer, 0, comm), "MPI_Send");
                };
                if (rank == 0) send();
                check(PMPI_Recv(data.data(), sizes[size], MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
                if (rank != 0) send();
                const double time_s =
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
                rtt_s[size] = trip == 0 ? time_s : std::min(rtt_s[size], time_s);
            }
        }
    }
    check(PMPI_Bcast(rtt_s.data(), static_cast<int>(rtt_s.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
    world.links.front() = core::place::links_of(rtt_s[0], sizes.back(), rtt_s[1]);
}

}  // namespace isochrone::mpi::interpose
