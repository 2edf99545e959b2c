// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/predict.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compose/compose.hpp"

namespace isochrone::core::simulate {
namespace {

/// Throws std::invalid_argument if there can be no such call.
collectives::Question question_of(const compose::Resolved& resolved, const place::Layout& layout, int root,
                                  std::int64_t size_bytes) {
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
    return {.size = layout.size,
            .root = root,
            .total = size_bytes,
            .segment = resolved.recipe.segment_bytes,
            .uneven = collective.has_uneven_blocks()};
}

}  // namespace

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
    constexpr std::int64_t most_messages = std::int64_t{1} << 26;
    const auto question = question_of(resolved, layout, root, size_bytes);
    const std::int64_t blocks = resolved.collective->has_blocks() ? layout.size : 1;
    const std::int64_t segment = question.segment;
    if (segment > 0 && size_bytes * blocks / segment >= most_messages / layout.size) {
        throw std::invalid_argument("segments of " + std::to_string(segment) + " bytes are too many in " +
                                    std::to_string(size_bytes) + " bytes to simulate");
    }
    std::vector<schedule::Schedule> schedules;
    schedules.reserve(static_cast<std::size_t>(layout.size));
    std::int64_t operations = 0;
    compose::each_schedule(resolved, layout, root, [&](schedule::Schedule schedule) {
        operations += static_cast<std::int64_t>(schedule.ops.size());
        if (options.timeline != nullptr) options.timeline->check(operations);
        schedules.push_back(std::move(schedule));
    });
    std::vector<schedule::Extents> extents;
    for (int rank = 0; rank < layout.size; ++rank)
        extents.push_back(collectives::extents(*resolved.collective, question, rank));
    return simulate(schedules, extents, layout, options);
}

std::int64_t messages(const compose::Resolved& resolved, const place::Layout& layout, int root,
                      std::int64_t size_bytes) {
    const auto question = question_of(resolved, layout, root, size_bytes);
    std::int64_t count = 0;
    compose::each_schedule(resolved, layout, root, [&](const schedule::Schedule& one) {
        const auto segments = collectives::extents(*resolved.collective, question, one.rank).segments();
        for (const auto& op : one.ops) {
            if (op.kind != schedule::OpKind::send) continue;
            count += one.stages[static_cast<std::size_t>(op.stage)].segmented ? segments : 1;
        }
    });
    return count;
}

}  // namespace isochrone::core::simulate
