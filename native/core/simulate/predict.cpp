// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/predict.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compose/compose.hpp"

namespace isochrone::core::simulate {

Outcome predict(const collectives::Collective& collective, const compose::Recipe& recipe,
                const place::Layout& layout, int root, std::int64_t size_bytes, const Options& options) {
    if (recipe.kind == compose::Recipe::Kind::native) {
        throw std::invalid_argument(
            "what the MPI library does for 'native' is not known, so it has no price");
    }
    return predict(compose::resolve(collective, recipe, layout), layout, root, size_bytes, options);
}

Outcome predict(const compose::Resolved& resolved, const place::Layout& layout, int root,
                std::int64_t size_bytes, const Options& options) {
    const auto calls = composed(resolved, layout, root, size_bytes, options);
    return simulate(calls.schedules, calls.extents, layout, options);
}

Composed composed(const compose::Resolved& resolved, const place::Layout& layout, int root,
                  std::int64_t size_bytes, const Options& options) {
    constexpr std::int64_t most_messages = std::int64_t{1} << 26;
    constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
    const auto& collective = *resolved.collective;
    if (root < 0 || root >= layout.size) {
        throw std::invalid_argument("root " + std::to_string(root) + " is not one of " +
                                    std::to_string(layout.size) + " ranks");
    }
    const std::int64_t blocks = collective.has_blocks() ? layout.size : 1;
    if (size_bytes < 0 || size_bytes > most_bytes / blocks) {
        throw std::invalid_argument("a message cannot have " + std::to_string(size_bytes) + " bytes");
    }
    const std::int64_t segment = resolved.recipe.segment_bytes;
    if (segment > 0 && size_bytes * blocks / segment >= most_messages / layout.size) {
        throw std::invalid_argument("segments of " + std::to_string(segment) + " bytes are too many in " +
                                    std::to_string(size_bytes) + " bytes to simulate");
    }
    Composed result;
    result.schedules.reserve(static_cast<std::size_t>(layout.size));
    std::int64_t operations = 0;
    compose::each_schedule(resolved, layout, root, [&](schedule::Schedule schedule) {
        operations += static_cast<std::int64_t>(schedule.ops.size());
        if (options.timeline != nullptr) options.timeline->check(operations);
        result.schedules.push_back(std::move(schedule));
    });
    const collectives::Question question{.size = layout.size,
                                         .root = root,
                                         .total = size_bytes,
                                         .segment = segment,
                                         .uneven = collective.has_uneven_blocks()};
    for (int rank = 0; rank < layout.size; ++rank)
        result.extents.push_back(collectives::extents(collective, question, rank));
    return result;
}

std::int64_t messages(const Composed& composed, const place::Layout& layout) {
    std::int64_t count = 0;
    for (std::size_t rank = 0; rank < composed.schedules.size(); ++rank) {
        const auto& schedule = composed.schedules[rank];
        for (const auto& op : schedule.ops) {
            std::int64_t each = op.kind == schedule::OpKind::send ? 1 : 0;
            if (op.kind == schedule::OpKind::library_bcast && op.peer == schedule.rank) {
                const auto& group_of = layout.group_of[static_cast<std::size_t>(op.level)];
                each = std::count(group_of.begin(), group_of.end(), group_of[rank]) - 1;
            }
            const bool is_cut = schedule.stages[static_cast<std::size_t>(op.stage)].segmented;
            count += each * (is_cut ? composed.extents[rank].segments() : 1);
        }
    }
    return count;
}

}  // namespace isochrone::core::simulate
