// SPDX-License-Identifier: BSD-3-Clause
//
// What the schedule of one rank costs: time to build it, operations, dependencies, and memory. Prints JSON.
//
//   cmake --preset release && cmake --build --preset release
//   g++ -std=c++20 -O2 -I native/core bench/schedules.cpp build/release/native/libisochrone_core.a \
//       -o build/schedules
//   build/schedules > bench/schedules.json
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "compose/compose.hpp"

namespace {

using namespace isochrone::core;

/// Nodes of 16 in racks of 8.
place::Layout cluster(int size) {
    place::Layout layout{size, {"machine", "rack", "node"}, {}, std::vector<plogp::Parameters>(3)};
    for (const int members : {size, 128, 16}) {
        auto& groups = layout.group_of.emplace_back();
        for (int rank = 0; rank < size; ++rank) groups.push_back(rank / members);
    }
    return layout;
}

std::size_t bytes_of(const schedule::Schedule& schedule) {
    std::size_t bytes = sizeof schedule + schedule.ops.capacity() * sizeof(schedule::Op);
    for (const auto& op : schedule.ops) bytes += op.after.capacity() * sizeof(schedule::Dependency);
    for (const auto& list : schedule.lists) bytes += list.capacity() * sizeof(int);
    for (const auto& buffer : schedule.buffers) bytes += buffer.arguments.capacity() * sizeof(int);
    return bytes;
}

bool is_first = true;

template <class Build>
void measure(const char* collective, const std::string& recipe, int size, Build&& build) {
    std::vector<double> seconds;
    schedule::Schedule schedule;
    double spent = 0;
    while (seconds.size() < 5 || (seconds.size() < 101 && spent < 0.2)) {
        const auto begin = std::chrono::steady_clock::now();
        schedule = build();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        seconds.push_back(took.count());
        spent += took.count();
        if (spent > 20) break;
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<long>(seconds.size() / 2), seconds.end());
    std::size_t dependencies = 0;
    for (const auto& op : schedule.ops) dependencies += op.after.size();
    std::printf(
        "%s{\"collective\":\"%s\",\"recipe\":\"%s\",\"ranks\":%d,\"build_s\":%.3g,\"operations\":%zu,"
        "\"dependencies\":%zu,\"bytes\":%zu}",
        is_first ? "[\n" : ",\n", collective, recipe.c_str(), size, seconds[seconds.size() / 2],
        schedule.ops.size(), dependencies, bytes_of(schedule));
    std::fflush(stdout);
    is_first = false;
}

}  // namespace

int main(int argc, char** argv) {
    const int most = argc > 1 ? std::atoi(argv[1]) : 4096;
    for (const int size : {16, 256, 1024, 4096}) {
        if (size > most) break;
        const auto layout = cluster(size);
        // Of rank 0: it leads at every level, and has most to do.
        const auto of = [&](const char* name, const std::string& recipe) {
            const auto resolved =
                compose::resolve(collectives::named(name), compose::parse_recipe(recipe), layout);
            measure(name, recipe, size, [&] { return compose::schedule_of(resolved, layout, 0, 0); });
        };
        for (const auto& collective : collectives::all()) {
            const bool is_exchange = collective.is_exchange() && !collective.reduces;
            for (const auto& row : collective.across()) {
                if (row.equal_only && collective.agreed != collectives::Agreed::block) continue;
                of(collective.name.data(), std::string(row.name));
            }
            if (collective.up == nullptr && collective.down == nullptr) continue;
            const std::string inside = is_exchange ? "pairwise" : "binomial";
            const std::string across = is_exchange ? "pairwise"
                                       : collective.name == "allgather"
                                           ? "ring"
                                           : std::string(collective.across()[0].name);
            of(collective.name.data(),
               "hierarchical(machine=" + across + ",rack=" + inside + ",node=" + inside + ")");
        }
    }
    std::printf("\n]\n");
}
