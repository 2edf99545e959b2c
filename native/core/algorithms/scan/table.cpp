// SPDX-License-Identifier: BSD-3-Clause
//
// The scans, with a member's own operand and without, one row each. A new one needs its file and its rows
// here, nothing else.
#include <array>

#include "algorithms/scan/chain.hpp"
#include "algorithms/scan/recursive_doubling.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr std::string_view chain_words = "a chain";
constexpr std::string_view chain_good_for = "few ranks, and large messages in segments";
constexpr std::string_view chain_source = "MPI-3.1, section 5.11; linear";
constexpr std::string_view doubling_words = "recursive doubling";
constexpr std::string_view doubling_good_for = "small messages: as few rounds as can be";
constexpr std::string_view doubling_source = "Hillis and Steele, CACM 29, 1986; MPICH";

constexpr auto table = std::to_array<Algorithm>({
    {"chain", chain_words, chain_good_for, chain_source, 0, 0, scan::chain},
    {"recursive_doubling", doubling_words, doubling_good_for, doubling_source, 0, 0,
     scan::recursive_doubling},
});

constexpr auto exclusive = std::to_array<Algorithm>({
    {"chain", chain_words, chain_good_for, chain_source, 0, 0, scan::exclusive_chain},
    {"recursive_doubling", doubling_words, doubling_good_for, doubling_source, 0, 0,
     scan::exclusive_recursive_doubling},
});

}  // namespace

Table scan_table() { return table; }
Table exscan_table() { return exclusive; }

}  // namespace isochrone::core::algorithms
