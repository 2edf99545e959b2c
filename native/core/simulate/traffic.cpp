// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/traffic.hpp"

#include <stdexcept>
#include <string>

#include "compose/compose.hpp"
#include "schedule/extents.hpp"

namespace isochrone::core::simulate {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

place::Layout flat_layout(int ranks) {
    place::Layout layout;
    layout.size = ranks;
    layout.levels = {"all"};
    layout.group_of = {std::vector<int>(static_cast<std::size_t>(ranks), 0)};
    layout.links.resize(1);
    return layout;
}

}  // namespace

std::vector<Flow> traffic(const collectives::Collective& collective, const compose::Recipe& recipe, int ranks,
                          int root, std::int64_t size_bytes, std::int64_t most) {
    if (recipe.kind != compose::Recipe::Kind::flat)
        throw std::invalid_argument("only a flat recipe says what is sent without a topology");
    if (ranks < 1 || root < 0 || root >= ranks) {
        throw std::invalid_argument("root " + std::to_string(root) + " is not one of " +
                                    std::to_string(ranks) + " ranks");
    }
    if (size_bytes < 0 || size_bytes > most_bytes)
        throw std::invalid_argument("a message cannot have " + std::to_string(size_bytes) + " bytes");
    const auto layout = flat_layout(ranks);
    const auto resolved = compose::resolve(collective, recipe, layout);
    const collectives::Question question{
        .size = ranks, .root = root, .total = size_bytes, .segment = resolved.recipe.segment_bytes};
    std::vector<Flow> flows;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto schedule = compose::schedule_of(resolved, layout, rank, root);
        const auto extents = collectives::extents(collective, question, rank);
        schedule::Resolver resolver(schedule, extents);
        for (const auto& op : schedule.ops) {
            if (op.kind != schedule::OpKind::send) continue;
            const bool segmented = schedule.stages[static_cast<std::size_t>(op.stage)].segmented;
            const std::int64_t segments = segmented ? extents.segments() : 1;
            Flow flow{.source = rank, .target = op.peer, .messages = segments, .bytes = 0};
            for (std::int64_t segment = 0; segment < segments; ++segment)
                flow.bytes += resolver.length(op.source, segmented, static_cast<int>(segment));
            const auto same = [&](const Flow& last) {
                return last.source == rank && last.target == op.peer &&
                       last.bytes * flow.messages == flow.bytes * last.messages;
            };
            if (!flows.empty() && same(flows.back())) {
                flows.back().messages += flow.messages;
                flows.back().bytes += flow.bytes;
                continue;
            }
            if (static_cast<std::int64_t>(flows.size()) >= most) {
                throw std::invalid_argument("a " + std::string(collective.words) + " of " +
                                            std::to_string(ranks) + " ranks has more than " +
                                            std::to_string(most) + " messages");
            }
            flows.push_back(flow);
        }
    }
    return flows;
}

}  // namespace isochrone::core::simulate
