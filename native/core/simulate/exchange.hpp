// SPDX-License-Identifier: BSD-3-Clause
//
// Prices messages that ranks exchange again and again, as in the steps of a program: in each round a rank
// posts all its receives, sends its messages one after the other, and goes on when all of its own are done.
// The model is that of simulate.hpp, except that ranks may take turns on processors.
#pragma once

#include <vector>

#include "place/layout.hpp"
#include "simulate/traffic.hpp"

namespace isochrone::core::simulate {

/// Processors that ranks share. A rank's work takes the first that becomes free. Much of an overhead is no
/// work but waiting, which leaves the processor to others. So a message is charged the least of what is work
/// (plogp::work_s) at the level where its ends meet and at those from "node" outwards that are no further.
/// Where no overhead of receiving was measured, a receive is as much work as a send.
struct Processors {
    std::vector<int> pool_of;  ///< [rank]; empty: each rank has a processor of its own
    std::vector<int> counts;   ///< [pool]
};

/// [round], when the last rank has ended it, in seconds. A flow's messages are those of one round, and have
/// the same size, up to rounding; a rank sends in the order of the flows. Throws std::invalid_argument, in
/// one line, for a rank or pool that is not there, a negative number, a rank that sends to itself, ranks that
/// meet at no level, and more than `most` messages in a round.
[[nodiscard]] std::vector<double> exchange_s(const std::vector<Flow>& flows, int rounds,
                                             const place::Layout& layout, const Processors& processors,
                                             std::int64_t most);

}  // namespace isochrone::core::simulate
