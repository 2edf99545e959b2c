// SPDX-License-Identifier: BSD-3-Clause
//
// Where the ranks of a communicator sit in a topology. A topology names places, not ranks, so one survey
// serves jobs in another rank order and on other nodes of the same kind.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "place/delays.hpp"
#include "topology/topology.hpp"

namespace isochrone::core::place {

/// The groups of the ranks of one communicator, level by level.
struct Layout {
    int size = 0;
    std::vector<std::string> levels;         ///< names, outermost first
    std::vector<std::vector<int>> group_of;  ///< [level][rank]: number of the rank's group, from 0
    std::vector<plogp::Parameters> links;    ///< [level]
    /// Between hosts, by a fabric's routes; nullptr: levels alone tell which ranks are close. See set_delays.
    std::shared_ptr<const Delays> delays = nullptr;
    std::vector<int> host_of = {};  ///< [rank], of the delays; empty where there are none

    /// Index of the level of that name, or -1.
    [[nodiscard]] int level(std::string_view name) const;
    /// The innermost level that has both ranks in one group, or -1 if the outermost has not.
    [[nodiscard]] int meet(int rank_a, int rank_b) const;
    /// Whether every group of a level is a run of consecutive ranks.
    [[nodiscard]] bool has_runs(int level) const;
    /// The same for some of the ranks: rank i of the result is `ranks[i]` here.
    [[nodiscard]] Layout restricted_to(const std::vector<int>& ranks) const;
};

/// Finds the place of each rank. A rank that is not bound, or bound as none was, is known by its host. An
/// unseen host with the signature of a known one has that one's inner tree, and no known neighbours below the
/// outermost level. Throws std::invalid_argument, in one line, if a host is neither known nor like a known
/// one.
[[nodiscard]] Layout match(const topology::Topology& topology, const std::vector<topology::Place>& ranks);

/// The shape of a communicator as text, equal for communicators that a rule may treat alike: number of ranks,
/// the level that holds them all, and for each level inside that divides them further the number of groups of
/// each size; then the sizes of the root's groups. For example "16 ranks in one machine; switch 2x8; node
/// 3x4+2x2; root in 8/4". Where these sizes do not say which groups lie in which, or which of them the root
/// is in, there are digests of that: "...; nested 0123456789abcdef; root in 8/4 of 0123456789abcdef" (see
/// place/nesting.hpp).
[[nodiscard]] std::string shape(const Layout& layout, int root);

/// The same of every root, in little more time than of one.
[[nodiscard]] std::vector<std::string> shapes(const Layout& layout);

/// What the shapes of all roots begin with: the shape without the root's groups.
[[nodiscard]] std::string shape(const Layout& layout);

/// In which order the ranks go through the groups of the levels that divide them, as text, equal for layouts
/// that differ in names or numbers of groups only. A word for each level, outermost first, of how the ranks
/// of each group around it go through its groups: "block", one after the other; "cyclic", in turn, a rank to
/// each; "cyclic2" and so on, in turn through groups of groups, as many levels of them. Blocks at the
/// outermost levels are one word, and so is what is cyclic through all levels. For example "block:cyclic",
/// Slurm's default for nodes and sockets. Of any other order a digest. What an MPI library's own collectives
/// take depends on it.
[[nodiscard]] std::string order(const Layout& layout);

/// A shape's text without its part on the root.
[[nodiscard]] std::string_view without_root(std::string_view shape);

}  // namespace isochrone::core::place
