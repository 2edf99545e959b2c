// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of isochrone-bench.
#pragma once

#include <string>
#include <variant>

namespace isochrone::mpi::bench {

struct Options {
    std::string work;
    std::string output;
    std::string topology;  ///< empty: only native and flat recipes
    std::string plan;      ///< empty: no recipe `plan`
};

/// A command line after which there is nothing to do: what to print and the exit code.
struct Leave {
    std::string text;
    int exit_code = 0;
};

[[nodiscard]] std::variant<Options, Leave> parse_options(int argc, const char* const* argv);

}  // namespace isochrone::mpi::bench
