// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of isochrone-probe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "comm/program.hpp"
#include "probe/clusters.hpp"

namespace isochrone::mpi::probe {

struct Options {
    std::string output;
    std::vector<std::int64_t> sizes_bytes = {0, 1024, 65536};  ///< ascending
    int repetitions = 10;                                      ///< timed ping-pongs for each pair and size
    int warmup = 2;                                            ///< ping-pongs before them that are not timed
    double patience_s = 0;                                     ///< for one size of one pair; 0: without end
    double precision = 0;   ///< share of the median that its interval may be wide; 0: all repetitions
    double budget_s = 0;    ///< for all pairs; 0: without end
    bool estimate = false;  ///< measure a few pairs only, and say what all would take
    std::uint64_t seed = 1;
    std::string together = "nodes";                  ///< which pairs are measured at once: none, nodes or all
    std::optional<Clusters> clusters;                ///< instead: those of separate clusters
    bool plogp = false;                              ///< all PLogP parameters of each pair too
    std::int64_t max_bytes = std::int64_t{1} << 21;  ///< of the sizes that they are measured for
    bool synchronous = false;                        ///< send overhead around a synchronous send
    bool both = false;                               ///< parameters in both directions
    std::vector<std::pair<int, int>> pairs;          ///< only these, the lesser rank first; empty: all
    /// Then measure what standard input asks for, and with more ranks than this nothing before; -1: never.
    int follow_above = -1;
};

/// A pair of ranks as 0-5, the lesser first unless either may be; nothing for another text.
[[nodiscard]] std::optional<std::pair<int, int>> parse_pair(std::string_view text, bool directed = false);

[[nodiscard]] std::variant<Options, comm::Leave> parse_options(int argc, const char* const* argv);

}  // namespace isochrone::mpi::probe
