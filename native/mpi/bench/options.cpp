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
    auto* const follow =
        app.add_flag("--follow", options.follow, "Time one work after the other, as standard input asks");
    const auto add_file = [&](const char* names, std::string& file, const char* words) {
        return app.add_option(names, file, words)->type_name("FILE")->excludes(follow);
    };
    const auto* const work = add_file("-w,--work", options.work, "What to time (work.json)");
    const auto* const output = add_file("-o,--output", options.output, "File to write (bench.jsonl)");
    add_file("-t,--topology", options.topology,
             "For recipes that follow it (topology.json); without, hosts alone are known");
    add_file("-p,--plan", options.plan, "For the recipe 'plan' (plan.json); needs --topology");
    const auto leave = comm::parse(app, argc, argv, [&] {
        if (options.follow) return;
        for (const auto* const needed : {work, output}) {
            if (needed->count() == 0) throw CLI::RequiredError(needed->get_name());
        }
        if (!options.plan.empty() && options.topology.empty())
            throw CLI::ValidationError("--plan", "a plan needs its --topology");
    });
    if (leave) return *leave;
    return options;
}

}  // namespace isochrone::mpi::bench
