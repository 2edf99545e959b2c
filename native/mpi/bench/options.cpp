// SPDX-License-Identifier: BSD-3-Clause
#include "bench/options.hpp"

#include "comm/command_line.hpp"
#include "comm/version.hpp"

namespace isochrone::mpi::bench {

std::variant<Options, comm::Leave> parse_options(int argc, const char* const* argv) {
    Options options;
    CLI::App app("Times collectives by different recipes in turn. Run it with an MPI launcher.",
                 "isochrone-bench");
    app.set_version_flag("--version", comm::isochrone_version);
    app.add_option("-w,--work", options.work, "What to time (work.json)")->required()->type_name("FILE");
    app.add_option("-o,--output", options.output, "File to write (bench.jsonl)")
        ->required()
        ->type_name("FILE");
    app.add_option("-t,--topology", options.topology, "For recipes that follow it (topology.json)")
        ->type_name("FILE");
    app.add_option("-p,--plan", options.plan, "For the recipe 'plan' (plan.json); needs --topology")
        ->type_name("FILE");
    const auto leave = comm::parse(app, argc, argv, [&] {
        if (!options.plan.empty() && options.topology.empty())
            throw CLI::ValidationError("--plan", "a plan needs its --topology");
    });
    if (leave) return *leave;
    return options;
}

}  // namespace isochrone::mpi::bench
