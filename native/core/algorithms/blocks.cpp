// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/blocks.hpp"

#include <algorithm>

namespace isochrone::core::algorithms {

using schedule::Builder;
using schedule::Slice;

Blocks::Blocks(Builder& builder, std::vector<int> of, Lengths lengths, int first) : ranks(std::move(of)) {
    std::vector<int> arguments;
    for (const int rank : ranks) {
        arguments.push_back(lengths == Lengths::equal ? 0 : lengths == Lengths::given ? first + rank : -1);
    }
    table = builder.counts(std::move(arguments));
    partition = builder.counted(table);
}

std::vector<int> Blocks::positions(std::span<const int> some) const {
    std::vector<int> result;
    for (const int rank : some) {
        result.push_back(
            static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin()));
    }
    return result;
}

Slice Blocks::in(int other_buffer, Builder& builder, std::span<const int> some) const {
    return builder.blocks(other_buffer, partition, positions(some));
}

Slice Blocks::all(Builder& builder) const {
    return builder.blocks(buffer, partition, 0, static_cast<int>(ranks.size()));
}

Slice Blocks::lengths_of(Builder& builder, std::span<const int> some) const {
    return builder.entries(table, positions(some));
}

namespace {

/// The positions in `held` of those that are in `wanted` too; both ascending.
std::vector<int> common(const std::vector<int>& held, std::span<const int> wanted) {
    std::vector<int> result;
    if (wanted.size() < held.size() / 8) {
        for (const int rank : wanted) {
            const auto found = std::lower_bound(held.begin(), held.end(), rank);
            if (found != held.end() && *found == rank)
                result.push_back(static_cast<int>(found - held.begin()));
        }
        return result;
    }
    auto next = wanted.begin();
    for (std::size_t i = 0; i < held.size(); ++i) {
        while (next != wanted.end() && *next < held[i]) ++next;
        if (next != wanted.end() && *next == held[i]) result.push_back(static_cast<int>(i));
    }
    return result;
}

}  // namespace

std::vector<int> Pairs::select(std::span<const int> sources, std::span<const int> destinations) const {
    const auto columns = common(destinations_, destinations);
    std::vector<int> result;
    for (const int row : common(sources_, sources)) {
        for (const int column : columns)
            result.push_back(row * static_cast<int>(destinations_.size()) + column);
    }
    return result;
}

Slice Pairs::of(Builder& builder, std::span<const int> sources, std::span<const int> destinations) const {
    return builder.blocks(buffer, partition, select(sources, destinations));
}

Slice Pairs::lengths_of(Builder& builder, std::span<const int> sources,
                        std::span<const int> destinations) const {
    return builder.entries(table, select(sources, destinations));
}

}  // namespace isochrone::core::algorithms
