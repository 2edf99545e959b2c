// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of isochrone-bench.
#pragma once

#include <string>
#include <variant>

#include "comm/program.hpp"

namespace isochrone::mpi::bench {

struct Options {
    bool follow = false;  ///< the others come by standard input, see follow.hpp
    std::string work;
    std::string output;
    std::string topology;  ///< empty: of the hosts alone
    std::string plan;      ///< empty: no recipe `plan`
};

[[nodiscard]] std::variant<Options, comm::Leave> parse_options(int argc, const char* const* argv);

}  // namespace isochrone::mpi::bench
