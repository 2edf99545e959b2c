// SPDX-License-Identifier: BSD-3-Clause
#include "bench/first_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>

namespace isochrone::mpi::bench {
namespace {

/// What is no time, and below all of them.
constexpr double none = std::numeric_limits<double>::lowest();

}  // namespace

FirstCalls first_calls(const AlignedTimer& timer, const std::vector<Candidate>& candidates,
                       const Memory* memory, unsigned check, bool own_is_known) {
    const std::size_t count = candidates.size();
    // The call that shows what is right comes first. Over slow links each call takes long.
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    const auto own = std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
        return own_is_known && candidates[i].is_one_call_of_library();
    });
    // Whether each is wrong, when its last rank came back, and minus when its first one began.
    std::vector<double> found(3 * count, none);
    const std::span<double> ended = std::span(found).subspan(count, count);
    const std::span<double> began = std::span(found).subspan(2 * count);
    if (memory != nullptr) {
        const Candidate& any = candidates.front();
        any.fill(*memory, check);
        const std::vector<std::byte> before(memory->output, memory->output + any.operands().output_bytes);
        const double begin_s = timer.global_now();
        const auto expected = any.expected(*memory, check);
        const double end_s = timer.global_now();
        std::for_each(order.begin(), own, [&](std::size_t i) {
            began[i] = -begin_s;
            ended[i] = end_s;
            found[i] = 0;
        });
        std::for_each(own, order.end(), [&](std::size_t i) {
            std::copy(before.begin(), before.end(), memory->output);
            began[i] = -timer.global_now();
            candidates[i].run(*memory);
            ended[i] = timer.global_now();
            found[i] = std::equal(expected.begin(), expected.end(), memory->output) ? 0 : 1;
        });
    }
    timer.maximum(found);
    FirstCalls result{std::vector<bool>(count), std::vector<double>(count)};
    double before_ended = none;
    for (const std::size_t i : order) {
        result.wrong[i] = found[i] > 0;
        // Ranks that need not wait for others are several calls ahead of them. So a call alone would take no
        // longer than from when its first rank began, and hardly less than since the one before was done.
        const double first_began = -began[i];
        result.taken_s[i] = ended[i] - (first_began + std::max(first_began, before_ended)) / 2;
        before_ended = ended[i];
    }
    return result;
}

double choose_rounds(const AlignedTimer& timer, Candidate& candidate, const Memory* memory) {
    constexpr double least_call_s = 5e-4;
    constexpr double most_rounds = 1000;
    constexpr int tries = 4;
    // Whatever disturbs makes a call longer, so the shortest tells most; and the more rounds it has, the less
    // counts that ranks do not begin together here.
    double round_s = std::numeric_limits<double>::max();
    int rounds = 1;
    for (int i = 0; i < tries; ++i) {
        std::array<double, 2> found = {none,
                                       none};  // when the last came back, and minus when the first began
        if (memory != nullptr) {
            found[1] = -timer.global_now();
            candidate.run(*memory);
            found[0] = timer.global_now();
        }
        timer.maximum(found);
        const double taken_s = found[0] + found[1];
        round_s = std::clamp(taken_s / rounds, least_call_s / most_rounds, round_s);
        rounds = static_cast<int>(std::ceil(least_call_s / round_s));
        candidate.set_rounds(rounds);
        // Over slow links each takes long.
        if (taken_s > 100 * least_call_s) break;
    }
    return rounds * round_s;
}

}  // namespace isochrone::mpi::bench
