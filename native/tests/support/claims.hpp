// SPDX-License-Identifier: BSD-3-Clause
//
// What collectives promise that are in no table yet, as claims for the prover.
#pragma once

#include "prove/prove.hpp"

namespace isochrone::tests {

using core::prove::Claim;

inline std::vector<Claim> gatherv_claims(int size, int root, const std::vector<std::int64_t>& counts) {
    std::vector<Claim> claims(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) {
        Claim& claim = claims[static_cast<std::size_t>(r)];
        claim.extents.counts = {counts[static_cast<std::size_t>(r)]};
        for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(r)]; ++i)
            claim.input.push_back({{r, i}});
    }
    // The root wants the blocks in descending order of rank, with a gap of one between them.
    Claim& at_root = claims[static_cast<std::size_t>(root)];
    at_root.extents.output_displacements.resize(static_cast<std::size_t>(size));
    for (int r = size - 1; r >= 0; --r) {
        at_root.extents.output_displacements[static_cast<std::size_t>(r)] =
            static_cast<std::int64_t>(at_root.output.size());
        for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(r)]; ++i)
            at_root.expected.push_back({{r, i}});
        at_root.expected.push_back({});
        at_root.output.resize(at_root.expected.size());
    }
    at_root.extents.counts.insert(at_root.extents.counts.end(), counts.begin(), counts.end());
    return claims;
}

/// counts[s][d]: from rank s to rank d.
inline std::vector<Claim> alltoallv_claims(const std::vector<std::vector<std::int64_t>>& counts) {
    const std::size_t size = counts.size();
    std::vector<Claim> claims(size);
    for (std::size_t r = 0; r < size; ++r) {
        Claim& claim = claims[r];
        claim.extents.counts = counts[r];
        for (std::size_t d = 0; d < size; ++d) {
            for (std::int64_t i = 0; i < counts[r][d]; ++i) {
                claim.input.push_back({{static_cast<int>(r), static_cast<std::int64_t>(d) * 1000 + i}});
            }
        }
        for (std::size_t s = 0; s < size; ++s) {
            claim.extents.counts.push_back(counts[s][r]);
            for (std::int64_t i = 0; i < counts[s][r]; ++i) {
                claim.expected.push_back({{static_cast<int>(s), static_cast<std::int64_t>(r) * 1000 + i}});
            }
        }
        claim.output.resize(claim.expected.size());
    }
    return claims;
}

}  // namespace isochrone::tests
